// The transposition of BIT_SHUFFLE: bit b of byte j of all values lies in row 8j + b, and the rows
// follow one another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

// `count` values of `width` bytes each, back to back at `values`, to or from 8 * width rows of
// count / 8 bytes each: value i is bit i % 8 of byte i / 8 of its rows, bit 0 being the least
// significant. Touches exactly those bytes, which must not overlap. Precondition: count is a
// multiple of 8; width > 0; count * width <= kMaxTransposedBytes.
void TransposeBits(const uint8_t* values, size_t count, size_t width, uint8_t* rows);
void UntransposeBits(const uint8_t* rows, size_t count, size_t width, uint8_t* values);

inline constexpr size_t kMaxTransposedBytes = 8192;

}  // namespace cfile::encodings
