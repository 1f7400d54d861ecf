// Gives any table a tree of records, also a table whose schema has no tree.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the tree of a schema. Leaf column i of the tree is column i of the schema.
// A column with levels may be outside of a tree. cfile/arrow.h says which lists it becomes.
// kUnimplemented: a column has more definition levels than these lists have.
// The error names the column.
absl::StatusOr<RecordSchema> ColumnTree(const Schema& schema);

}  // namespace cfile::internal
