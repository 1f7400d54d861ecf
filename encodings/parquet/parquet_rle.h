// Parquet's RLE pages of BOOLEAN (cfile/FORMAT.md, Parquet's data blocks): length in bytes,
// fixed32, then an RLE-hybrid of width 1 (rle_hybrid.h) of that length.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of RLE, for bools. A decoder ignores bytes after the RLE-hybrid, and a
// page of no values may be empty.
struct ParquetRleCodec : PageCodec<ParquetRleCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetRle;
  static constexpr std::string_view kName = "parquet-rle";
  static constexpr std::string_view kSuits = "runs of equal values";
  static constexpr uint32_t kWorstExtraBytesPerValue = 0;
  // Per block: the length, and one run.
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 100};
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBool; }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
