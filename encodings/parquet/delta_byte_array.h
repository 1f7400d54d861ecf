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
// writers and no larger. A prefix is stored if it is short or the page is large (see
// PutDeltaByteArrayPlaces).
// The table takes 24 bytes plus a stored prefix for every 1,024 values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/delta_length_byte_array.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// In a skip table: the prefix is not stored.
inline constexpr uint32_t kNoDeltaPrefix = UINT32_MAX;

// Appends the skip table of a page of DELTA_BYTE_ARRAY that has `page_size` bytes. `suffixes` and
// `data`: the offsets at the begin of the table. value_at(n) returns value n of the page; it is
// called with ascending numbers.
template <typename ValueAt>
void PutDeltaByteArrayPlaces(uint32_t suffixes, uint32_t data, size_t page_size,
                             std::span<const DeltaPlace<int32_t>> prefix_places,
                             std::span<const DeltaLengthPlace> suffix_places, ByteWriter& out,
                             const ValueAt& value_at) {
  // The table stores all prefixes of at most this many bytes. It stores longer prefixes while these
  // take at most a sixteenth of the page in total.
  constexpr size_t kShortPrefix = 64;
  out.PutFixed(suffixes);
  out.PutFixed(data);
  ByteWriter prefixes;
  size_t allowance = page_size / 16;
  for (size_t i = 0; i < suffix_places.size(); ++i) {
    const auto length = static_cast<size_t>(prefix_places[i].value);
    const bool stored = length <= kShortPrefix || length <= allowance;
    out.PutFixed(prefix_places[i].offset);
    out.PutFixed(prefix_places[i].value);
    PutPlace(suffix_places[i], out);
    out.PutFixed(stored ? static_cast<uint32_t>(prefixes.size()) : kNoDeltaPrefix);
    if (!stored) continue;
    prefixes.PutBytes(value_at((i + 1) * kSkipInterval).substr(0, length));
    if (length > kShortPrefix) allowance -= length;
  }
  out.PutBytes(prefixes.span());
}

// The encoder and decoder of DELTA_BYTE_ARRAY, for byte arrays of any length or of one fixed
// length. The decoder rebuilds values in its own buffer: a Read returns at most 1 MiB of values, or
// one value.
struct DeltaByteArrayCodec : PageCodec<DeltaByteArrayCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaByteArray;
  static constexpr std::string_view kName = "parquet-delta-bytes";
  // Each value has two lengths, see DeltaLengthByteArrayCodec.
  static constexpr uint32_t kWorstExtraBytesPerValue = 10;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 384;
  static constexpr ScanCost kScanCost{.string = 3600, .byte = 40, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return type == PhysicalType::kBytes || type == PhysicalType::kFixedBytes ||
           type == PhysicalType::kInt128;
  }

  template <typename P>
  static std::unique_ptr<PageEncoder<P>> MakePageEncoder(const EncoderOptions& options = {});
  template <typename P>
  static std::unique_ptr<BlockDecoder<P>> MakePageDecoder(const DecoderOptions& options = {});
  static absl::Status Describe(PhysicalType type, const DecoderOptions& options,
                               const BlockView& block, BlockDescription& description);
};

}  // namespace cfile::encodings
