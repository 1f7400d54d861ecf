// Bools, one a byte, to bits and back: least significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encodings/bytes.h"

namespace cfile::encodings {

// Bytes of `count` bits.
constexpr uint64_t BitmapBytes(uint64_t count) { return count / 8 + (count % 8 != 0); }

// Appends BitmapBytes(values.size()) bytes; the bits behind the last value are 0.
void PackBools(std::span<const bool> values, ByteWriter& out);

// Writes the bits first, first + 1, ... first + count - 1 to `out`. Reads no byte outside `bits`.
// Precondition: BitmapBytes(first + count) <= bits.size().
void UnpackBools(std::span<const uint8_t> bits, uint64_t first, bool* out, size_t count);

}  // namespace cfile::encodings
