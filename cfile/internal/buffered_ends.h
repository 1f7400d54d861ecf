// A source whose ends, where everything but the data blocks lies, are read at once.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::internal {

// What is kept of a file: the header's end, and that of footer, index roots and dictionary.
inline constexpr size_t kBufferedHeadBytes = 4 * 1024;
inline constexpr size_t kBufferedTailBytes = 60 * 1024;

// `source`, with its first and last bytes read now, in two reads or, of a small file, in one.
// Errors are those of reading.
absl::StatusOr<std::shared_ptr<const Source>> BufferEnds(std::shared_ptr<const Source> source);

}  // namespace cfile::internal
