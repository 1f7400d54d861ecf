// Binary search without unpredictable branches, over anything that can be compared by position.
#pragma once

#include <cstdint>

namespace cfile::encodings {

// Returns the first position in [0, count) for which less(position) is false, or `count` if there
// is none. less(p) says whether the value at position p comes before the key. If its answers are
// inconsistent, the result is still a position in [0, count]. prefetch(p) is called for the two
// positions that the next step may compare, so that both can be fetched from memory early.
template <typename Less, typename Prefetch>
uint32_t FindLowerBound(uint32_t count, Less&& less, Prefetch&& prefetch) {
  if (count == 0) return 0;
  uint32_t base = 0;
  for (uint32_t length = count; length > 1;) {
    const uint32_t half = length / 2;
    const uint32_t quarter = (length - half) / 2;
    if (quarter > 0) {
      prefetch(base + quarter - 1);
      prefetch(base + half + quarter - 1);
    }
    base += less(base + half - 1) ? half : 0;
    length -= half;
  }
  return base + (less(base) ? 1 : 0);
}
template <typename Less>
uint32_t FindLowerBound(uint32_t count, Less&& less) {
  return FindLowerBound(count, less, [](uint32_t) {});
}

}  // namespace cfile::encodings
