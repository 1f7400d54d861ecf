// The layout of a block of ALP_RD (alp_rd.h): its table, and the sizes of its parts. Internal to
// ALP_RD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "encodings/core/bytes.h"
#include "encodings/kernels/alp_rd_kernel.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// The type of the unsigned integers that have the bits of values of type T.
template <typename T>
using AlpRdLane = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// An entry of the table, which describes one vector.
struct AlpRdEntry {
  static constexpr size_t kBytes = 9;

  uint32_t offset = 0;  // from the block's first byte to the vector
  uint8_t code_width = 0;
  uint8_t offset_width = 0;
  uint8_t shift = 0;
  uint16_t exceptions = 0;

  static AlpRdEntry Load(const uint8_t* from) {
    return {LoadLittleEndian<uint32_t>(from), from[4], from[5], from[6],
            LoadLittleEndian<uint16_t>(from + 7)};
  }
  void Put(ByteWriter& out) const {
    out.PutFixed(offset);
    out.PutFixed(code_width);
    out.PutFixed(offset_width);
    out.PutFixed(shift);
    out.PutFixed(exceptions);
  }
  AlpRdForm form() const { return {code_width, offset_width, shift}; }
};

// Returns the number of bytes of the high part of an exception. Precondition: form.covered() is at
// most the number of bits of U.
template <typename U>
size_t AlpRdHighBytes(const AlpRdForm& form) {
  return (8 * sizeof(U) - static_cast<size_t>(form.covered()) + 7) / 8;
}
// Returns the number of bytes of the packed numbers of a vector. Vectors of kVectorValues values
// are interleaved, shorter vectors are not.
inline size_t AlpRdPackedBytes(const AlpRdForm& form, size_t count) {
  return count == kVectorValues ? InterleavedBytes(form.width())
                                : static_cast<size_t>(PackedBytes(count, form.width()));
}
// Returns the number of bytes of a vector. Precondition: as for AlpRdHighBytes.
template <typename U>
size_t AlpRdVectorBytes(const AlpRdForm& form, size_t count, size_t exceptions) {
  return form.bases() * sizeof(U) + AlpRdPackedBytes(form, count) +
         exceptions * (sizeof(uint16_t) + AlpRdHighBytes<U>(form));
}

}  // namespace cfile::encodings
