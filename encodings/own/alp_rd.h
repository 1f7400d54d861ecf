// ALP_RD: floats that are no short decimals, as offsets from up to eight bases, in vectors of 1,024
// values (cfile/FORMAT.md, Own data blocks).
//
//   block   an entry of the table for each vector · the vectors
//   entry   offset of the vector fixed32 · width of a code, 1 byte · width of an offset, 1 byte ·
//           shift, 1 byte · number of exceptions, 16 bits
//   vector  bases · packed numbers · positions of the exceptions · their high parts
//
// A number is a code, which is the index of a base, and an offset from this base. The bits of a
// value, as an integer, are the base + offset * 2^shift. So the first bits of values, which are
// similar, are stored once. This is the idea of ALP-RD ("ALP: Adaptive Lossless floating-Point
// Compression", Afroozeh, Kuffo and Boncz, SIGMOD 2023), with these differences: a vector has its
// own bases; a base may be any number; code and offset are packed together, so one or two loads,
// and one more for the base, are enough to read any single value; and last bits that are 0 in all
// values are not stored.
#pragma once

#include <cstdint>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/value_places.h"

namespace cfile::encodings {

// The encoder and decoder of ALP_RD, for floats and doubles. All bits of a value are preserved,
// also those of NaNs and of -0.
//
// A decoder checks the size of the table in Open, and reads and checks only the vectors that it
// needs. Gather and SeekToKey decode no vectors.
struct AlpRdCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kAlpRd;
  static constexpr std::string_view kName = "alp-rd";
  static constexpr std::string_view kSuits = "few first bits";
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kFloat || type == PhysicalType::kDouble;
  }
  // The worst case is a block of one vector that is packed with all bits of the type. Its entry
  // and its base take up to 17 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 1;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 24;
  static constexpr ScanCost kScanCost{.number = 50, .byte = 20};

  CFILE_CODEC_FUNCTIONS;
  static constexpr bool HasValuePlaces(PhysicalType type) { return Supports(type); }
  static absl::Status VisitValuePlaces(PhysicalType type, uint32_t type_length,
                                       const BlockView& block, uint32_t position, NeedBytes need);
};

}  // namespace cfile::encodings
