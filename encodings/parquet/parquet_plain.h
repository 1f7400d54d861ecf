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
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// Returns a new encoder of pages of P, one of Parquet's value types: bool, int32_t, int64_t, float,
// double, std::string_view. type_length: bytes of a FIXED_LEN_BYTE_ARRAY value, 0 for BYTE_ARRAY
// and other types.
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeParquetPlainEncoder(uint32_t type_length);

// Returns a new decoder of pages of P. Borrow returns numbers in the page itself if they are
// aligned there. Views of bytes always point into the page. BYTE_ARRAY: reading forwards keeps
// nothing; the first seek walks through all lengths and keeps an offset of 4 bytes per value, which
// is no more than the page takes for each length.
template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeParquetPlainDecoder(uint32_t type_length);

// PLAIN of all types.
struct ParquetPlainCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetPlain;
  static constexpr std::string_view kName = "parquet-plain";
  // The length of a byte array; the bytes that widen a narrow integer.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 0;
  static constexpr ScanCost kScanCost{.string = 1700, .byte = 60};
  static constexpr bool Supports(PhysicalType) { return true; }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    return MakePageBlockEncoder<T>(
        MakeParquetPlainEncoder<PageType<T>>(PageTypeLength<T>(options.type_length)), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions& options) {
    return MakePageBlockDecoder<T>(
        MakeParquetPlainDecoder<PageType<T>>(PageTypeLength<T>(options.type_length)));
  }
};

}  // namespace cfile::encodings
