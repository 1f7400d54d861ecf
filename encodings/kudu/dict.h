// DICT: codes of byte strings; all blocks of a file share one dictionary (cfile/FORMAT.md, DICT):
//
//   block       1 fixed32 · BIT_SHUFFLE block of UINT32 codes
//               2 fixed32 · PLAIN block of the values, once the dictionary is full
//   dictionary  PLAIN block of its values, present even if there are none; code i is value i
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/block_description.h"
#include "encodings/core/codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile::encodings {

// The encoder and decoder of DICT. Available only if LZ4 is built in. Codes are in the order in
// which values first occur. The dictionary is full when its block exceeds block_size_bytes, or
// would exceed another limit of EncoderOptions. Views point into the dictionary or the block.
struct DictCodec : CodecDefaults {
  static constexpr Encoding kEncoding = Encoding::kDict;
  static constexpr std::string_view kName = "dict";
  static constexpr std::string_view kSuits = "few distinct values";
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBytes; }
  // Per value: a code, or the bytes that PLAIN adds to a value.
  static constexpr uint32_t kWorstExtraBytesPerValue = 5;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 192;
  static constexpr ScanCost kScanCost{.string = 1300, .decodes_to_search = true};
  static constexpr Automatic kAutomatic = Automatic::kNever;  // RLE_DICTIONARY is chosen instead

  CFILE_CODEC_FUNCTIONS;
  static absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
      PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values);
  static absl::Status CheckWithoutDictionary(BlockView& block);
};

}  // namespace cfile::encodings
