// RLE: runs of equal values beside literal runs (cfile/FORMAT.md, Kudu's data blocks).
//
//   block := count fixed32, first ordinal fixed32, RLE/bit-packed hybrid of the values at the
//   type's full width (bool: 1 bit)
//
// The count is not bounded by the block's bytes: 20 bytes may stand for 10^9 values.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"

namespace cfile::encodings {

// The registry's row for RLE. MakeEncoder and MakeDecoder take the types that Supports names: bool
// and integers up to 64 bits.
struct RleCodec {
  static constexpr Encoding kEncoding = Encoding::kRle;
  static constexpr std::string_view kName = "rle";

  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kBool <= type && type <= PhysicalType::kUint64;
  }

  // A header of one byte for each literal run, and the block's own 8 bytes; a repeated run is never
  // longer than its values, save for its header in the last one.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 100, .byte = 80};

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType type,
                                                      const EncoderOptions& options);
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options);
};

}  // namespace cfile::encodings
