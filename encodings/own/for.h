// FOR: integers and bools as bit-packed differences from a reference, in vectors of 1,024 values
// (cfile/FORMAT.md, Own data blocks).
//
//   block   an entry of the table for each vector · the vectors
//   entry   offset of the vector fixed32 · width, 1 byte · form, 1 byte · number of exceptions,
//           16 bits · minimum · maximum
//   vector  form 0: packed differences from the reference · if there are exceptions: reference,
//           positions, values
//           form 1: packed differences between neighbours · first value · least difference
//
// In form 0, any value is found with one or two loads, and a predicate is answered from the minimum
// and the maximum of a vector or from the packed differences. Form 1 is for sorted values.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"

namespace cfile::encodings {

// The encoder and decoder of FOR.
//
// A decoder checks the table's size in Open, and a vector when it reads from it. It reads only the
// bytes of the vectors that it needs. Gather decodes no vector; SeekToKey and ReadMatches decode
// only vectors of form 1 whose minimum and maximum do not answer.
struct ForCodec {
  static constexpr Encoding kEncoding = Encoding::kFor;
  static constexpr std::string_view kName = "for";
  static constexpr bool Supports(PhysicalType type) { return type <= PhysicalType::kUint64; }
  // The worst case: a block of one vector, packed with the width of the type. It has an entry of up
  // to 24 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 24;
  static constexpr ScanCost kScanCost{.number = 20, .byte = 10};
  static constexpr bool kAutomatic = false;

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,
                                                      const EncoderOptions& options);
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options);
  static absl::Status Describe(PhysicalType type, const DecoderOptions& options,
                               const BlockView& block, BlockDescription& description);
};

// The unsigned integer that the values of T are packed as.
template <typename T>
using ForLane = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// The layout of a vector: how its values are packed.
enum class ForForm : uint8_t {
  kFrame = 0,  // differences from the reference
  kDelta = 1,  // differences between neighbours; only vectors of kVectorValues integers
};

// An entry of the table. T is the type of the values.
template <typename T>
struct ForEntry {
  using U = ForLane<T>;
  static constexpr size_t kBytes = 8 + 2 * sizeof(T);

  uint32_t offset = 0;  // from the block's first byte to the vector
  uint8_t width = 0;    // bits of a packed difference
  uint8_t form = 0;     // a ForForm
  uint16_t exceptions = 0;
  U min = 0;  // the bits of the least and of the greatest value
  U max = 0;

  static ForEntry Load(const uint8_t* from) {
    return {LoadLittleEndian<uint32_t>(from), from[4],
            from[5],                          LoadLittleEndian<uint16_t>(from + 6),
            LoadLittleEndian<U>(from + 8),    LoadLittleEndian<U>(from + 8 + sizeof(U))};
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

// The number of bits that the numbers from 0 to `range` need.
template <typename U>
int ForWidth(U range) {
  return static_cast<int>(std::bit_width(range));
}
// The number of bytes of the packed differences of a vector of `count` values. Only vectors of
// kVectorValues values are interleaved.
constexpr size_t ForPackedBytes(size_t count, int width) {
  return count == kVectorValues ? InterleavedBytes(width)
                                : static_cast<size_t>(PackedBytes(count, width));
}
// The number of bytes of a vector of form 1.
template <typename T>
constexpr size_t ForDeltaBytes(int width) {
  return InterleavedBytes(width) + 2 * sizeof(T);
}
// The number of bytes of a vector of form 0.
template <typename T>
constexpr size_t ForVectorBytes(size_t count, int width, size_t exceptions) {
  const size_t patches =
      exceptions == 0 ? 0 : sizeof(T) + exceptions * (sizeof(uint16_t) + sizeof(T));
  return ForPackedBytes(count, width) + patches;
}
// The number of vectors of a block of `count` values.
constexpr uint32_t ForVectors(uint32_t count) {
  return static_cast<uint32_t>((uint64_t{count} + kVectorValues - 1) / kVectorValues);
}

}  // namespace cfile::encodings
