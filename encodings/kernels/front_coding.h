// Rebuilds front-coded strings: strings that are stored as the number of bytes that they share with
// the string before, and their other bytes (the suffix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The longest strings that JoinShortStrings can rebuild, in bytes.
inline constexpr size_t kMaxShortStringBytes = 64;

// The sizes of `count` front-coded strings that all begin with the same `common` bytes. The first
// one has `first` more bytes, and shares only the common bytes with the string before it.
struct FrontCodedSizes {
  size_t count = 0;
  uint32_t first = 0;
  uint32_t least_shared = 0;  // of the other strings, without the common bytes
  uint32_t least_suffix = 0;
  size_t common = 0;
  int bits = 32;  // at most, of each size in the arrays
};
struct FrontCodedSums {
  bool sound = true;     // no string shares more bytes than the string before it has
  uint64_t used = 0;     // bytes of all suffixes
  uint64_t longest = 0;  // of the strings, in bytes
};

// Completes the sizes of strings 1 to count - 1: adds the least sizes and the common bytes, so that
// they are as JoinShortStrings takes them. Of a result of more than 32 bits, the low 32 are kept.
// `shared` and `suffixes`: `count` numbers each, of which the first is not used.
FrontCodedSums CompleteSizes(const FrontCodedSizes& sizes, uint32_t* shared, uint32_t* suffixes);

// Writes `out.size()` strings to memory, one after the other from `to` on, and views of them to
// `out`. String i has the first shared[i] bytes of the string before it, then unshared[i] bytes of
// `suffixes`, where the suffixes lie back to back. `previous` is the string before the first one.
//
// Preconditions: no string has more than kMaxShortStringBytes bytes; shared[i] is at most the size
// of the string before. kMaxShortStringBytes bytes are readable at `previous`, before `suffixes`
// and after the last suffix, and writable after the last string.
void JoinShortStrings(const uint32_t* shared, const uint32_t* unshared, const uint8_t* previous,
                      const uint8_t* suffixes, uint8_t* to, std::span<std::string_view> out);

// Copies the last `size` bytes of `value`, the suffix, without a function call if they are few. May
// write up to 7 bytes more. Precondition: size <= value.size().
inline void CopySuffix(std::string_view value, size_t size, uint8_t* to) {
  const uint8_t* const end = AsBytes(value).data() + value.size();
  if (size <= 8 && size > 0 && value.size() >= 8) {
    StoreLittleEndian(LoadLittleEndian<uint64_t>(end - 8) >> (64 - 8 * size), to);
  } else if (size > 8 && size <= 16) {
    std::memcpy(to, end - size, 8);
    std::memcpy(to + size - 8, end - 8, 8);
  } else if (size > 0) {
    std::memcpy(to, end - size, size);
  }
}

}  // namespace cfile::encodings
