// DELTA_BINARY_PACKED: integers as differences from their predecessors, bit-packed
// (cfile/FORMAT.md, Parquet's data blocks).
//
//   page      := block size vint, miniblocks of a block vint, count vint, first value zigzag vint,
//                blocks
//   block     := least delta zigzag vint, width of each miniblock (1 byte each), miniblocks
//   miniblock := block size / miniblocks deltas less the least, bit-packed
//
// Blocks hold the values from the second on. The last miniblock needed is filled up; those behind
// it have a width and no bytes. All arithmetic wraps around.
//
// Skip table (empty up to 1,024 values): for each value 1024, 2048, ...
//   offset in the page of the block that the next value is in (fixed32), the value (4 or 8 bytes)
// Only pages whose block size divides 1,024 have one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "encodings/block_codec.h"
#include "encodings/bytes.h"
#include "encodings/delta_kernels.h"
#include "encodings/encoding.h"
#include "encodings/page_codec.h"
#include "encodings/physical_type.h"
#include "encodings/status.h"

namespace cfile::encodings {

// What a reader takes for a block.
enum class DeltaBlocks {
  kStrict,   // multiples of 128 values in miniblocks of multiples of 32, as Parquet has it
  kLenient,  // miniblocks of any multiple of 8, as the examples of Parquet's early documents
};

// How a writer cuts blocks.
struct DeltaBlockShape {
  uint32_t block_size = 128;  // a multiple of 8 * miniblocks (strictly: of 128 and 32 * miniblocks)
  uint32_t miniblocks = 4;
};
// As Arrow cuts them.
template <typename T>
inline constexpr DeltaBlockShape kDeltaBlockShape = {sizeof(T) == 8 ? 256u : 128u, 4};

// Where a reader may begin: at value (i + 1) * kSkipInterval for place i.
template <typename T>
struct DeltaPlace {
  uint32_t offset;  // of the block with the next value, in the stream
  T value;
};

// Bytes of a place in a skip table, and the places of so many values.
template <typename T>
inline constexpr size_t kDeltaPlaceBytes = sizeof(uint32_t) + sizeof(T);
template <typename T>
DeltaPlace<T> LoadDeltaPlace(const uint8_t* p) {
  return {LoadLittleEndian<uint32_t>(p), LoadLittleEndian<T>(p + sizeof(uint32_t))};
}
constexpr uint32_t SkipPlaces(uint32_t count) {
  return count == 0 ? 0 : (count - 1) / kSkipInterval;
}

// Appends the stream of `values` to `out`, and the places of its values to `places` unless that is
// nullptr. T is int32_t or int64_t. Precondition for places: the block size divides kSkipInterval.
template <typename T>
void EncodeDeltaBinaryPacked(std::span<const T> values, const DeltaBlockShape& shape,
                             ByteWriter& out, std::vector<DeltaPlace<T>>* places);

// Reads a stream forwards in any steps. T is int32_t or int64_t. Allocates nothing.
//
// After an error, Rewind or Restore come before any further Read.
template <typename T>
class DeltaBinaryPackedReader {
 public:
  // `bytes` begin with the stream, must say `count`, and outlive the reader. No values may have no
  // bytes.
  absl::Status Open(std::span<const uint8_t> bytes, uint32_t count, DeltaBlocks blocks);

  uint32_t count() const { return count_; }
  uint32_t position() const { return position_; }
  uint32_t block_size() const { return block_size_; }
  // Bytes up to the end of the last miniblock begun: at the last value, all of the stream.
  size_t offset() const { return offset_; }

  // The next out.size() values. Precondition: so many are left.
  absl::Status Read(std::span<T> out);
  // Precondition: `count` values are left.
  absl::Status Skip(uint32_t count);

  // Values that take no bytes: the next ones, each `step` more than the one before it, the first of
  // them than `last`.
  struct Run {
    uint32_t count = 0;
    T last = 0;
    T step = 0;
  };
  // Up to `max` of the next values; none where they are not known to be such, or before a boundary
  // of groups, which Read reaches with ahead() values.
  Run NextRun(uint32_t max) const;
  uint32_t ahead() const { return static_cast<uint32_t>(kDeltaGroup - group_next_); }
  // Passes a run that NextRun returned, in no time.
  void Pass(const Run& run);

  // To the first value; to the one of a place of its number, as a skip table has it.
  void Rewind();
  absl::Status Restore(uint32_t number, const DeltaPlace<T>& place);

  // Bytes that the stream takes, found from its blocks' headers without unpacking.
  absl::StatusOr<size_t> FindEnd() const;

 private:
  absl::Status BeginBlock();
  absl::Status BeginMiniblock();
  void BeginAt(uint32_t position, size_t offset, T value);
  void Decode(size_t groups, T* out);
  size_t DecodeWholeBlock(std::span<T> out);

  std::span<const uint8_t> bytes_;
  uint32_t count_ = 0;
  uint32_t block_size_ = 0;
  uint32_t miniblocks_ = 0;
  uint32_t miniblock_size_ = 0;
  size_t header_size_ = 0;
  T first_ = 0;

  uint32_t position_ = 0;
  T last_ = 0;         // the last value decoded
  size_t offset_ = 0;  // of what follows the current miniblock
  const uint8_t* widths_ = nullptr;
  uint32_t miniblock_ = 0;  // the next of the block
  T min_delta_ = 0;
  size_t packed_ = 0;  // offset of the next group of the miniblock
  int width_ = 0;
  uint32_t left_ = 0;  // values in the miniblock
  // Values decoded that nobody has read yet: group_[group_next_] on.
  T group_[kDeltaGroup] = {};
  size_t group_next_ = kDeltaGroup;
};

// Brings a reader of a stream to `position`: from where it is, unless `must_rewind`, or from one of
// the `places` of a skip table, which load(bytes) gets from `place_bytes` each; no places: no
// table.
template <typename Reader, typename Load>
absl::Status SeekWithPlaces(Reader& reader, bool must_rewind, uint32_t position,
                            std::span<const uint8_t> places, size_t place_bytes, Load load) {
  // Places are those of values 1024, 2048, ...: number 0 to places - 1.
  const size_t place = std::min<size_t>(position / kSkipInterval, places.size() / place_bytes);
  if (must_rewind || reader.position() > position || reader.position() < place * kSkipInterval) {
    if (place == 0) {
      reader.Rewind();
    } else {
      const size_t number = place - 1;
      CFILE_RETURN_IF_ERROR(reader.Restore(static_cast<uint32_t>(number),
                                           load(places.data() + number * place_bytes)));
    }
  }
  return reader.Skip(position - reader.position());
}

// A decoder of pages of int32_t or int64_t.
template <typename T>
std::unique_ptr<BlockDecoder<T>> MakeDeltaBinaryPackedDecoder(
    DeltaBlocks blocks = DeltaBlocks::kStrict);
template <typename T>
std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder(
    const DeltaBlockShape& shape = kDeltaBlockShape<T>, bool skip_tables = true);

struct DeltaBinaryPackedCodec {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaBinaryPacked;
  static constexpr std::string_view kName = "parquet-delta";
  // Narrow integers become 32-bit ones, whose deltas take 2 bits more than a value; a block's
  // header is 8 bytes and less than a bit a value more. The last miniblock, of 64 values of up to 8
  // bytes, is filled up.
  static constexpr uint32_t kWorstExtraBytesPerValue = 2;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 576;
  static constexpr ScanCost kScanCost{.number = 500, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kUint64;
  }

  template <typename T>
  static std::unique_ptr<BlockEncoder<T>> MakeEncoder(PhysicalType /*type*/,
                                                      const EncoderOptions& options) {
    using P = PageType<T>;
    return MakePageBlockEncoder<T>(
        MakeDeltaBinaryPackedEncoder<P>(kDeltaBlockShape<P>, options.skip_tables), options);
  }
  template <typename T>
  static std::unique_ptr<BlockDecoder<T>> MakeDecoder(PhysicalType /*type*/,
                                                      const DecoderOptions& /*options*/) {
    return MakePageBlockDecoder<T>(MakeDeltaBinaryPackedDecoder<PageType<T>>());
  }
};

}  // namespace cfile::encodings
