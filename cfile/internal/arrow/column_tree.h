// The tree of the records of any table.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the tree of a schema: leaf column i is column i. A column with levels outside of a tree
// becomes one list for each repetition level. From the outermost list on, the lists and then the
// elements are optional, as many as the definition levels allow.
// kUnimplemented: a column has more definition levels than that; the error names the column.
absl::StatusOr<RecordSchema> ColumnTree(const Schema& schema);

}  // namespace cfile::internal
