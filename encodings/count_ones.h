// Counting the ones of a bitmap.
#pragma once

#include <cstdint>
#include <span>

namespace cfile::encodings {

// Ones among the bits first, first + 1, ... first + count - 1 of `packed`, least significant bit
// first. Precondition: it holds them.
uint64_t CountOnes(std::span<const uint8_t> packed, uint64_t first, uint64_t count);

}  // namespace cfile::encodings
