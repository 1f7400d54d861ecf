// GROUP_VARINT: a frame of reference for uint32 (cfile/FORMAT.md, Kudu's data blocks).
//
//   group varint 32 (count, minimum, first ordinal, 0)
//   group varint 32 of (value - minimum) for each value, the last group padded with zeros
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// The encoder and decoder of GROUP_VARINT. A decoder decodes the whole block in Open, and Borrow
// points to its values.
struct GroupVarintCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kGroupVarint;
  static constexpr std::string_view kName = "group-varint";
  static constexpr std::string_view kSuits = "small integers";
  // Per value: a quarter of a selector. Per block: the header and the padding of the last group.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 17 + 4;
  static constexpr ScanCost kScanCost{.number = 1000};
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kUint32; }

  CFILE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
