// Gives any table a tree of records, also a table whose schema has no tree.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the tree of a schema; its leaf column i is column i of the schema. A column with levels
// outside of a tree becomes the lists that cfile/arrow.h describes. kUnimplemented: the column that
// the error names has more definition levels than these lists.
absl::StatusOr<RecordSchema> ColumnTree(const Schema& schema);

}  // namespace cfile::internal
