// PREFIX: each value is stored as the number of bytes that it shares with the front of the value
// before it, and its other bytes (cfile/FORMAT.md, Kudu's data blocks).
//
//   group varint 32 (count, first ordinal, restart interval, 0)
//   per value: shared vint32 · unshared vint32 · unshared bytes
//   restart offsets fixed32 each, from the block's start · number of restart offsets fixed32
//
// Every restart-interval-th value is a restart point: it shares nothing with the value before it,
// so that decoding can begin there. The offset of the first value, also a restart point, is not
// stored.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// The encoder and decoder of PREFIX. A decoder keeps about 1 MiB for the values of one Read, which
// returns fewer values if they would take more. (A small block may stand for many long values.)
struct PrefixCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kPrefix;
  static constexpr std::string_view kName = "prefix";
  static constexpr std::string_view kSuits = "neighbours begin alike";
  static constexpr bool kFrontCodes = true;
  // Per value: two vints and a restart offset. Per block: the header and the number of restart
  // offsets.
  static constexpr uint32_t kWorstExtraBytesPerValue = 2 * 5 + 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 17 + 4;
  static constexpr ScanCost kScanCost{.string = 1700, .byte = 50};
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBytes; }

  CFILE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
