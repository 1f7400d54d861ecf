// Dividing rows among threads.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "encodings/status.h"

namespace cfile::internal {

// The rows 0 to num_rows - 1 as up to `max_ranges` ranges, one behind the other, none empty and all
// about as long. A range begins where block_begin(ordinal), a StatusOr, says: at or before
// `ordinal`. Precondition: max_ranges > 0.
template <typename BlockBegin>
absl::StatusOr<std::vector<OrdinalRange>> SplitRows(uint64_t num_rows, size_t max_ranges,
                                                    BlockBegin&& block_begin) {
  assert(max_ranges > 0);
  // More would be empty.
  max_ranges = std::min<uint64_t>(max_ranges, std::max<uint64_t>(num_rows, 1));
  std::vector<OrdinalRange> ranges;
  uint64_t begin = 0;
  for (uint64_t i = 1; i <= max_ranges && begin < num_rows; ++i) {
    // Rows are fewer than 2^32 times parts, ranges few: no overflow for what fits a machine.
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
