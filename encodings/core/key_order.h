// The order of keys: keys compare like their stored form under memcmp (cfile/FORMAT.md, Index
// nodes). These functions compare the values directly.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "encodings/core/compare_bytes.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// Returns a number whose unsigned order is the order of keys: negative floats come before positive
// ones, -0 before +0.
inline uint32_t OrderedBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | (uint32_t{1} << 31);
}
inline uint64_t OrderedBits(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
}

// True if `a` comes before `b`. Byte strings compare as unsigned bytes; a prefix of a string comes
// before the string.
template <typename T>
bool KeyLess(const T& a, const T& b) {
  if constexpr (kIsFloat<T>) {
    return OrderedBits(a) < OrderedBits(b);
  } else if constexpr (kIsBytes<T>) {
    return BytesLess(a, b);
  } else {
    return a < b;
  }
}

template <typename T>
bool KeyEqual(const T& a, const T& b) {
  if constexpr (kIsFloat<T>) {
    return OrderedBits(a) == OrderedBits(b);
  } else {
    return a == b;
  }
}

// Returns the key for which to search, to find the first value that is equal to `key`: -0 for 0 and
// -0, which are equal, although -0 comes first; otherwise `key`.
template <typename T>
T FirstEqualKey(const T& key) {
  if constexpr (kIsFloat<T>) {
    return key == T{} ? -T{} : key;
  } else {
    return key;
  }
}

// True if `value` can be a key. NaN cannot.
template <typename T>
bool IsKey(const T& value) {
  if constexpr (kIsFloat<T>) {
    return !std::isnan(value);
  } else {
    return true;
  }
}

}  // namespace cfile::encodings
