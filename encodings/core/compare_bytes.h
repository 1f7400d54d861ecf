// Compares byte strings eight bytes at a time, without a function call. Reads no byte after the end
// of a string.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The number of leading bytes that `a` and `b` share.
inline size_t CommonPrefix(std::string_view a, std::string_view b) {
  const uint8_t* x = AsBytes(a).data();
  const uint8_t* y = AsBytes(b).data();
  const size_t size = std::min(a.size(), b.size());
  const auto difference_at = [&](size_t i) {
    return LoadLittleEndian<uint64_t>(x + i) ^ LoadLittleEndian<uint64_t>(y + i);
  };
  const auto equal_bytes = [](uint64_t difference) {
    return static_cast<size_t>(std::countr_zero(difference)) / 8;
  };
  size_t i = 0;
  for (; size - i >= 8; i += 8) {
    if (const uint64_t difference = difference_at(i)) return i + equal_bytes(difference);
  }
  if (size >= 8) {  // the last 8 bytes; some of them are already known to be equal
    const uint64_t difference = difference_at(size - 8);
    return difference == 0 ? size : size - 8 + equal_bytes(difference);
  }
  while (i < size && x[i] == y[i]) ++i;
  return i;
}

// Returns the first 8 bytes of `value`, with zeros for missing ones, as a number in the order of
// the bytes.
inline uint64_t BytesHead(std::string_view value) {
  const uint8_t* const bytes = AsBytes(value).data();
  const size_t size = value.size();
  if (size >= 8) return LoadBigEndian64(bytes);
  if (size >= 4) {
    const uint64_t high = __builtin_bswap32(LoadLittleEndian<uint32_t>(bytes));
    const uint64_t low = __builtin_bswap32(LoadLittleEndian<uint32_t>(bytes + size - 4));
    return high << 32 | (low << (8 * (8 - size)) & 0xffffffffu);
  }
  uint64_t head = 0;
  for (size_t i = 0; i < size; ++i) head |= uint64_t{bytes[i]} << (56 - 8 * i);
  return head;
}

// True if a < b. Bytes compare as unsigned numbers; a prefix of a string comes before the string.
inline bool BytesLess(std::string_view a, std::string_view b) {
  const size_t common = CommonPrefix(a, b);
  if (common == std::min(a.size(), b.size())) return a.size() < b.size();
  return AsBytes(a)[common] < AsBytes(b)[common];
}

}  // namespace cfile::encodings
