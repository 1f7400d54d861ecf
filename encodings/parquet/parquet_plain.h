// Parquet's PLAIN pages (cfile/FORMAT.md, Parquet's data blocks):
//
//   BOOLEAN                     bits, least significant first
//   INT32, INT64, FLOAT, DOUBLE values back to back, little-endian
//   INT96                       values of 12 bytes back to back
//   FIXED_LEN_BYTE_ARRAY(n)     values back to back
//   BYTE_ARRAY                  per value: length fixed32, bytes
//
// Bytes after the last value are ignored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of PLAIN, for all types. Borrow returns numbers in the page itself if
// they are aligned there. Views of bytes always point into the page. A decoder of BYTE_ARRAY that
// only reads forwards keeps no offsets. Its first seek walks through all lengths and keeps an
// offset of 4 bytes per value, as many bytes as the lengths take in the page.
struct ParquetPlainCodec : PageCodec<ParquetPlainCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetPlain;
  static constexpr std::string_view kName = "parquet-plain";
  static constexpr std::string_view kSuits = "no other encoding saves much";
  // Per value: the length of a byte array, or the bytes that widen a narrow integer.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 0;
  static constexpr ScanCost kScanCost{.string = 1700, .byte = 60};
  static constexpr bool Supports(PhysicalType) { return true; }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
