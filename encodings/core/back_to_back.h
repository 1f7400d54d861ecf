// Copies many short values fast if they lie back to back in memory, as the values of a block do.
// The bytes after such a value are readable, so each copy has a fixed length and needs no branch.
// Internal to encodings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The values [begin, end) of a list lie back to back. The last one ends at `bytes_end`.
struct BackToBack {
  size_t end;
  const char* bytes_end;
};
// Returns the longest range of values that begins at `begin` and lies back to back. The range has
// at most 512 values, so that they stay in the first-level cache until they are copied.
// Precondition: begin < values.size().
inline BackToBack FindBackToBack(std::span<const std::string_view> values, size_t begin) {
  constexpr size_t kMost = 512;
  const size_t most = std::min(values.size(), begin + kMost);
  const char* bytes_end = values[begin].data() + values[begin].size();
  size_t end = begin + 1;
  for (; end < most && values[end].data() == bytes_end; ++end) bytes_end += values[end].size();
  return {end, bytes_end};
}

// CopyShort may overwrite this many bytes from `to` on.
inline constexpr size_t kCopyAhead = 64;

// Copies `value` to `to`. The bytes from the value's beginning up to `readable_end` must be
// readable.
inline void CopyShort(std::string_view value, const char* readable_end, uint8_t* to) {
  const uint8_t* const from = AsBytes(value).data();
  if (value.size() <= kCopyAhead &&
      static_cast<size_t>(readable_end - value.data()) >= kCopyAhead) {
    CopyWide<16>(from, to);
    if (value.size() > 16) CopyWide<kCopyAhead - 16>(from + 16, to + 16);
  } else if (!value.empty()) {
    std::memcpy(to, from, value.size());
  }
}

}  // namespace cfile::encodings
