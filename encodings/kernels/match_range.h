// Finds which values are in a range; the result is a bitmap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// Sets bit i % 8 of bits[i / 8] to 1 if low <= values[i] <= high, else to 0. NaN is in no range; -0
// equals +0. Writes (count + 7) / 8 bytes; the unused bits of the last byte are 0. T is a number,
// bool or Int96 (compared as 96-bit number).
template <typename T>
void MatchRange(const T* values, size_t count, const T& low, const T& high, uint8_t* bits);

// Like MatchRange, but sets the bit to 1 if matches(values[i]) is true.
template <typename T, typename Matches>
void MatchEach(const T* values, size_t count, const Matches& matches, uint8_t* bits) {
  for (size_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (size_t j = 0; j < 8 && i + j < count; ++j)
      byte |= static_cast<unsigned>(matches(values[i + j])) << j;
    bits[i / 8] = static_cast<uint8_t>(byte);
  }
}

// Writes `first` + i to `out` for each bit i < count that is 1, in ascending order. Returns how
// many positions it wrote. Reads (count + 7) / 8 bytes. Preconditions: `out` has room for the
// positions; the unused bits of the last byte are 0.
inline size_t PositionsOfOnes(const uint8_t* bits, size_t count, uint64_t first, uint64_t* out) {
  uint64_t* to = out;
  for (size_t begin = 0; begin < count; begin += 64) {
    uint64_t word = 0;
    const size_t bytes = (count - begin + 7) / 8;
    std::memcpy(&word, bits + begin / 8, bytes < 8 ? bytes : 8);
    if (word == ~uint64_t{0}) {
      for (uint64_t i = 0; i < 64; ++i) to[i] = first + begin + i;
      to += 64;
      continue;
    }
    for (; word != 0; word &= word - 1)
      *to++ = first + begin + static_cast<uint64_t>(std::countr_zero(word));
  }
  return static_cast<size_t>(to - out);
}

}  // namespace cfile::encodings
