// Bit packing as Parquet and Kudu have it: values of `width` bits back to back, each beginning at
// the least significant free bit.
//
// Eight values of width w take exactly w bytes. The last byte of a sequence is filled with zero
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/bytes.h"

namespace cfile::encodings {

// Bytes that `count` values of `width` bits take. Precondition: count * width < 2^64.
constexpr uint64_t PackedBytes(uint64_t count, int width) {
  const uint64_t bits = count * static_cast<uint64_t>(width);
  return bits / 8 + (bits % 8 != 0);
}

// A number whose lowest `width` bits are ones. Precondition: 0 <= width <= 64.
constexpr uint64_t LowBits(int width) {
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// Appends PackedBytes(values.size(), width) bytes to `out`. T is one of uint8_t, uint16_t,
// uint32_t, uint64_t. Preconditions: 0 <= width <= 8 * sizeof(T); each value < 2^width.
template <typename T>
void PackBits(std::span<const T> values, int width, ByteWriter& out);

// Writes the values first, first + 1, ... first + count - 1 of the packed sequence `packed` to
// `out`. T as above. Reads no byte outside `packed` and writes none outside of out[0, count).
// Preconditions: 0 <= width <= 8 * sizeof(T); PackedBytes(first + count, width) <= packed.size().
template <typename T>
void UnpackBits(std::span<const uint8_t> packed, int width, uint64_t first, T* out, size_t count);

// The one value `index` of a packed sequence. Preconditions as for UnpackBits, with 0 <= width
// <= 64.
uint64_t UnpackOne(std::span<const uint8_t> packed, int width, uint64_t index);

// Bits that one load of 8 bytes holds, from any bit on.
inline constexpr int kMaxBitsPerLoad = 56;

// The bits first, first + 1, ... first + count - 1 of `packed`, as a number. Preconditions: 1 <=
// count <= kMaxBitsPerLoad; first + count <= 8 * packed.size().
inline uint64_t LoadBits(std::span<const uint8_t> packed, uint64_t first, int count) {
  const size_t byte = static_cast<size_t>(first / 8);
  uint64_t word = 0;
  if (packed.size() - byte >= 8) {
    word = LoadLittleEndian<uint64_t>(packed.data() + byte);
  } else {
    std::memcpy(&word, packed.data() + byte, packed.size() - byte);
  }
  return word >> (first % 8) & LowBits(count);
}

}  // namespace cfile::encodings
