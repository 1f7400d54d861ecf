// ALP: floats that stand for decimals as packed integers (cfile/FORMAT.md, Parquet's data blocks).
//
//   page    mode 0 · integer encoding 0 · log2 of the vector size · count int32 · the vectors'
//           offsets uint32 each, from the first offset on · vectors
//   vector  exponent · factor · exceptions uint16 · frame of reference · width · deltas ·
//           the exceptions' positions uint16 each · their values
//
// In preview at Parquet. These bytes are frozen as ours (rule AL8); automatic choice may take them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/page_codec.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

// T is float or double. Pages have vectors of 1,024 values. The first page of an encoder, and any
// that comes out worse than the pages before, looks for the pairs of exponent and factor that fit
// its values.
template <typename T>
std::unique_ptr<PageEncoder<T>> MakeAlpEncoder();

// Takes vectors of any size. Checks those that are touched: one block may be damaged where it was
// not read.
template <typename T>
std::unique_ptr<BlockDecoder<T>> MakeAlpDecoder();

struct AlpCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetAlp;
  static constexpr std::string_view kName = "parquet-alp";
  // A vector of exceptions only: a position for each value, and 17 bytes for 1,024 of them.
  static constexpr uint32_t kWorstExtraBytesPerValue = 3;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 32;
  static constexpr ScanCost kScanCost{.number = 600, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kFloat || type == PhysicalType::kDouble;
  }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    return MakePageBlockEncoder<T>(MakeAlpEncoder<T>(), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions&) {
    return MakePageBlockDecoder<T>(MakeAlpDecoder<T>());
  }
};

}  // namespace cfile::encodings
