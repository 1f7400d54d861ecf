// Reads the schema of Arrow IPC.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/import_type.h"
#include "cfile/parts/arrow/schema/flat_buffer.h"

namespace cfile::internal {

// A field, how its arrays are stored, and the dictionary that its indexes point to.
struct IpcField {
  const ImportField* field = nullptr;  // belongs to IpcSchema
  int64_t dictionary = 0;              // the number of the dictionary, if the kind is kDictionary
  // The children; the values of kDictionary and kRunEnds.
  std::vector<IpcField> children;
};

struct IpcSchema {
  ArrowField type;     // a struct
  ImportField import;  // the same, as AppendArrow sees it
  IpcField root;       // points to `import`
};

// Reads a table of Arrow's type Schema, and plans how arrays are read. `schema`: a table of
// `metadata`. Errors: see cfile/arrow_ipc.h; kDataLoss also if two fields have the same dictionary,
// but other types; kUnimplemented: no column can hold a field's type.
absl::StatusOr<std::unique_ptr<const IpcSchema>> ReadIpcSchema(FlatBuffer& metadata,
                                                               const FlatTable& schema,
                                                               const ArrowIpcOptions& options);

}  // namespace cfile::internal
