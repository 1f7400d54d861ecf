// BIT_SHUFFLE: the bits of the values are transposed, then compressed with LZ4 (cfile/FORMAT.md,
// BIT_SHUFFLE):
//
//   block := first ordinal, count, size of the block in bytes, count rounded up to a multiple of 8,
//            size of an element in bytes (fixed32 each) · chunks
//   chunk := size of the LZ4 block, 4 bytes, big-endian · LZ4 block of the chunk's rows of bits
//
// An element of UINT32 has 1, 2 or 4 bytes, as the block's largest value requires.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

inline constexpr size_t kBitShuffleHeaderBytes = 20;
// Uncompressed bytes of each chunk except the last. If the size of an element is a power of two, so
// is the number of elements of a chunk.
inline constexpr size_t kBitShuffleChunkBytes = 8192;

// The encoder and decoder of BIT_SHUFFLE, for numbers of any width. Available only if LZ4 is built
// in.
//
// A decoder decodes a chunk when one of its values is read. It keeps decoded chunks in memory: at
// most 1 MiB or 4 times the block's bytes, whichever is larger. Borrow returns pointers into them.
struct BitShuffleCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kBitShuffle;
  static constexpr std::string_view kName = "bit-shuffle";
  static constexpr std::string_view kSuits = "few bits vary";
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kDouble &&
           type != PhysicalType::kInt96;
  }
  // LZ4 adds a few bytes to data that it cannot compress; up to 7 elements of padding fill the last
  // row.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 192;
  static constexpr ScanCost kScanCost{.byte = 300};

  CFILE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
