// Parses protobuf messages from untrusted bytes. Accepts what the protobuf library accepts: the last
// value of a field counts, a message that occurs twice is merged, repeated numbers may be packed or
// not, and fields are skipped if their number, their wire type or their enum value is unknown.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/internal/wire/message_type.h"

namespace cfile::internal::wire {

// Checks how much memory a message of this type takes after parsing it from `bytes`. (A message of
// two bytes may take a hundred bytes of memory.) Readers and writers both call this function, so
// writers publish nothing that readers reject. kOutOfRange: more than 64 KiB plus eight times
// `max_size_bytes`; the message names max_metadata_size_bytes. kDataLoss: the bytes are not a
// message of this type. Error messages begin with "its message".
absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const MessageType& type);

// Parses `bytes` into `message`, whose fields are all absent. Errors as CheckParsedSize; then some
// fields may be set.
absl::Status MergeMessage(std::string_view bytes, uint64_t max_size_bytes, const MessageType& type,
                          void* message);

// Parses `bytes` into `message`, which loses its fields. Errors as CheckParsedSize. The texts of
// `message` point into `bytes`.
template <typename Message>
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes, Message& message) {
  message = {};
  return MergeMessage(bytes, max_size_bytes, Message::kType, &message);
}

}  // namespace cfile::internal::wire
