// The inner loops of DELTA_BYTE_ARRAY, for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cfile::encodings {

// The longest value that RebuildShortValues takes.
inline constexpr size_t kMaxRebuiltBytes = 64;

struct RebuiltValues {
  size_t count = 0;
  size_t bytes = 0;         // of them
  size_t suffix_bytes = 0;  // of their suffixes
};

// Rebuilds values from their prefixes' lengths, their suffixes' lengths and the suffixes, which lie
// back to back from `suffix` on: their bytes back to back to `out`, and where each of them ends,
// counted from `offset` at `out`, to `ends`. Stops at the first value of more than kMaxRebuiltBytes
// bytes, or with a longer prefix than the value before has bytes, or so near to an end of
// `readable` that its suffix cannot be read with its neighbours, or for which there is no room;
// without vectors of a fixed size it stops at once.
//
// Preconditions: suffix lengths are >= 0 and the suffixes lie in `readable`; `room` bytes may be
// written to `out` and kMaxRebuiltBytes overwritten behind them; kMaxRebuiltBytes bytes may be read
// from `previous`, the value before the first.
RebuiltValues RebuildShortValues(std::span<const int32_t> prefixes, const int32_t* suffixes,
                                 const uint8_t* suffix, std::span<const uint8_t> readable,
                                 std::span<const uint8_t> previous, size_t room, uint8_t* out,
                                 uint32_t offset, uint32_t* ends, uint32_t longest);

// prefixes[i] = bytes that values[i] shares with the front of values[i - 1], at most
// kMaxComparedBytes, for i = 1, 2, ...; returns the first i for which it does not say so, since the
// value lies too near to the end, or there are no vectors. Precondition: the values lie back to
// back up to `readable_end`.
inline constexpr size_t kMaxComparedBytes = 64;
size_t CommonPrefixes(std::span<const std::string_view> values, const char* readable_end,
                      int32_t* prefixes);

}  // namespace cfile::encodings
