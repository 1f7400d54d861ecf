// PLAIN: values as they lie in memory (cfile/FORMAT.md, Kudu's data blocks).
//
//   fixed width   count fixed32 · first ordinal fixed32 · values back to back
//   bool          the same, but the values are bits, least significant bit first
//   bytes         see plain_binary.h
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/value_places.h"

namespace cfile::encodings {

// The encoder and decoder of PLAIN, for all types. Borrow returns numbers in the block itself if
// they are aligned there. Views of bytes always point into the block.
struct PlainCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kPlain;
  static constexpr std::string_view kName = "plain";
  static constexpr std::string_view kSuits = "no other encoding saves much";
  // Worst case: PLAIN of bytes. Each value adds an offset (4 bytes and a quarter of a selector);
  // each block adds a header and the padding of the last group.
  static constexpr uint32_t kWorstExtraBytesPerValue = 5;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.string = 2300};
  static constexpr bool Supports(PhysicalType) { return true; }

  CFILE_CODEC_FUNCTIONS;
  static constexpr bool HasValuePlaces(PhysicalType type) { return type != PhysicalType::kBytes; }
  static absl::Status VisitValuePlaces(PhysicalType type, uint32_t type_length,
                                       const BlockView& block, uint32_t position, NeedBytes need);
};

}  // namespace cfile::encodings
