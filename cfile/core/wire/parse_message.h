// Parses protobuf messages from untrusted bytes. Accepts what the protobuf library accepts:
// - If an optional field occurs several times, the last value counts. Messages are merged.
// - Repeated numbers may be packed or not.
// - A field is skipped if its number, its wire type or its enum value is unknown.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/core/wire/message_type.h"

namespace cfile::internal::wire {

// Checks how much memory a message of this type takes when it is parsed from `bytes`: a message of
// two bytes may take a hundred bytes. ParseMessage makes the same check, and writers make it before
// they publish a message, so readers accept what a writer has published. kOutOfRange: the memory is
// more than 64 KiB plus eight times `max_size_bytes` (this error names max_metadata_size_bytes), or
// `bytes` are more than 2^31 - 1 bytes. kDataLoss: the bytes are not a message of this type. The
// texts of the errors begin with "its message".
absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const MessageType& type);

// Parses `bytes` into `message`, all of whose fields must be absent before. Errors as
// CheckParsedSize; after one some fields may be set.
absl::Status MergeMessage(std::string_view bytes, uint64_t max_size_bytes, const MessageType& type,
                          void* message);

// Removes all fields of `message`, and parses `bytes` into it. Its texts point into `bytes`. Errors
// as CheckParsedSize.
template <typename Message>
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes, Message& message) {
  message = {};
  return MergeMessage(bytes, max_size_bytes, Message::kType, &message);
}

}  // namespace cfile::internal::wire
