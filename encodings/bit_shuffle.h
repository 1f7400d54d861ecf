// BIT_SHUFFLE: the bits of the values transposed, then LZ4 (cfile/FORMAT.md, BIT_SHUFFLE):
//
//   block := first ordinal, count, size of the block, count rounded up to a multiple of 8, bytes of
//   an element, fixed32 each · chunks
//   chunk := size of what follows, 4 bytes, big-endian · LZ4 block of the chunk's rows of bits
//
// UINT32 is stored in 1, 2 or 4 bytes an element, by the block's largest value.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

inline constexpr size_t kBitShuffleHeaderBytes = 20;
// What a chunk that is not the last holds, before compression: with elements of a power of two
// bytes, a power of two of them.
inline constexpr size_t kBitShuffleChunkBytes = 8192;

// The registry's row for BIT_SHUFFLE: numbers of any width. Only where LZ4 is built in.
//
// Decoders decode a chunk when a value of it is asked for, and keep all chunks of the block in
// hand, or as many as 1 MiB or 4 times the block's bytes hold; Borrow points at them.
struct BitShuffleCodec {
  static constexpr Encoding kEncoding = Encoding::kBitShuffle;
  static constexpr std::string_view kName = "bit-shuffle";
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kDouble &&
           type != PhysicalType::kInt96;
  }
  // Bytes that LZ4 cannot compress become a few more; up to 7 elements fill the last row.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 192;
  static constexpr ScanCost kScanCost{.byte = 300};

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,
                                                      const EncoderOptions& options);
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options);
};

}  // namespace cfile::encodings
