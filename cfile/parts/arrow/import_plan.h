// Plans an import: finds the Arrow field of each leaf column, and the fields from the root to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"

namespace cfile::internal {

// One step of a plan: a field between the root and a leaf column.
struct ImportStep {
  const ImportField* field;
  bool optional = false;    // a null is allowed, with the definition level `definition` - 1
  uint16_t definition = 0;  // the definition level of an empty list or of a non-null value
  uint16_t repetition = 0;  // of a list: the repetition level of all elements but the first
  size_t child = 0;         // of a struct: the child that is the next step
};

// The plan of a leaf column. Points to the fields of the stream.
struct ImportLeaf {
  size_t column = 0;
  ColumnType type;
  uint16_t max_repetition = 0;
  uint16_t max_definition = 0;
  // The last step is the field of the column. If a field of kind kNull, or one that does not fit,
  // takes the place of a group, the column is a leaf below this group.
  std::vector<ImportStep> steps;
  absl::Status unfit = {};  // of an optional field: the error of a value that is not null
};

// Finds the fields of all leaf columns. `root`: a struct. kInvalidArgument: a field is missing, has
// no place in the tree, or does not fit. The error names the field.
absl::StatusOr<std::vector<ImportLeaf>> PlanRecords(const ImportField& root,
                                                    const RecordSchema& tree);

// Finds the field of the only leaf column of `tree`. `field`: this field, or a struct that holds
// only this field. Names have no effect.
absl::StatusOr<ImportLeaf> PlanColumn(const ImportField& field, const RecordSchema& tree);

}  // namespace cfile::internal
