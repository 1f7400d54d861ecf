// Parquet's BYTE_STREAM_SPLIT pages (cfile/FORMAT.md, Parquet's data blocks): byte j of all values,
// for j = 0, 1, ...; n values of w bytes take exactly n * w bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/encoding.h"
#include "encodings/page_codec.h"

namespace cfile::encodings {

// Pages of P: int32_t, int64_t, float, double, or std::string_view of type_length > 0 bytes each
// (FIXED_LEN_BYTE_ARRAY).
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeByteStreamSplitEncoder(uint32_t type_length);

// Seeks in constant time. Views of bytes point into the decoder's buffer, of at most 64 KiB or one
// value.
template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeByteStreamSplitDecoder(uint32_t type_length);

// BYTE_STREAM_SPLIT of all types of one width.
struct ByteStreamSplitCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetByteStreamSplit;
  static constexpr std::string_view kName = "parquet-byte-stream-split";
  // The other bytes of a narrow integer.
  static constexpr uint32_t kWorstExtraBytesPerValue = 3;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 0;
  static constexpr ScanCost kScanCost{.string = 1000, .byte = 70};
  static constexpr bool Supports(PhysicalType type) {
    return type != PhysicalType::kBool && type != PhysicalType::kBytes &&
           type != PhysicalType::kInt96;  // as Parquet has it
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
