// Converts bools, one per byte, to bits and back. The least significant bit is the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

// The number of bytes that hold `count` bits.
constexpr uint64_t BitmapBytes(uint64_t count) { return count / 8 + (count % 8 != 0); }

// Writes BitmapBytes(values.size()) bytes to `bits`. The bits after the last value are 0.
void PackBools(std::span<const bool> values, uint8_t* bits);

// Writes the bits [first, first + count) to `out`. Reads no byte outside `bits`. Precondition:
// BitmapBytes(first + count) <= bits.size().
void UnpackBools(std::span<const uint8_t> bits, uint64_t first, bool* out, size_t count);

}  // namespace cfile::encodings
