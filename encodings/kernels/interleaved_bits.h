// Bit packing of whole vectors of 1,024 values, in an interleaved order that every SIMD width
// unpacks without shuffles (cfile/FORMAT.md, FOR).
//
// The values are divided into rows of 128 bytes: value i is in lane i % lanes of row i / lanes,
// where lanes = 128 / sizeof(U). The values of each lane are packed back to back into words of
// sizeof(U) bytes, from the least significant bits of a word on. The packed vector also has rows of
// 128 bytes: row k has word k of each lane, in the order of the lanes. So a SIMD instruction
// unpacks neighbouring lanes, and the unpacked values have the right order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

inline constexpr size_t kVectorValues = 1024;
inline constexpr size_t kVectorRowBytes = 128;

// Returns how many vectors `count` values take. The last one may have fewer values.
constexpr uint32_t VectorsOf(uint32_t count) {
  return static_cast<uint32_t>((uint64_t{count} + kVectorValues - 1) / kVectorValues);
}

// Returns the number of bytes of a packed vector.
constexpr size_t InterleavedBytes(int width) {
  return kVectorRowBytes * static_cast<size_t>(width);
}

// In the functions below, U is uint8_t, uint16_t, uint32_t or uint64_t. They compute modulo 2^bits,
// where `bits` is the number of bits of U. Precondition: 0 <= width <= 8 * sizeof(U).

// Subtracts `reference` from kVectorValues values, and packs the differences. Writes
// InterleavedBytes(width) bytes to `out`. Precondition: the differences are less than 2^width.
template <typename U>
void PackInterleaved(const U* values, U reference, int width, uint8_t* out);

// Unpacks a vector and adds `reference` to each number. Writes kVectorValues values.
template <typename U>
void UnpackInterleaved(const uint8_t* packed, int width, U reference, U* out);

// Writes kVectorValues bits: bit i is 1 if packed number i is in the range from `low` to `high`. If
// low > high, the range wraps around: it has the numbers from `low` to the largest number, and from
// 0 to `high`.
template <typename U>
void MatchInterleaved(const uint8_t* packed, int width, U low, U high, uint8_t* bits);

// Writes kVectorValues bits: bit i is 1 if packed number i is one of `wanted`. Precondition: 1 <=
// wanted.size() <= kMostWanted.
inline constexpr size_t kMostWanted = 8;
template <typename U>
void MatchAnyInterleaved(const uint8_t* packed, int width, std::span<const U> wanted,
                         uint8_t* bits);

// Where a number of a packed vector begins.
struct InterleavedPlace {
  size_t offset;  // of the word with the number's lowest bit, from the first packed byte
  size_t shift;   // the position of this bit in the word
};

// Returns the place of number `index`. If the number continues in another word, this is
// kVectorRowBytes bytes further on. Precondition: index < kVectorValues.
template <typename U>
constexpr InterleavedPlace PlaceOfInterleaved(int width, size_t index) {
  constexpr size_t kBits = 8 * sizeof(U);
  constexpr size_t kLanes = kVectorRowBytes / sizeof(U);
  const size_t bit = index / kLanes * static_cast<size_t>(width);
  return {.offset = bit / kBits * kVectorRowBytes + index % kLanes * sizeof(U),
          .shift = bit % kBits};
}

// Returns number `index` of a packed vector. Precondition: index < kVectorValues.
template <typename U>
U UnpackOneInterleaved(const uint8_t* packed, int width, size_t index) {
  constexpr size_t kBits = 8 * sizeof(U);
  if (width == 0) return 0;
  const auto [offset, shift] = PlaceOfInterleaved<U>(width, index);
  const uint8_t* const word = packed + offset;
  // Whether the number continues in the next word is hard to predict, so there is no branch. If it
  // does not continue, the same word is read again, and the mask removes its bits.
  const size_t next = shift + static_cast<size_t>(width) > kBits ? kVectorRowBytes : 0;
  const uint64_t low = uint64_t{LoadLittleEndian<U>(word)} >> shift;
  const uint64_t high = uint64_t{LoadLittleEndian<U>(word + next)} << 1 << (kBits - 1 - shift);
  return static_cast<U>((low | high) & LowBits(width));
}

// Prefetches the memory of number `index` of a packed vector. Precondition: index < kVectorValues.
template <typename U>
void PrefetchInterleaved(const uint8_t* packed, int width, size_t index) {
  const uint8_t* const word = packed + PlaceOfInterleaved<U>(width, index).offset;
  __builtin_prefetch(word);
  __builtin_prefetch(word + kVectorRowBytes);
}

// Unpacks a vector of differences, and writes kVectorValues values. Value i is first + i * step +
// the sum of the packed numbers 0 to i.
template <typename U>
void UnpackDeltas(const uint8_t* packed, int width, U first, U step, U* out);

// Returns the sum of the first `count` numbers of a packed vector. Precondition: count <=
// kVectorValues.
template <typename U>
U SumInterleaved(const uint8_t* packed, int width, size_t count);

// Returns how many of `count` values are greater than `limit` after subtracting `reference`.
template <typename U>
size_t CountAbove(const U* values, size_t count, U reference, U limit);

}  // namespace cfile::encodings
