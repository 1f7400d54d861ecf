// Divides rows among threads.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Divides the rows 0 to num_rows - 1 into up to `max_ranges` consecutive ranges. No range is empty;
// all have about the same length. block_begin(ordinal) returns a StatusOr of the ordinal, at or
// before `ordinal`, where a range may begin. Returns the errors of block_begin. Precondition:
// max_ranges > 0.
template <typename BlockBegin>
absl::StatusOr<std::vector<OrdinalRange>> SplitRows(uint64_t num_rows, size_t max_ranges,
                                                    BlockBegin&& block_begin) {
  assert(max_ranges > 0);
  // More ranges would be empty.
  max_ranges = std::min<uint64_t>(max_ranges, std::max<uint64_t>(num_rows, 1));
  std::vector<OrdinalRange> ranges;
  uint64_t begin = 0;
  for (uint64_t i = 1; i <= max_ranges && begin < num_rows; ++i) {
    // No overflow: there are fewer than 2^32 rows in each part, and few ranges.
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
