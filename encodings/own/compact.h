// COMPACT: numbers that are read rarely, in as few bytes as possible (cfile/FORMAT.md, Own data
// blocks).
//
//   block   transformation, 1 byte · log of the number of states, 1 byte · number of bins - 1,
//           1 byte · decimals, 1 byte · slope · factor and addend · the bins ·
//           the offset of each page, fixed32 · the pages
//   bin     lower bound · width, 1 byte · weight, 16 bits
//   page    sums · number of exceptions, 16 bits · size of the codes, 16 bits · codes of the bins ·
//           packed offsets in the bins · exceptions: positions, values
//
// A transformation (compact_layout.h) turns the values into smaller numbers. The numbers are
// divided into bins. A number is stored as a code for its bin (kernels/ans.h) and its offset in the
// bin. A page has 1,024 values, and can be decoded without the other pages. Not all blocks have all
// of these fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// The encoder and decoder of COMPACT. Open checks the bytes before the pages; a page is checked
// when it is decoded, always as a whole. If only a part of a page is read, the decoder keeps the
// values of this page for the next reads.
struct CompactCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kCompact;
  static constexpr std::string_view kName = "compact";
  static constexpr std::string_view kSuits = "some numbers are frequent";
  static constexpr bool Supports(PhysicalType type) {
    return (type >= PhysicalType::kInt8 && type <= PhysicalType::kUint64) ||
           type == PhysicalType::kFloat || type == PhysicalType::kDouble;
  }
  // The worst case is a block of one page and one bin with all numbers of the type.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 24;
  static constexpr ScanCost kScanCost{
      .number = 1000, .decodes_to_search = true, .decodes_to_read = true};
  static constexpr Automatic kAutomatic = Automatic::kForSize;

  CFILE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
