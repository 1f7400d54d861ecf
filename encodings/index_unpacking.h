// Bit-packed dictionary indexes, unpacked and checked in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

// UnpackBits (bit_packing.h) for uint32_t, which returns the largest of the values too; 0 if
// `count` is 0. Fast where `first` is a multiple of 8. Precondition: width <= 32; the others as
// there.
uint32_t UnpackIndexes(std::span<const uint8_t> packed, int width, uint64_t first, uint32_t* out,
                       size_t count);

}  // namespace cfile::encodings
