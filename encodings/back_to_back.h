// Copying many short values out of memory where they lie back to back, as those of a block do:
// there, what follows a value may be read with it, and no copy's length needs a branch. Internal to
// encodings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "encodings/bytes.h"

namespace cfile::encodings {

// The values begin, begin + 1, ... end - 1, which lie back to back up to `bytes_end`.
struct BackToBack {
  size_t end;
  const char* bytes_end;
};
// Of those from `begin` on: at least one, and no more than stay in the first cache until they are
// copied. Precondition: begin < values.size().
inline BackToBack FindBackToBack(std::span<const std::string_view> values, size_t begin) {
  constexpr size_t kMost = 512;
  const size_t most = std::min(values.size(), begin + kMost);
  const char* bytes_end = values[begin].data() + values[begin].size();
  size_t end = begin + 1;
  for (; end < most && values[end].data() == bytes_end; ++end) bytes_end += values[end].size();
  return {end, bytes_end};
}

// Bytes behind `to` that CopyShort may overwrite.
inline constexpr size_t kCopyAhead = 64;

// Copies a value that lies before `readable_end`.
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
