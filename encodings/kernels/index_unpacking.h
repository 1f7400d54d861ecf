// Unpacks bit-packed dictionary indexes and finds the largest of them, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

// Does the same as UnpackBits (bit_packing.h) for uint32_t, and returns the largest of the values,
// or 0 if `count` is 0. Fast if `first` is a multiple of 8. Preconditions: width <= 32, and those
// of UnpackBits.
uint32_t UnpackIndexes(std::span<const uint8_t> packed, int width, uint64_t first, uint32_t* out,
                       size_t count);

}  // namespace cfile::encodings
