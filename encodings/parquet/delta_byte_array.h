// DELTA_BYTE_ARRAY: each value as the length of the prefix that it shares with the value before it,
// and the remaining suffix (cfile/FORMAT.md, Parquet's data blocks).
//
//   page := prefix lengths as DELTA_BINARY_PACKED, suffixes as DELTA_LENGTH_BYTE_ARRAY
//
// Skip table (empty for up to 1,024 values):
//   offset of the suffixes in the page, offset of the data in the suffixes (fixed32 each), then for
//   each value 1024, 2048, ...
//     the place of its prefix length (8 bytes, see delta_binary_packed.h), the place of its suffix
//     (12 bytes, see delta_length_byte_array.h), offset of its prefix in the stored prefixes
//     (fixed32; 0xffffffff: not stored, a reader must begin at an earlier place)
//   then the stored prefixes back to back.
//
// The first value has no prefix. Early Parquet writers had a bug (PARQUET-246): the first value of
// a page shared a prefix with the last value of the page before. Such pages are refused.
//
// The prefixes are stored in the skip table, not in the page: pages are compatible with other
// writers and no larger. A prefix is stored if it is short or the page is large
// (delta_byte_array_places.h). The table takes 24 bytes plus a stored prefix for every 1,024
// values.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of DELTA_BYTE_ARRAY, for byte arrays of any length or of one fixed
// length. The decoder rebuilds values in its own buffer: a Read returns at most 1 MiB of values, or
// one value.
struct DeltaByteArrayCodec : PageCodec<DeltaByteArrayCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaByteArray;
  static constexpr std::string_view kName = "parquet-delta-bytes";
  static constexpr std::string_view kSuits = "neighbours begin alike";
  // Each value has two lengths, see DeltaLengthByteArrayCodec.
  static constexpr uint32_t kWorstExtraBytesPerValue = 10;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 384;
  static constexpr ScanCost kScanCost{
      .string = 3600, .byte = 40, .decodes_to_search = true, .decodes_to_read = true};
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kBytes || type == PhysicalType::kFixedBytes ||
           type == PhysicalType::kInt128;
  }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
