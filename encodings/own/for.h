// FOR: integers and bools as bit-packed differences from a reference, in vectors of 1,024 values
// (cfile/FORMAT.md, Own data blocks).
//
//   block   an entry of the table for each vector · the vectors
//   entry   offset of the vector fixed32 · width, 1 byte · form, 1 byte · number of exceptions,
//           16 bits · minimum · maximum
//   vector  form 0: packed differences from the reference · if there are exceptions: reference,
//           positions, values
//           form 1: packed differences between neighbours · first value · least difference
//
// In form 0, one or two loads are enough to read any single value (with exceptions, a binary search
// as well). In form 1, a value is the sum of all differences before it. The minimum and the maximum
// often decide whether the values of a vector match a predicate; if not, the packed differences are
// compared. Form 1 is for sorted values.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/value_places.h"

namespace cfile::encodings {

// The encoder and decoder of FOR.
//
// A decoder checks the size of the table in Open, and reads and checks only the vectors that it
// needs. Gather reads value by value. SeekToKey and ReadMatches do not decode a vector if its
// minimum and maximum are enough. Otherwise they decode vectors of form 1, and ReadMatches also
// vectors of fewer than 1,024 values.
struct ForCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kFor;
  static constexpr std::string_view kName = "for";
  static constexpr std::string_view kSuits = "a small range";
  static constexpr bool Supports(PhysicalType type) { return type <= PhysicalType::kUint64; }
  // The worst case is a block of one vector that is packed with all bits of the type. Its entry
  // takes up to 24 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 24;
  static constexpr ScanCost kScanCost{.number = 20, .byte = 10};

  CFILE_CODEC_FUNCTIONS;
  static constexpr bool HasValuePlaces(PhysicalType type) { return Supports(type); }
  static absl::Status VisitValuePlaces(PhysicalType type, uint32_t type_length,
                                       const BlockView& block, uint32_t position, NeedBytes need);
};

}  // namespace cfile::encodings
