// RLE_DICTIONARY: codes of values. All blocks of a file share one dictionary, which has the values
// (cfile/FORMAT.md, Parquet's data blocks).
//
//   page              width of the codes in one byte, 0 to 32 · codes, RLE-hybrid without a length
//   dictionary block  count vint · Parquet's PLAIN page of that many values; code i is value i
//
// PLAIN_DICTIONARY is Parquet's older name for this encoding. It is read in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/block_codec.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/parquet/dictionary_page.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// The encoder and decoder of RLE_DICTIONARY, for all types. Codes are numbered in the order in
// which their values are first seen.
//
// A block has codes only if its page of codes, plus the values that it adds to the dictionary,
// takes fewer bytes than a PLAIN page, and if the dictionary stays within its limits. Otherwise the
// block adds no values to the dictionary and is a page of another encoding
// (EncodedBlock::encoding), as Parquet allows for each page: DELTA_BINARY_PACKED (integers) or
// DELTA_LENGTH_BYTE_ARRAY (BYTE_ARRAY) if that is smaller than PLAIN, skip table included; else
// PLAIN. The dictionary never costs more bytes than it saves.
//
// A decoder without a dictionary opens only pages without values.
struct ParquetDictionaryCodec : PageCodec<ParquetDictionaryCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetDictionary;
  static constexpr std::string_view kName = "parquet-dict";
  static constexpr std::string_view kSuits = "few distinct values";
  static constexpr Encoding kOlderNumber = Encoding::kParquetPlainDictionary;
  // No block is larger than its PLAIN page, which adds a length of 4 bytes to each value of
  // BYTE_ARRAY.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 1000, .string = 800, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType) { return true; }

  CFILE_PAGE_CODEC_FUNCTIONS;
  static absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
      PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values);
  static absl::Status CheckWithoutDictionary(BlockView& block);
};

}  // namespace cfile::encodings
