// RLE: runs of one repeated value, and literal runs (cfile/FORMAT.md, Kudu's data blocks).
//
//   block := count fixed32, first ordinal fixed32, RLE/bit-packed hybrid of the values at the
//   type's full width (bool: 1 bit)
//
// The count is not bounded by the block's bytes: 20 bytes may stand for 10^9 values.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"

namespace cfile::encodings {

// The encoder and decoder of RLE. MakeEncoder and MakeDecoder accept the types that Supports
// accepts: bool and integers of at most 64 bits.
struct RleCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kRle;
  static constexpr std::string_view kName = "rle";
  static constexpr std::string_view kSuits = "runs of equal values";

  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kBool <= type && type <= PhysicalType::kUint64;
  }

  // A literal run takes a header of one byte, and the block a header of 8 bytes. A repeated run is
  // never longer than its values, except that the last run may be longer by its header.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 100, .byte = 80};

  CFILE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
