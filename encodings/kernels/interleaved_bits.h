// Bit packing of whole vectors of 1,024 values, in an interleaved order that every SIMD width
// unpacks without shuffles (cfile/FORMAT.md, FOR).
//
// The values are seen as rows of 128 bytes: value i is in lane i % lanes of row i / lanes, where
// lanes = 128 / sizeof(U). Each lane is packed alone: the values of its rows lie back to back, each
// begins at the least significant bit that is free. Word k of each lane, one after another, is the
// k-th row of 128 bytes of the packed vector. So a vector instruction works on neighbouring lanes,
// and the unpacked values come out in their order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

inline constexpr size_t kVectorValues = 1024;
inline constexpr size_t kVectorRowBytes = 128;

// The number of bytes of a packed vector.
constexpr size_t InterleavedBytes(int width) {
  return kVectorRowBytes * static_cast<size_t>(width);
}

// U is uint8_t, uint16_t, uint32_t or uint64_t. The arithmetic of all functions is modulo 2^bits of
// U. Precondition of all: 0 <= width <= 8 * sizeof(U).

// Subtracts `reference` from the kVectorValues `values`, and packs the differences to the
// InterleavedBytes(width) bytes at `out`. Precondition: the differences are less than 2^width.
template <typename U>
void PackInterleaved(const U* values, U reference, int width, uint8_t* out);

// Unpacks a vector and adds `reference` to each number. Writes kVectorValues values.
template <typename U>
void UnpackInterleaved(const uint8_t* packed, int width, U reference, U* out);

// Sets bit i of the kVectorValues bits to 1 if packed number i is in the range from `low` to
// `high`, which may wrap around: if number i - low <= high - low. Otherwise sets the bit to 0.
template <typename U>
void MatchInterleaved(const uint8_t* packed, int width, U low, U high, uint8_t* bits);

// Returns number `index` of a packed vector. Precondition: index < kVectorValues.
template <typename U>
U UnpackOneInterleaved(const uint8_t* packed, int width, size_t index) {
  constexpr size_t kBits = 8 * sizeof(U);
  constexpr size_t kLanes = kVectorRowBytes / sizeof(U);
  if (width == 0) return 0;
  const size_t bit = index / kLanes * static_cast<size_t>(width);
  const size_t shift = bit % kBits;
  const uint8_t* const word =
      packed + bit / kBits * kVectorRowBytes + index % kLanes * sizeof(U);
  // No branch on whether the number continues in the next word: it is unpredictable. If it does
  // not, the other word is the same one, and its bits are above the number.
  const size_t next = shift + static_cast<size_t>(width) > kBits ? kVectorRowBytes : 0;
  const uint64_t low = uint64_t{LoadLittleEndian<U>(word)} >> shift;
  const uint64_t high = uint64_t{LoadLittleEndian<U>(word + next)} << 1 << (kBits - 1 - shift);
  return static_cast<U>((low | high) & LowBits(width));
}

// Unpacks a vector of differences: value i is first + i * step + the sum of the numbers 0 to i.
// Writes kVectorValues values.
template <typename U>
void UnpackDeltas(const uint8_t* packed, int width, U first, U step, U* out);

// Returns the sum of the first `count` numbers of a packed vector. Precondition: count <=
// kVectorValues.
template <typename U>
U SumInterleaved(const uint8_t* packed, int width, size_t count);

// Returns how many of the `count` numbers values[i] - reference are greater than `limit`.
template <typename U>
size_t CountAbove(const U* values, size_t count, U reference, U limit);

}  // namespace cfile::encodings
