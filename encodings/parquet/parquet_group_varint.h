// Early Parquet's GROUP_VAR_INT pages (cfile/FORMAT.md, Parquet's data blocks): INT32 in groups of
// 4, INT64 in groups of 5 (group_varint.h), the last group filled with zeros.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of GROUP_VAR_INT, for integers of at most 64 bits. A decoder ignores
// bytes after the last group. Its first seek to another group walks through all groups; from then
// on it keeps 4 bytes for every 64 groups.
struct ParquetGroupVarintCodec : PageCodec<ParquetGroupVarintCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetGroupVarInt;
  static constexpr std::string_view kName = "parquet-group-varint";
  static constexpr std::string_view kSuits = "small integers";
  // Negative narrow integers take 4 bytes, and each value takes a part of a selector.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 1500, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kUint64;
  }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
