// Which of many values lie in a range: a bitmap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "encodings/physical_type.h"

namespace cfile::encodings {

// Bit i % 8 of bits[i / 8] becomes 1 if low <= values[i] <= high; NaN is in no range, -0 equals +0.
// Writes (count + 7) / 8 bytes, unused bits of the last are 0. For numbers, bool and Int96 (as
// numbers).
template <typename T>
void MatchRange(const T* values, size_t count, const T& low, const T& high, uint8_t* bits);

// The same where matches(values[i]).
template <typename T, typename Matches>
void MatchEach(const T* values, size_t count, const Matches& matches, uint8_t* bits) {
  for (size_t i = 0; i < count; i += 8) {
    unsigned byte = 0;
    for (size_t j = 0; j < 8 && i + j < count; ++j)
      byte |= static_cast<unsigned>(matches(values[i + j])) << j;
    bits[i / 8] = static_cast<uint8_t>(byte);
  }
}

// Writes `first` + i for each bit i < count that is 1 to `out`, which has room for them, and
// returns how many they are. Reads (count + 7) / 8 bytes; unused bits of the last are 0.
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
