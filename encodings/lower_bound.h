// Binary search without unpredictable branches, over anything that can be compared by position.
#pragma once

#include <cstdint>

namespace cfile::encodings {

// The first position in [0, count) for which less(position) is false, or count if there is none;
// less(p) says whether the value at p comes before the key. Any answers of `less` are safe: the
// result is then some position in [0, count].
template <typename Less>
uint32_t FindLowerBound(uint32_t count, Less&& less) {
  if (count == 0) return 0;
  uint32_t base = 0;
  for (uint32_t length = count; length > 1;) {
    const uint32_t half = length / 2;
    base += less(base + half - 1) ? half : 0;
    length -= half;
  }
  return base + (less(base) ? 1 : 0);
}

}  // namespace cfile::encodings
