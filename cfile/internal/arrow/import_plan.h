// How the fields of an Arrow stream become leaf columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/arrow/import_type.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"

namespace cfile::internal {

// A field on the way from the root to a leaf column.
struct ImportStep {
  const ImportField* field;
  bool optional = false;    // a null is allowed; its definition level is `definition` - 1
  uint16_t definition = 0;  // the definition level of a value that is not null, or of an empty list
  uint16_t repetition = 0;  // of a list: the repetition level of its elements from the second on
  size_t child = 0;         // of a struct: the child on the way
};

// A leaf column. Points to the fields of the stream.
struct ImportLeaf {
  size_t column = 0;
  ColumnType type;
  uint16_t max_repetition = 0;
  uint16_t max_definition = 0;
  // The last step is the field of the column. A field of kind kNull may take the place of a group;
  // then the column is one of the leaves below the group.
  std::vector<ImportStep> steps;
};

// Finds the fields of all leaf columns. `root`: a struct. kInvalidArgument: a field is missing,
// has no place in the tree, or does not fit; the error names the field.
absl::StatusOr<std::vector<ImportLeaf>> PlanRecords(const ImportField& root,
                                                    const RecordSchema& tree);

// Does the same for a tree of one field. `field`: this field, or a struct that holds only this
// field. Names have no effect.
absl::StatusOr<ImportLeaf> PlanColumn(const ImportField& field, const RecordSchema& tree);

}  // namespace cfile::internal
