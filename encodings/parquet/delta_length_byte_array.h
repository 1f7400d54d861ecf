// DELTA_LENGTH_BYTE_ARRAY: all lengths as DELTA_BINARY_PACKED, then the bytes of all values (the
// data) back to back (cfile/FORMAT.md, Parquet's data blocks).
//
// Skip table (empty for up to 1,024 values):
//   offset of the data in the page (fixed32), then for each value 1024, 2048, ...
//     the place of its length (8 bytes, see delta_binary_packed.h), offset of its bytes in the data
//     (fixed32)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/parquet/delta_binary_packed.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// A place where a reader of a stream can begin.
struct DeltaLengthPlace {
  DeltaPlace<int32_t> length;
  uint32_t data;  // offset of the value's bytes in the data
};
inline constexpr size_t kDeltaLengthPlaceBytes = kDeltaPlaceBytes<int32_t> + sizeof(uint32_t);
void PutPlace(const DeltaLengthPlace& place, ByteWriter& out);
DeltaLengthPlace LoadDeltaLengthPlace(const uint8_t* p);

// Appends the stream of `values` to `out`, and its places to `places` unless that is nullptr.
// Returns the offset of the data in the stream. Preconditions: each value and the stream are
// shorter than 2^31 bytes; values[i] is a substring of owners[i]. `owners` may be `values`.
uint32_t EncodeDeltaLengthByteArray(std::span<const std::string_view> values,
                                    std::span<const std::string_view> owners, ByteWriter& out,
                                    std::vector<DeltaLengthPlace>* places);

// Reads a stream forwards, without allocating. After an error, call Rewind or Restore before any
// other read.
class DeltaLengthReader {
 public:
  // Opens the stream at the front of `bytes`, which must outlive the reader. data_offset is the
  // offset of the data from a skip table; 0 if unknown. kDataLoss if the stream's header is damaged
  // or its count is not `count`.
  absl::Status Open(std::span<const uint8_t> bytes, uint32_t count, size_t data_offset);

  uint32_t count() const { return lengths_.count(); }
  uint32_t position() const { return lengths_.position(); }

  // Reads the next lengths.size() lengths and points `data` to the values' bytes, which lie back to
  // back. kDataLoss if some of these bytes are missing. Precondition: that many values are left.
  absl::Status Read(std::span<int32_t> lengths, const uint8_t*& data);
  absl::Status Skip(uint32_t count);
  // Returns a run of the next lengths (see DeltaBinaryPackedReader::NextRun). To move past it, call
  // Skip.
  DeltaBinaryPackedReader<int32_t>::Run NextRun(uint32_t max) const {
    return lengths_.NextRun(max);
  }

  void Rewind();
  absl::Status Restore(uint32_t number, const DeltaLengthPlace& place);

 private:
  // Moves past the `bytes` bytes of data that belong to the values [first, position()).
  absl::Status PassData(uint32_t first, uint64_t bytes);

  DeltaBinaryPackedReader<int32_t> lengths_;
  std::span<const uint8_t> data_;
  size_t data_offset_ = 0;
  size_t next_ = 0;  // offset in data_
};

// The encoder and decoder of DELTA_LENGTH_BYTE_ARRAY, for byte strings of any length.
struct DeltaLengthByteArrayCodec : PageCodec<DeltaLengthByteArrayCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaLengthByteArray;
  static constexpr std::string_view kName = "parquet-delta-length";
  static constexpr std::string_view kSuits = "lengths apart from the text";
  // A length takes at most 33 bits, plus its share of the header of its block.
  static constexpr uint32_t kWorstExtraBytesPerValue = 5;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 192;
  static constexpr ScanCost kScanCost{.string = 1300, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) { return type == PhysicalType::kBytes; }

  CFILE_PAGE_CODEC_FUNCTIONS;
};

}  // namespace cfile::encodings
