// The inner loops of DELTA_BYTE_ARRAY, chosen at run time for the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cfile::encodings {

// The longest value that RebuildShortValues can rebuild.
inline constexpr size_t kMaxRebuiltBytes = 64;

struct RebuiltValues {
  size_t count = 0;
  size_t bytes = 0;         // total size of the values
  size_t suffix_bytes = 0;  // total size of their suffixes
};

// Rebuilds values from the lengths of their prefixes and suffixes and from the suffixes, which lie
// back to back from `suffix` on. Writes the values back to back to `out`, and the end of each value
// to `ends`; `offset` is the end of the value before the first one. `longest` is at least the size
// of every value; it selects the kernel.
//
// Stops at the first value
// - that is longer than kMaxRebuiltBytes or does not fit in `room`,
// - whose prefix is longer than the value before it, or
// - whose suffix begins less than kMaxRebuiltBytes from the beginning or the end of `readable`.
// Stops before the first value on processors without vectors of a fixed size.
//
// Preconditions: suffix lengths are >= 0 and the suffixes lie within `readable`; `room` bytes at
// `out` and kMaxRebuiltBytes after them are writable; `previous` is the value before the first one,
// and kMaxRebuiltBytes bytes from its beginning are readable.
RebuiltValues RebuildShortValues(std::span<const int32_t> prefixes, const int32_t* suffixes,
                                 const uint8_t* suffix, std::span<const uint8_t> readable,
                                 std::span<const uint8_t> previous, size_t room, uint8_t* out,
                                 uint32_t offset, uint32_t* ends, uint32_t longest);

// Sets prefixes[i], for i = 1, 2, ..., to the length of the common prefix of values[i - 1] and
// values[i], at most kMaxComparedBytes. Returns the first i that it did not set, because the value
// is too near to `readable_end` or the processor has no suitable vectors. Precondition: the values
// lie back to back up to `readable_end`.
inline constexpr size_t kMaxComparedBytes = 64;
size_t CommonPrefixes(std::span<const std::string_view> values, const char* readable_end,
                      int32_t* prefixes);

}  // namespace cfile::encodings
