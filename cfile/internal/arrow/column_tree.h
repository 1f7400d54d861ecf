// The tree of the records of any table.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the tree of a schema: leaf column i is column i. cfile/arrow.h says which lists a column
// with levels outside of a tree becomes.
// kUnimplemented: a column has more definition levels than these lists; the error names the column.
absl::StatusOr<RecordSchema> ColumnTree(const Schema& schema);

}  // namespace cfile::internal
