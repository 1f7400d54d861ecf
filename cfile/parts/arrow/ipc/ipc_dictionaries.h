// The dictionaries of an Arrow IPC stream, and arrays that use them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/arrow/ipc/ipc_body.h"
#include "cfile/parts/arrow/ipc/ipc_schema.h"

namespace cfile::internal {

class IpcDictionaries {
 public:
  // `root` must outlive this object. `may_replace`: a dictionary may come again.
  IpcDictionaries(const IpcField& root, bool may_replace);

  // Reads a dictionary batch: the values of a dictionary, or more values of it (a delta).
  // kDataLoss: the batch is malformed, or no field uses the dictionary.
  absl::Status Add(const IpcMessage& message, const ArrowIpcOptions& options);

  // Makes an array. A dictionary that has not come yet is empty.
  absl::StatusOr<HeldArray> MakeArray(const IpcField& field, const IpcArray& array);

 private:
  struct Dictionary {
    const IpcField* values = nullptr;
    std::vector<IpcArray> chunks;  // the values and the deltas after them
  };
  void Find(const IpcField& field);

  const bool may_replace_;
  std::map<int64_t, Dictionary> dictionaries_;
};

}  // namespace cfile::internal
