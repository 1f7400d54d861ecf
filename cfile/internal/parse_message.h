// Parses protobuf messages from untrusted bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace cfile::internal {

// Counts the memory that `bytes` take as a parsed message of this type: an empty message of two
// bytes becomes one of a hundred. Readers and writers both ask this function, so that a writer
// publishes nothing that its readers refuse. Errors begin with "its message". kOutOfRange: more
// than 64 KiB and eight times `max_size_bytes` (max_metadata_size_bytes, which is named).
// kDataLoss: the bytes are no such message.
absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const google::protobuf::Descriptor& type);

// Parses `bytes` into `message` after CheckParsedSize, whose errors it returns.
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes,
                          google::protobuf::Message& message);

}  // namespace cfile::internal
