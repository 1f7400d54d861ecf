// Reads the arrays of record batches and dictionary batches of Arrow IPC.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/parts/arrow/ipc/ipc_schema.h"
#include "cfile/parts/arrow/schema/flat_buffer.h"
#include "cfile/parts/arrow/schema/ipc_message.h"

namespace cfile::internal {

// An array without its dictionary. Each buffer has the size that the array needs.
struct IpcArray {
  int64_t length = 0;
  int64_t null_count = 0;
  // As in the C Data Interface. A validity bitmap that is not needed is empty.
  // kViews: the last buffer has the sizes of the data buffers.
  std::vector<HeldBytes> buffers;
  // As in the C Data Interface. kRunEnds: the ends and the values.
  std::vector<IpcArray> children;

  bool IsNull(int64_t i) const {
    return null_count > 0 && (buffers[0].bytes[static_cast<size_t>(i / 8)] >> (i % 8) & 1) == 0;
  }
};

// Returns the size of a value of a leaf in bits: of an index for kDictionary. 0: the size varies,
// or the array has no buffer of values.
uint64_t ValueBits(const ImportField& field);

// Reads the arrays of `columns` from `batch`, a table of Arrow's type RecordBatch in the metadata
// of `message`. If `batch` is not present, all arrays are empty.
// kDataLoss: a buffer is not in the body or is too small, or there are more or fewer arrays.
// kOutOfRange: a limit is exceeded. kUnimplemented: a codec was not built in.
absl::StatusOr<std::vector<IpcArray>> ReadIpcArrays(const IpcMessage& message,
                                                    const FlatTable& batch,
                                                    std::span<const IpcField> columns,
                                                    const ArrowIpcOptions& options);

// Returns the values of `arrays`, one array after the other. All are arrays of `field`.
// kDataLoss: offsets or run ends are wrong. kOutOfRange: strings or lists with 32-bit offsets have
// 2^31 bytes or elements together, or the last run end does not fit its type.
absl::StatusOr<IpcArray> ConcatenateIpc(const IpcField& field, const std::vector<IpcArray>& arrays);

}  // namespace cfile::internal
