// Copies many short values fast. Values are back to back if each begins where the one before it
// ends. CopyShort is only for such values, the other functions are for all. Internal to encodings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

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

// The first values of a list: their number, the sum of their sizes, and whether they are back to
// back.
struct FittingValues {
  size_t count = 0;
  size_t size_bytes = 0;
  bool back_to_back = true;
};
// Returns the first values for which fits(count, size_bytes) is true: as many as possible, but at
// most 512, which stay in the first-level cache until they are copied.
template <typename Fits>
inline FittingValues FindFitting(std::span<const std::string_view> values, const Fits& fits) {
  FittingValues found;
  const char* end = values.empty() ? nullptr : values[0].data();
  for (const std::string_view value : values.first(std::min<size_t>(values.size(), 512))) {
    if (!fits(found.count + 1, found.size_bytes + value.size())) break;
    found.back_to_back &= value.data() == end;
    end = value.data() + value.size();
    found.size_bytes += value.size();
    ++found.count;
  }
  return found;
}

// Copies `value` to `to`, without reading or writing other bytes. Unlike std::memcpy, copies a
// short value without a function call.
inline void CopyExactly(std::string_view value, uint8_t* to) {
  const uint8_t* const from = AsBytes(value).data();
  const size_t size = value.size();
  const auto copy_both_ends = [&]<size_t kSize>(std::integral_constant<size_t, kSize>) {
    uint8_t first[kSize], last[kSize];
    std::memcpy(first, from, kSize);
    std::memcpy(last, from + size - kSize, kSize);
    std::memcpy(to, first, kSize);
    std::memcpy(to + size - kSize, last, kSize);
  };
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    copy_both_ends(std::integral_constant<size_t, 16>());
  } else if (size >= 8) {
    copy_both_ends(std::integral_constant<size_t, 8>());
  } else if (size >= 4) {
    copy_both_ends(std::integral_constant<size_t, 4>());
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

// Copies the values that FindFitting found in `values` to `to`, one after the other.
inline void CopyFitting(std::span<const std::string_view> values, const FittingValues& found,
                        uint8_t* to) {
  if (found.size_bytes == 0) return;
  if (found.back_to_back) {
    std::memcpy(to, values[0].data(), found.size_bytes);
    return;
  }
  for (const std::string_view value : values.first(found.count)) {
    CopyExactly(value, to);
    to += value.size();
  }
}

}  // namespace cfile::encodings
