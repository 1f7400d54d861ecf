// Divides rows among threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Divides the rows 0 to num_rows - 1 into at most `max_ranges` consecutive ranges of about the same
// length. No range is empty. A range may begin only at certain ordinals: block_begin(ordinal)
// returns a StatusOr of the last of these ordinals that is at most `ordinal`. Returns the errors of
// block_begin. Precondition: max_ranges > 0.
template <typename BlockBegin>
absl::StatusOr<std::vector<OrdinalRange>> SplitRows(uint64_t num_rows, size_t max_ranges,
                                                    BlockBegin&& block_begin) {
  CFILE_ASSERT(max_ranges > 0);
  // More ranges would be empty.
  max_ranges = std::min<uint64_t>(max_ranges, std::max<uint64_t>(num_rows, 1));
  std::vector<OrdinalRange> ranges;
  uint64_t begin = 0;
  for (uint64_t i = 1; i <= max_ranges && begin < num_rows; ++i) {
    // num_rows * i / max_ranges, computed without overflow if max_ranges is less than 2^32.
    const uint64_t wanted = num_rows / max_ranges * i + num_rows % max_ranges * i / max_ranges;
    uint64_t end = num_rows;
    if (i < max_ranges) {
      CFILE_ASSIGN_OR_RETURN(end, block_begin(wanted));
    }
    if (end <= begin) continue;
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

}  // namespace cfile::internal
