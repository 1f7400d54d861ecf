// Parquet's BYTE_STREAM_SPLIT pages (cfile/FORMAT.md, Parquet's data blocks): byte 0 of all values,
// then byte 1 of all values, and so on. n values of w bytes take exactly n * w bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// Makes pages of P: int32_t, int64_t, float, double, or std::string_view for FIXED_LEN_BYTE_ARRAY
// values of type_length > 0 bytes.
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeByteStreamSplitEncoder(uint32_t type_length);

// Seeks take constant time. Views point into the decoder's buffer, which holds at most 64 KiB or
// one value.
template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeByteStreamSplitDecoder(uint32_t type_length);

// The registry's row for BYTE_STREAM_SPLIT: all types with values of one width.
struct ByteStreamSplitCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetByteStreamSplit;
  static constexpr std::string_view kName = "parquet-byte-stream-split";
  // A narrow integer is stored in 4 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 3;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 0;
  static constexpr ScanCost kScanCost{.string = 1000, .byte = 70};
  static constexpr bool Supports(PhysicalType type) {
    return type != PhysicalType::kBool && type != PhysicalType::kBytes &&
           type != PhysicalType::kInt96;  // as in Parquet
  }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    return MakePageBlockEncoder<T>(
        MakeByteStreamSplitEncoder<PageType<T>>(PageTypeLength<T>(options.type_length)), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions& options) {
    return MakePageBlockDecoder<T>(
        MakeByteStreamSplitDecoder<PageType<T>>(PageTypeLength<T>(options.type_length)));
  }
};

}  // namespace cfile::encodings
