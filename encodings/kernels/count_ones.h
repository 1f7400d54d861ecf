// Counts the ones of a bitmap.
#pragma once

#include <cstdint>
#include <span>

namespace cfile::encodings {

// The number of ones among the bits [first, first + count) of `packed`, whose least significant bit
// is the first. Precondition: first + count <= 8 * packed.size().
uint64_t CountOnes(std::span<const uint8_t> packed, uint64_t first, uint64_t count);

}  // namespace cfile::encodings
