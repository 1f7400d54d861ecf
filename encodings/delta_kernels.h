// The inner loops of DELTA_BINARY_PACKED, for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cfile::encodings {

// Values that are unpacked together: those of any width end on a byte.
inline constexpr size_t kDeltaGroup = 8;

// Bytes behind the packed groups that DecodeDeltas may read.
inline constexpr size_t kDeltaReadAhead = 16;

// Decodes `miniblocks` miniblocks of `groups` * 8 deltas, packed back to back with the bits that
// `widths` say: adds `min_delta` to each delta and the sum of those up to it to `previous`,
// wrapping around. Returns the last value. T is int32_t or int64_t. Preconditions: widths <= 8 *
// sizeof(T); the packed bytes and kDeltaReadAhead more may be read.
template <typename T>
T DecodeDeltas(const uint8_t* packed, const uint8_t* widths, size_t miniblocks, size_t groups,
               T min_delta, T previous, T* out);

// deltas[i] = values[i] - values[i - 1]; returns the least of those and fills `deltas` with it
// behind `count` up to a multiple of miniblock_size. ranges[i] gets the largest delta of miniblock
// i less the least. All wraps around. Preconditions: values[-1] may be read; count > 0.
template <typename T>
T MakeDeltas(const T* values, size_t count, size_t miniblock_size, T* deltas,
             std::make_unsigned_t<T>* ranges);

// Packs `miniblocks` miniblocks of `groups` * 8 deltas, less the least of them, to `out`, each in
// as many bits as its range has, which go to `widths`; returns the bytes. Overwrites `deltas`, and
// up to kDeltaWriteAhead bytes behind those it returns.
inline constexpr size_t kDeltaWriteAhead = 8;
template <typename T>
size_t PackDeltas(T* deltas, T least, const std::make_unsigned_t<T>* ranges, size_t miniblocks,
                  size_t groups, uint8_t* widths, uint8_t* out);

}  // namespace cfile::encodings
