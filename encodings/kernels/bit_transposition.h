// The transposition of BIT_SHUFFLE: row 8j + b holds bit b of byte j of all values. The rows lie
// one after another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cfile::encodings {

// Convert `count` values of `width` bytes each, back to back at `values`, to or from 8 * width rows
// of count / 8 bytes each. Each row has one bit for each value: that of value i is bit i % 8 of
// byte i / 8; bit 0 is the least significant. Input and output must not overlap. No other bytes are
// read or written. Preconditions: count is a multiple of 8; width > 0; count * width <=
// kMaxTransposedBytes.
void TransposeBits(const uint8_t* values, size_t count, size_t width, uint8_t* rows);
void UntransposeBits(const uint8_t* rows, size_t count, size_t width, uint8_t* values);

inline constexpr size_t kMaxTransposedBytes = 8192;

}  // namespace cfile::encodings
