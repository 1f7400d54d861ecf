// Parsing messages of bytes that nobody vouches for.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace cfile::internal {

// Parses `bytes` into `message`. An empty message of two bytes becomes one of a hundred in memory,
// an unknown field as much: what it would all take is counted first. kDataLoss, beginning with
// "its message": it does not parse, or takes more than 64 KiB and eight times `max_size_bytes`
// (ReaderOptions.max_metadata_size_bytes, which is named).
absl::Status ParseMessage(std::string_view bytes, uint64_t max_size_bytes,
                          google::protobuf::Message& message);

}  // namespace cfile::internal
