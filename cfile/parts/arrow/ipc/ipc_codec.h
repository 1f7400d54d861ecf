// Decompresses the buffers of Arrow IPC.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/schema/ipc_message.h"

namespace cfile::internal {

// Decompresses `in` to `size_bytes` bytes. `codec`: 0 is the frame format of LZ4, 1 is zstd.
// `method`: 0.
// kDataLoss: `in` does not decompress to exactly so many bytes.
// kUnimplemented: the codec or the method is unknown, or the codec was not built in.
absl::StatusOr<HeldBytes> DecompressIpc(int8_t codec, int8_t method, std::span<const uint8_t> in,
                                        size_t size_bytes);

}  // namespace cfile::internal
