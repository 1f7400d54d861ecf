#include "cfile/parts/arrow/schema/ipc_message.h"

#include <utility>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AboveLimit;
using encodings::DataLoss;
using encodings::LoadLittleEndian;
using encodings::OutOfRange;
using encodings::StrCat;

// Begins a message since Arrow 0.15. Before, a message began with the size of its metadata.
constexpr uint32_t kContinuation = 0xffffffff;

// The number that stands for version 4.
constexpr int16_t kVersion4 = 3;

// The fields of Message.
constexpr size_t kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3;

}  // namespace

std::shared_ptr<uint8_t[]> NewBytes(size_t size_bytes) {
  return std::shared_ptr<uint8_t[]>(new uint8_t[size_bytes]);
}

absl::StatusOr<HeldBytes> ReadBytes(const std::shared_ptr<const Source>& source, uint64_t offset,
                                    uint64_t size_bytes) {
  const auto size = static_cast<size_t>(size_bytes);
  if (const auto memory = source->InMemory(); !memory.empty()) {
    return HeldBytes{memory.subspan(offset, size), source};
  }
  std::shared_ptr<uint8_t[]> bytes = NewBytes(size);
  CFILE_RETURN_IF_ERROR(source->ReadAt(offset, {bytes.get(), size}));
  return HeldBytes{{bytes.get(), size}, bytes};
}

absl::Status InMessage(const Source& source, uint64_t offset, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat(source.name(), ": Arrow message at offset ", offset,
                                            ": ", std::string(status.message())));
}

absl::Status WrongKind(const IpcMessage& message, std::string_view expected) {
  return DataLoss("a message of kind ", int{static_cast<uint8_t>(message.kind)}, ", expected ",
                  expected);
}

absl::Status CheckVersion(int16_t version) {
  if (version == kVersion4 || version == kVersion4 + 1) return absl::OkStatus();
  return absl::UnimplementedError(
      StrCat("metadata version ", version + 1, "; only the versions 4 and 5 can be read"));
}

absl::StatusOr<IpcMessage> ReadIpcMessage(const std::shared_ptr<const Source>& source,
                                          uint64_t offset, uint64_t end,
                                          const ArrowIpcOptions& options) {
  IpcMessage message{.offset = offset, .end = end};
  if (offset == end) return message;
  // Takes the next bytes.
  uint64_t at = offset;
  const auto take = [&](uint64_t size, std::string_view what) -> absl::StatusOr<HeldBytes> {
    if (size > end - at) {
      return DataLoss("cut off: ", size, " bytes of ", what, " expected, ", end - at, " found");
    }
    return ReadBytes(source, std::exchange(at, at + size), size);
  };
  CFILE_ASSIGN_OR_RETURN(HeldBytes prefix, take(4, "the size of the metadata"));
  auto size = LoadLittleEndian<uint32_t>(prefix.bytes.data());
  if (size == kContinuation) {
    CFILE_ASSIGN_OR_RETURN(prefix, take(4, "the size of the metadata"));
    size = LoadLittleEndian<uint32_t>(prefix.bytes.data());
  }
  message.end = at;
  if (size == 0) return message;
  if (size > INT32_MAX) {
    return DataLoss("the size of the metadata is negative: ", static_cast<int32_t>(size));
  }
  if (size > options.max_metadata_size_bytes) {
    return OutOfRange("metadata of ", size, " bytes is ",
                      AboveLimit(options.max_metadata_size_bytes, "max_metadata_size_bytes"));
  }
  CFILE_ASSIGN_OR_RETURN(message.metadata_bytes, take(size, "metadata"));
  message.metadata = std::make_unique<FlatBuffer>(message.metadata_bytes.bytes);
  const FlatTable root = message.metadata->root();
  const auto version = root.Number<int16_t>(kVersion);
  message.kind = static_cast<IpcHeader>(root.Number<uint8_t>(kHeaderType));
  message.header = root.Table(kHeader);
  const auto body_size = root.Number<int64_t>(kBodyLength);
  CFILE_RETURN_IF_ERROR(message.metadata->status());
  CFILE_RETURN_IF_ERROR(CheckVersion(version));
  message.is_version_4 = version == kVersion4;
  if (body_size < 0) return DataLoss("the size of the body is negative: ", body_size);
  if (static_cast<uint64_t>(body_size) > options.max_batch_size_bytes) {
    return OutOfRange("a body of ", body_size, " bytes is ",
                      AboveLimit(options.max_batch_size_bytes, "max_batch_size_bytes"));
  }
  CFILE_ASSIGN_OR_RETURN(message.body, take(static_cast<uint64_t>(body_size), "the body"));
  message.end = at;
  return message;
}

}  // namespace cfile::internal
