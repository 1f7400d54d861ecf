// The inner loops of DELTA_BINARY_PACKED, chosen at run time for the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cfile::encodings {

// The number of values that are unpacked together: 8 values of any width end at a byte boundary.
inline constexpr size_t kDeltaGroup = 8;

// DecodeDeltas may read this many bytes after the packed groups.
inline constexpr size_t kDeltaReadAhead = 16;

// Decodes `miniblocks` miniblocks of `groups` * 8 deltas each, packed back to back; widths[i] is
// the width in bits of miniblock i. Each value is the value before it (`previous` for the first)
// plus its delta plus `min_delta`, wrapping around. Returns the last value. T is int32_t or
// int64_t. Preconditions: each width is at most 8 * sizeof(T); the packed bytes and the
// kDeltaReadAhead bytes after them are readable.
template <typename T>
T DecodeDeltas(const uint8_t* packed, const uint8_t* widths, size_t miniblocks, size_t groups,
               T min_delta, T previous, T* out);

// Sets deltas[i] to values[i] - values[i - 1] for `count` values and returns the least delta. Pads
// `deltas` with the least delta up to a multiple of miniblock_size. Sets ranges[i] to the largest
// delta of miniblock i minus the least of all deltas. All arithmetic wraps around. Preconditions:
// values[-1] is readable; count > 0.
template <typename T>
T MakeDeltas(const T* values, size_t count, size_t miniblock_size, T* deltas,
             std::make_unsigned_t<T>* ranges);

// Packs `miniblocks` miniblocks of `groups` * 8 deltas each to `out`, after subtracting `least`. A
// miniblock's width is the number of bits of its range and is written to `widths`. Returns the
// number of packed bytes. May overwrite up to kDeltaWriteAhead bytes after the packed bytes.
inline constexpr size_t kDeltaWriteAhead = 8;
template <typename T>
size_t PackDeltas(const T* deltas, T least, const std::make_unsigned_t<T>* ranges,
                  size_t miniblocks, size_t groups, uint8_t* widths, uint8_t* out);

}  // namespace cfile::encodings
