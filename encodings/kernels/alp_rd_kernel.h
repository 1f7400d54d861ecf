// Converts the bits of floats to the numbers of ALP_RD, and back (cfile/FORMAT.md, ALP_RD).
#pragma once

#include <cstddef>
#include <cstdint>

#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// How the values of a vector become numbers. The lowest offset_width bits of a number are an
// offset, the highest code_width bits a code: the index of a base. The value is the base + offset *
// 2^shift, modulo 2^bits of the type.
struct AlpRdForm {
  static constexpr int kMaxCodeWidth = 3;
  static constexpr size_t kMaxBases = size_t{1} << kMaxCodeWidth;

  int code_width = 0;
  int offset_width = 0;
  int shift = 0;

  int width() const { return code_width + offset_width; }
  size_t bases() const { return size_t{1} << code_width; }
  // The number of bits that an offset covers. Values minus a base have further bits above them
  // unless they are among those of the base.
  int covered() const { return offset_width + shift; }
};

// In the functions below, U is uint32_t or uint64_t. Preconditions: 0 <= code_width <=
// kMaxCodeWidth; offset_width and shift are at least 0; width() and covered() are at most the
// number of bits of U; shift is less than this number, and covered() too if code_width > 0.

// Decodes the numbers of an interleaved vector (interleaved_bits.h). Reads form.bases() bases, and
// writes kVectorValues values.
template <typename U>
void AlpRdDecode(const uint8_t* packed, const AlpRdForm& form, const U* bases, U* out);

// Encodes kVectorValues values. Writes kVectorValues numbers and the same number of `highs`: 0 if
// the number gives the value, otherwise (an exception) the value is what its number gives + high *
// 2^covered(). Precondition: the lowest `shift` bits of values[i] - bases[k] are 0.
template <typename U>
void AlpRdEncode(const U* values, const AlpRdForm& form, const U* bases, U* numbers, U* highs);

}  // namespace cfile::encodings
