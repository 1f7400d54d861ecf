// Parses protobuf messages from untrusted bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace cfile::internal {

// Checks how much memory a message of this type takes after parsing it from `bytes`. (A message of
// two bytes may take a hundred bytes of memory.) Readers and writers both call this function, so
// writers publish nothing that readers reject. kOutOfRange: more than 64 KiB plus eight times
// `max_size_bytes`; the message names max_metadata_size_bytes. kDataLoss: the bytes are not a
// message of this type. Error messages begin with "its message".
absl::Status CheckParsedSize(std::string_view bytes, uint64_t max_size_bytes,
                             const google::protobuf::Descriptor& type);

// Parses `bytes` into `message` after CheckParsedSize, whose errors it returns.
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes,
                          google::protobuf::Message& message);

}  // namespace cfile::internal
