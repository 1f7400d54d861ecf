// DELTA_BYTE_ARRAY: each value as the length of what it shares with the front of its predecessor,
// and the rest (cfile/FORMAT.md, Parquet's data blocks).
//
//   page := prefix lengths as DELTA_BINARY_PACKED, suffixes as DELTA_LENGTH_BYTE_ARRAY
//
// Skip table (empty up to 1,024 values):
//   offset of the suffixes in the page, offset of the data in the suffixes (fixed32 each), then for
//   each value 1024, 2048, ...
//     the place of its prefix length (8 bytes, see delta_binary_packed.h), the place of its suffix
//     (12 bytes, see delta_length_byte_array.h), offset of its prefix in the prefixes (fixed32, or
//     0xffffffff: it is not there, a reader must begin at an earlier place)
//   then those prefixes back to back.
// The first value shares nothing: pages that share with the last value of the page before, as a bug
// of early writers made them (PARQUET-246), are refused. So a page stays as any other writer makes
// it, and no longer. A prefix is there if it is short or the page is large (see kShortPrefix): 24
// bytes and it for every 1,024 values.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "encodings/block_codec.h"
#include "encodings/encoding.h"
#include "encodings/page_codec.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

// In a skip table: the prefix is not there.
inline constexpr uint32_t kNoDeltaPrefix = UINT32_MAX;

// DELTA_BYTE_ARRAY of byte arrays of any or of one length. Values are rebuilt in the decoder's
// buffer: a Read yields at most 1 MiB of them, or one.
struct DeltaByteArrayCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaByteArray;
  static constexpr std::string_view kName = "parquet-delta-bytes";
  // Two lengths, see DeltaLengthByteArrayCodec.
  static constexpr uint32_t kWorstExtraBytesPerValue = 10;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 384;
  static constexpr ScanCost kScanCost{.string = 3600, .byte = 40, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kBytes || type == PhysicalType::kFixedBytes ||
           type == PhysicalType::kInt128;
  }

  static std::unique_ptr<PageEncoder<std::string_view>> MakePageEncoder(bool skip_tables = true);
  // type_length: of FIXED_LEN_BYTE_ARRAY, else 0.
  static std::unique_ptr<BlockDecoder<std::string_view>> MakePageDecoder(uint32_t type_length);
  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType /*type*/,
                                                      const EncoderOptions& options) {
    return MakePageBlockEncoder<T>(MakePageEncoder(options.skip_tables), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType type,
                                                      const DecoderOptions& options) {
    const uint32_t length = type == PhysicalType::kBytes ? 0 : options.type_length;
    return MakePageBlockDecoder<T>(MakePageDecoder(PageTypeLength<T>(length)));
  }
};

}  // namespace cfile::encodings
