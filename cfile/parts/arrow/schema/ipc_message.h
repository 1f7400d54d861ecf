// Finds the messages of Arrow IPC in a source. A message is a prefix with the size of the metadata,
// the metadata (a FlatBuffer) and a body.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_ipc_options.h"
#include "cfile/io.h"
#include "cfile/parts/arrow/schema/flat_buffer.h"

namespace cfile::internal {

// Bytes and what keeps them in memory.
struct HeldBytes {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// Memory that is not filled with zeros.
std::shared_ptr<uint8_t[]> NewBytes(size_t size_bytes);

// Returns the bytes at `offset`. Precondition: they are in the source.
absl::StatusOr<HeldBytes> ReadBytes(const std::shared_ptr<const Source>& source, uint64_t offset,
                                    uint64_t size_bytes);

// The numbers of Arrow's union of message headers. Other messages hold tensors.
enum class IpcHeader : uint8_t { kNone = 0, kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };

struct IpcMessage {
  uint64_t offset = 0;                   // of the prefix in the source
  uint64_t end = 0;                      // where the next message begins
  HeldBytes metadata_bytes;              // empty: the end of a stream, which has no message
  std::unique_ptr<FlatBuffer> metadata;  // reads metadata_bytes
  bool is_version_4 = false;
  IpcHeader kind = IpcHeader::kNone;
  FlatTable header;  // of `kind`
  HeldBytes body;
};

// Reads the message at `offset`, which may have bytes up to `end`. The header is not checked: check
// metadata->status() after reading it. If offset == end, returns the end of the stream.
// Errors: see cfile/arrow_ipc.h; kDataLoss if the message is not in the bytes, and kUnimplemented
// for a metadata version that cannot be read. The errors do not name the source.
absl::StatusOr<IpcMessage> ReadIpcMessage(const std::shared_ptr<const Source>& source,
                                          uint64_t offset, uint64_t end,
                                          const ArrowIpcOptions& options);

// kDataLoss: the message is not of the expected kind.
absl::Status WrongKind(const IpcMessage& message, std::string_view expected);

// Returns `status` with "NAME: message at offset N: " before its text.
absl::Status InMessage(const Source& source, uint64_t offset, const absl::Status& status);

// kUnimplemented: this version of the metadata cannot be read.
absl::Status CheckVersion(int16_t version);

}  // namespace cfile::internal
