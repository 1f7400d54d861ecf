// The inner loops of DELTA_BINARY_PACKED, for the processor at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cfile::encodings {

// Values that are unpacked together: those of any width end on a byte.
inline constexpr size_t kDeltaGroup = 8;

// Bytes behind the packed groups that DecodeDeltaGroups may read.
inline constexpr size_t kDeltaReadAhead = 16;

// Decodes `miniblocks` miniblocks of `groups` * 8 deltas, packed back to back with the bits that
// `widths` say: adds `min_delta` to each delta and the sum of those up to it to `previous`,
// wrapping around. Returns the last value. T is int32_t or int64_t. Preconditions: widths <= 8 *
// sizeof(T); the packed bytes and kDeltaReadAhead more may be read.
template <typename T>
T DecodeDeltas(const uint8_t* packed, const uint8_t* widths, size_t miniblocks, size_t groups,
               T min_delta, T previous, T* out);

// deltas[i] = values[i] - values[i - 1] less the least of those, which is returned; zeros behind
// `count` up to a multiple of miniblock_size. bits[i] gets the ones of any delta of miniblock i.
// All wraps around. Preconditions: values[-1] may be read; count > 0.
template <typename T>
T MakeDeltas(const T* values, size_t count, size_t miniblock_size, std::make_unsigned_t<T>* deltas,
             std::make_unsigned_t<T>* bits);

// Writes `groups` * 8 values of `width` bits to `out`, each less than 2^width, and up to
// kDeltaWriteAhead bytes of anything behind them. U is uint32_t or uint64_t.
inline constexpr size_t kDeltaWriteAhead = 8;
template <typename U>
void PackDeltaGroups(const U* values, size_t groups, int width, uint8_t* out);

}  // namespace cfile::encodings
