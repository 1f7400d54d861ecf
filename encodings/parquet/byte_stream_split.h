// Parquet's BYTE_STREAM_SPLIT pages (cfile/FORMAT.md, Parquet's data blocks): byte 0 of all values,
// then byte 1 of all values, and so on. n values of w bytes take exactly n * w bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of BYTE_STREAM_SPLIT, for all types whose values have one width. Seeks
// take constant time. Views point into the decoder's buffer, which holds at most 64 KiB or one
// value.
struct ByteStreamSplitCodec : PageCodec<ByteStreamSplitCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetByteStreamSplit;
  static constexpr std::string_view kName = "parquet-byte-stream-split";
  static constexpr std::string_view kSuits = "high bytes are alike";
  // A narrow integer is stored in 4 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 3;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 0;
  static constexpr ScanCost kScanCost{.string = 1000, .byte = 70};
  static constexpr bool Supports(PhysicalType type) {
    return type != PhysicalType::kBool && type != PhysicalType::kBytes &&
           type != PhysicalType::kInt96;  // as in Parquet
  }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
