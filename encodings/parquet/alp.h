// ALP: stores floats that are decimal numbers as bit-packed integers (cfile/FORMAT.md, Parquet's
// data blocks).
//
//   page    mode 0 · integer encoding 0 · log2 of the vector size · count int32 ·
//           offset of each vector, uint32, counted from the first offset · vectors
//   vector  exponent · factor · number of exceptions uint16 · frame of reference · width ·
//           deltas · positions of the exceptions, uint16 each · values of the exceptions
//
// ALP is in preview in Parquet, but this layout is frozen for this library (rule AL8 of FORMAT.md),
// and automatic choice may choose it.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of ALP, for floats and doubles.
//
// Pages have vectors of 1,024 values. The encoder searches for pairs of exponent and factor that
// fit the values: for the first page, and again for a page that takes clearly more bits per value
// than the page before it.
//
// The decoder reads vectors of any size. A vector is checked when it is read; damage in a vector
// that is not read is not reported.
struct AlpCodec : PageCodec<AlpCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetAlp;
  static constexpr std::string_view kName = "parquet-alp";
  static constexpr std::string_view kSuits = "few decimal digits";
  // Worst case: a vector that has only exceptions. It has a 2-byte position for each value, and 17
  // bytes (header and offset) for its 1,024 values.
  static constexpr uint32_t kWorstExtraBytesPerValue = 3;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 32;
  static constexpr ScanCost kScanCost{.number = 600, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kFloat || type == PhysicalType::kDouble;
  }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
