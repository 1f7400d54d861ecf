// Bit packing as in Parquet and Kudu: values of `width` bits back to back, each from the least
// significant bit that is free on. Eight values of width w take exactly w bytes. Unused bits of the
// last byte are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The number of bytes of `count` values of `width` bits. Precondition: count * width < 2^64.
constexpr uint64_t PackedBytes(uint64_t count, int width) {
  const uint64_t bits = count * static_cast<uint64_t>(width);
  return bits / 8 + (bits % 8 != 0);
}

// A number whose lowest `width` bits are ones. Precondition: 0 <= width <= 64.
constexpr uint64_t LowBits(int width) {
  return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

// Packs `values` and appends PackedBytes(values.size(), width) bytes to `out`. T is one of uint8_t,
// uint16_t, uint32_t, uint64_t. Preconditions: 0 <= width <= 8 * sizeof(T); each value < 2^width.
template <typename T>
void PackBits(std::span<const T> values, int width, ByteWriter& out);

// Unpacks the values [first, first + count) of the sequence `packed` to `out`. T is as for
// PackBits. Reads no byte outside `packed` and writes nothing outside out[0, count). Preconditions:
// 0 <= width <= 8 * sizeof(T); PackedBytes(first + count, width) <= packed.size().
template <typename T>
void UnpackBits(std::span<const uint8_t> packed, int width, uint64_t first, T* out, size_t count);

// As UnpackBits for uint32_t, but also returns the largest of the values, or 0 if `count` is 0.
// Fast if `first` is a multiple of 8. For dictionary indexes.
uint32_t UnpackIndexes(std::span<const uint8_t> packed, int width, uint64_t first, uint32_t* out,
                       size_t count);

// Returns value `index` of a packed sequence. Preconditions: as for UnpackBits, but
// 0 <= width <= 64.
uint64_t UnpackOne(std::span<const uint8_t> packed, int width, uint64_t index);

// LoadBits loads 8 bytes. From any bit of the first byte on, they hold at least this many bits.
inline constexpr int kMaxBitsPerLoad = 56;

// Returns the bits [first, first + count) of `packed` as a number. Preconditions:
// 1 <= count <= kMaxBitsPerLoad; first + count <= 8 * packed.size().
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
