// The layout of a block of FOR (for.h): its table, and the sizes of its parts. Internal to FOR.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// The type of the unsigned integers as which values of type T are packed.
template <typename T>
using ForLane = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// The layout of a vector: how its values are packed.
enum class ForForm : uint8_t {
  kFrame = 0,  // differences from the reference
  kDelta = 1,  // differences between neighbours; only vectors of kVectorValues integers
};

// An entry of the table, which describes one vector. T is the type of the values.
template <typename T>
struct ForEntry {
  using U = ForLane<T>;
  static constexpr size_t kBytes = 8 + 2 * sizeof(T);

  uint32_t offset = 0;  // from the block's first byte to the vector
  uint8_t width = 0;    // bits of a packed difference
  uint8_t form = 0;     // a ForForm
  uint16_t exceptions = 0;
  U min = 0;  // the least value, converted to U
  U max = 0;  // the greatest value, converted to U

  static ForEntry Load(const uint8_t* from) {
    return {LoadLittleEndian<uint32_t>(from),
            from[4],
            from[5],
            LoadLittleEndian<uint16_t>(from + 6),
            LoadLittleEndian<U>(from + 8),
            LoadLittleEndian<U>(from + 8 + sizeof(U))};
  }
  void Put(ByteWriter& out) const {
    out.PutFixed(offset);
    out.PutFixed(width);
    out.PutFixed(form);
    out.PutFixed(exceptions);
    out.PutFixed(min);
    out.PutFixed(max);
  }
};

// Returns the width that differences from 0 to `range` need: the number of bits of `range`.
template <typename U>
int ForWidth(U range) {
  return static_cast<int>(std::bit_width(range));
}
// Returns how many bytes the packed differences of a vector of `count` values take. Vectors of
// kVectorValues values are interleaved, shorter vectors are not.
constexpr size_t ForPackedBytes(size_t count, int width) {
  return count == kVectorValues ? InterleavedBytes(width)
                                : static_cast<size_t>(PackedBytes(count, width));
}
// Returns the number of bytes of a vector of form 1.
template <typename T>
constexpr size_t ForDeltaBytes(int width) {
  return InterleavedBytes(width) + 2 * sizeof(T);
}
// Returns the number of bytes of a vector of form 0.
template <typename T>
constexpr size_t ForVectorBytes(size_t count, int width, size_t exceptions) {
  const size_t patches =
      exceptions == 0 ? 0 : sizeof(T) + exceptions * (sizeof(uint16_t) + sizeof(T));
  return ForPackedBytes(count, width) + patches;
}

}  // namespace cfile::encodings
