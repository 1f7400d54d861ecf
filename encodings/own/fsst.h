// FSST: strings whose bytes are codes of a symbol table that all blocks of a file share
// (cfile/FORMAT.md, FSST). A block has one of two forms. In form 1, for sorted values, groups of 64
// values are front-coded, and decoding can begin at each group. In form 2 each value is compressed
// by itself, so that one value can be decoded, or compared for equality, without the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// The encoder makes the table from a sample of the first block whose values have more bytes than
// their common prefix, and keeps it. The table keeps the limits that EncoderOptions has for
// dictionaries, with symbols as values. If the codes of a group would take as many bytes as its
// text, the group has the text. Blocks whose values ascend, or that have a value of more than
// 1 MiB, have form 1. Other blocks have form 1 if, by an estimate from some groups, front coding
// saves more than a twentieth of their bytes, if their text is at least twice as long in form 2, or
// if form 2 exceeds the limit of a block. A decoder keeps about 1 MiB for the values of one Read.
// If the values would take more, Read returns fewer values.
struct FsstCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kFsst;
  static constexpr std::string_view kName = "fsst";
  static constexpr std::string_view kSuits = "the same short texts occur often";
  static constexpr bool kFrontCodes = true;
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBytes; }
  // Per value: two packed sizes of 32 bits, and its share of the group's offset and header. Per
  // block: form, size of the prefix, and one more group.
  static constexpr uint32_t kWorstExtraBytesPerValue = 9;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 6 + 21;
  // The cost of form 1. Form 2 costs up to three times as much, but is taken only for Goal::kSize,
  // whose limit of speed is low.
  static constexpr ScanCost kScanCost{.string = 4000, .byte = 60};
  static constexpr Automatic kAutomatic = Automatic::kForSizeAndSearches;
  static constexpr bool kHasCodes = false;  // the dictionary consists of symbols, not of values

  CFILE_CODEC_FUNCTIONS;
  static absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
      PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values);
  static absl::Status CheckWithoutDictionary(BlockView& block);
};

}  // namespace cfile::encodings
