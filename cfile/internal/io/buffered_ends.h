// A source that keeps both ends of a file in memory. Usually all parts except the data blocks lie
// in these ends.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::internal {

// How many bytes are kept from the front of the file (header) and from its end (footer, index roots
// and dictionary).
inline constexpr size_t kBufferedHeadBytes = 4 * 1024;
inline constexpr size_t kBufferedTailBytes = 60 * 1024;

// Wraps `source` and reads its first and last bytes now: with one ReadMany of two ranges, or one
// after the other if `max_requests` is below 2. A small file is read with one ReadAt. Errors are
// those of `source`.
absl::StatusOr<std::shared_ptr<const Source>> BufferEnds(std::shared_ptr<const Source> source,
                                                         size_t max_requests);

}  // namespace cfile::internal
