// RLE_DICTIONARY: codes of values that all blocks of a file share (cfile/FORMAT.md, Parquet's data
// blocks).
//
//   page              width of the codes, 0 to 32 · codes, RLE-hybrid without a length
//   dictionary block  count vint · Parquet's PLAIN page of that many values; code i is value i
//
// PLAIN_DICTIONARY, Parquet's older name for it, is read as the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/page_codec.h"
#include "encodings/physical_type.h"
#include "encodings/status.h"

namespace cfile::encodings {

// P is one of Parquet's value types (page_codec.h). Codes are in first-seen order. A block that
// takes no fewer bytes with codes than in a PLAIN page, the values counted that it adds to the
// dictionary, adds none and is a page of another encoding (EncodedBlock::encoding), as Parquet
// allows for each page: DELTA_BINARY_PACKED of integers and DELTA_LENGTH_BYTE_ARRAY of BYTE_ARRAY,
// where that is smaller, skip table included, else PLAIN. So the dictionary never costs more than
// it saves. A block that would make the dictionary larger than its limits allow has no codes
// either. Of the options, type_length (of FIXED_LEN_BYTE_ARRAY, else 0), max_dictionary_bytes,
// max_dictionary_values and skip_tables count.
template <typename P>
std::unique_ptr<PageEncoder<P>> MakeParquetDictionaryEncoder(const EncoderOptions& options);

// `dictionary`: of values of P, by one of the functions below; may be null for pages of no values.
template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeParquetDictionaryDecoder(
    std::shared_ptr<const Dictionary> dictionary);

// For Parquet readers: the dictionary in a file's dictionary page of `count` values, for columns
// whose values have the C++ type `type` of ours. All values are decoded, copied from `page`.
// kDataLoss: it is damaged; so it is with bytes behind the last value, which a PLAIN data page may
// have. kOutOfRange: it has more than `max_values`. Precondition: type_length > 0 for kFixedBytes.
absl::StatusOr<std::shared_ptr<const Dictionary>> ReadParquetDictionaryPage(
    PhysicalType type, uint32_t type_length, uint64_t count, std::span<const uint8_t> page,
    size_t max_values = kMaxDictionaryValues);

struct ParquetDictionaryCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetDictionary;
  static constexpr std::string_view kName = "parquet-dict";
  // No block is larger than its PLAIN page: a length before each value of BYTE_ARRAY.
  static constexpr uint32_t kWorstExtraBytesPerValue = 4;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 16;
  static constexpr ScanCost kScanCost{.number = 1000, .string = 800, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType) { return true; }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType, const EncoderOptions& options) {
    EncoderOptions of_page = options;
    of_page.type_length = PageTypeLength<T>(options.type_length);
    return MakePageBlockEncoder<T>(MakeParquetDictionaryEncoder<PageType<T>>(of_page), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType, const DecoderOptions& options) {
    return MakePageBlockDecoder<T>(MakeParquetDictionaryDecoder<PageType<T>>(options.dictionary));
  }
  static absl::StatusOr<std::shared_ptr<const Dictionary>> LoadDictionary(
      PhysicalType type, uint32_t type_length, std::span<const uint8_t> bytes, size_t max_values);
};

}  // namespace cfile::encodings
