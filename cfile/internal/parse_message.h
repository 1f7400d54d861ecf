// Parses protobuf messages from untrusted bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace cfile::internal {

// Parses `bytes` into `message`. An empty message of two bytes, or an unknown field, takes a
// hundred bytes of memory, so the memory is counted first. Errors begin with "its message".
// kDataLoss: it does not parse. kOutOfRange: it takes more than 64 KiB and eight times
// `max_size_bytes` (ReaderOptions::max_metadata_size_bytes, which is named).
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes,
                          google::protobuf::Message& message);

}  // namespace cfile::internal
