// Describes an RLE-hybrid run by run, for inspection.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "encodings/core/block_description.h"

namespace cfile::encodings {

// Adds a field for each run of the RLE-hybrid in the next `size` bytes of `description`, up to the
// run that holds the last of the hybrid's `count` values; the bytes after this run are left. If the
// description becomes full, its last field has the further runs and the bytes after them.
// kDataLoss: a run is malformed, or the bytes end before the values do. Preconditions: `size` bytes
// are left; 0 <= width <= kMaxHybridWidth.
absl::Status DescribeRuns(int width, uint64_t count, uint64_t size, BlockDescription& description);

}  // namespace cfile::encodings
