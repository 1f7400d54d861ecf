// Early Parquet's GROUP_VAR_INT pages (cfile/FORMAT.md, Parquet's data blocks): INT32 in groups of
// 4, INT64 in groups of 5 (group_varint.h), the last group filled with zeros.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/encoding.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// Returns a new encoder of pages of P. P is int32_t or int64_t.
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeParquetGroupVarintEncoder();

// Returns a new decoder of pages of P. It ignores bytes after the last group. The first seek to
// another group walks through all groups; from then on the decoder keeps 4 bytes for every 64
// groups.
template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeParquetGroupVarintDecoder();

// GROUP_VAR_INT of integers.
struct ParquetGroupVarintCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetGroupVarInt;
  static constexpr std::string_view kName = "parquet-group-varint";
  // Negative narrow integers take 4 bytes, and each value takes a part of a selector.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 1500, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kUint64;
  }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    return MakePageBlockEncoder<T>(MakeParquetGroupVarintEncoder<PageType<T>>(), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions&) {
    return MakePageBlockDecoder<T>(MakeParquetGroupVarintDecoder<PageType<T>>());
  }
};

}  // namespace cfile::encodings
