// DELTA_BINARY_PACKED: integers as bit-packed differences from their predecessors (cfile/FORMAT.md,
// Parquet's data blocks).
//
//   page      := block size vint, miniblocks of a block vint, count vint, first value zigzag vint,
//                blocks
//   block     := least delta zigzag vint, width of each miniblock (1 byte each), miniblocks
//   miniblock := (block size / miniblocks) deltas, each minus the least delta, bit-packed
//
// Blocks hold the values from the second one on. The last miniblock with values is padded;
// miniblocks after it have a width but no bytes. All arithmetic wraps around.
//
// Skip table (empty for up to 1,024 values): for each value 1024, 2048, ...
//   offset in the page of the block that holds the next value (fixed32), the value (4 or 8 bytes)
// Only pages whose block size divides 1,024 have a skip table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "encodings/core/block_codec.h"
#include "encodings/core/block_description.h"
#include "encodings/core/bytes.h"
#include "encodings/core/encoding.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"
#include "encodings/kernels/delta_kernels.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::encodings {

// Which block sizes a reader accepts.
enum class DeltaBlocks {
  kStrict,   // block size a multiple of 128, miniblock size a multiple of 32, as in Parquet
  kLenient,  // miniblock size any multiple of 8, as in early documents of Parquet
};

// How a writer divides values into blocks and miniblocks.
struct DeltaBlockShape {
  uint32_t block_size = 128;  // a multiple of 8 * miniblocks (kStrict: of 128 and 32 * miniblocks)
  uint32_t miniblocks = 4;
};
// The shape that Arrow uses.
template <typename T>
inline constexpr DeltaBlockShape kDeltaBlockShape = {sizeof(T) == 8 ? 256u : 128u, 4};

// A place where a reader can begin. Place i is value (i + 1) * kSkipInterval.
template <typename T>
struct DeltaPlace {
  uint32_t offset;  // in the stream, of the block that holds the next value
  T value;
};

// The size of a place in a skip table, and the number of places of a page of `count` values.
template <typename T>
inline constexpr size_t kDeltaPlaceBytes = sizeof(uint32_t) + sizeof(T);
template <typename T>
DeltaPlace<T> LoadDeltaPlace(const uint8_t* p) {
  return {LoadLittleEndian<uint32_t>(p), LoadLittleEndian<T>(p + sizeof(uint32_t))};
}
constexpr uint32_t SkipPlaces(uint32_t count) {
  return count == 0 ? 0 : (count - 1) / kSkipInterval;
}

// Appends the stream of `values` to `out`, and its places to `places` unless that is nullptr. T is
// int32_t or int64_t. Precondition for places: the block size divides kSkipInterval.
template <typename T>
void EncodeDeltaBinaryPacked(std::span<const T> values, const DeltaBlockShape& shape,
                             ByteWriter& out, std::vector<DeltaPlace<T>>* places);

// Reads a stream of int32_t or int64_t forwards in steps of any size, without allocating.
//
// After an error, call Rewind or Restore before any other read.
template <typename T>
class DeltaBinaryPackedReader {
 public:
  // Opens the stream at the front of `bytes`, which must outlive the reader. kDataLoss if the
  // stream's header is damaged or its count is not `count`. A stream of no values may have no
  // bytes.
  absl::Status Open(std::span<const uint8_t> bytes, uint32_t count, DeltaBlocks blocks);

  uint32_t count() const { return count_; }
  uint32_t position() const { return position_; }
  uint32_t block_size() const { return block_size_; }
  // Offset of the end of the miniblock read last. After the last value, this is the size of the
  // stream.
  size_t offset() const { return offset_; }

  // Reads the next out.size() values. Precondition: that many values are left.
  absl::Status Read(std::span<T> out);
  // Skips `count` values. Precondition: that many values are left.
  absl::Status Skip(uint32_t count);

  // A run of the next values, which take no bytes (width 0): each value is `step` more than the
  // value before it. `last` is the value before the run.
  struct Run {
    uint32_t count = 0;
    T last = 0;
    T step = 0;
  };
  // Returns a run of up to `max` of the next values. Its count is 0 if the next values are not
  // known to be such a run, or if the position is not at a boundary of groups; reading ahead()
  // values leads to the next boundary.
  Run NextRun(uint32_t max) const;
  uint32_t ahead() const { return static_cast<uint32_t>(kDeltaGroup - group_next_); }
  // Skips a run that NextRun returned, in constant time.
  void Pass(const Run& run);

  // Rewind goes to the first value, Restore to the value of place `number` of a skip table.
  void Rewind();
  absl::Status Restore(uint32_t number, const DeltaPlace<T>& place);

  // Finds the size of the stream in bytes from the headers of its blocks, without unpacking them.
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
  size_t offset_ = 0;  // of the end of the current miniblock
  const uint8_t* widths_ = nullptr;
  uint32_t miniblock_ = 0;  // index of the next miniblock in the block
  T min_delta_ = 0;
  size_t packed_ = 0;  // offset of the next packed group of the miniblock
  int width_ = 0;
  uint32_t left_ = 0;  // values of the miniblock not unpacked yet
  // Values decoded but not read yet: group_[group_next_] and the values after it.
  T group_[kDeltaGroup] = {};
  size_t group_next_ = kDeltaGroup;
};

// Moves `reader` to `position`. It begins at the nearest of these places before `position`: the
// reader's current position (unless `must_rewind`), the first value, and the `places` of a skip
// table. `places` is empty if there is no table. `place_bytes` is the size of a place, and
// load(bytes) reads a place.
template <typename Reader, typename Load>
absl::Status SeekWithPlaces(Reader& reader, bool must_rewind, uint32_t position,
                            std::span<const uint8_t> places, size_t place_bytes, Load load) {
  // Place `number` (0, 1, ...) is value (number + 1) * kSkipInterval.
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

// Return a new decoder or encoder of pages of int32_t or int64_t. `piece_bytes`: as in
// EncoderOptions. Only pages with a skip table have pieces.
template <typename T>
std::unique_ptr<BlockDecoder<T>> MakeDeltaBinaryPackedDecoder(
    DeltaBlocks blocks = DeltaBlocks::kStrict);
template <typename T>
std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder(
    const DeltaBlockShape& shape = kDeltaBlockShape<T>, bool skip_tables = true,
    size_t piece_bytes = 0);

// Describes the stream of `count` values at the front of the bytes that `description` has left: the
// numbers of its header, then for each block the minimum delta, the bit widths, and the packed
// bytes of each miniblock. When the description becomes full, adds the remaining blocks as one
// field with the name `blocks`. kDataLoss: the stream is damaged. T is int32_t or int64_t.
template <typename T>
absl::Status DescribeDeltaBinaryPacked(uint32_t count, std::string_view blocks,
                                       BlockDescription& description);

// The encoder and decoder of DELTA_BINARY_PACKED, for integers of at most 64 bits.
struct DeltaBinaryPackedCodec : PageCodec<DeltaBinaryPackedCodec> {
  static constexpr Encoding kEncoding = Encoding::kParquetDeltaBinaryPacked;
  static constexpr std::string_view kName = "parquet-delta";
  static constexpr std::string_view kSuits = "small differences";
  // Per value: the deltas of narrow integers take at most 2 bits more than a value, and the headers
  // of blocks less than 1 bit. Per block: the header of the page, and the padding of the last
  // miniblock, of 64 values of up to 8 bytes.
  static constexpr uint32_t kWorstExtraBytesPerValue = 2;
  static constexpr uint32_t kWorstExtraBytesPerBlock = 576;
  static constexpr ScanCost kScanCost{.number = 500, .decodes_to_search = true};
  static constexpr bool Supports(PhysicalType type) {
    return PhysicalType::kInt8 <= type && type <= PhysicalType::kUint64;
  }

  template <typename P>
  static std::unique_ptr<PageEncoder<P>> MakePageEncoder(const EncoderOptions& options = {}) {
    return MakeDeltaBinaryPackedEncoder<P>(kDeltaBlockShape<P>, options.skip_tables,
                                           options.piece_bytes);
  }
  template <typename P>
  static std::unique_ptr<BlockDecoder<P>> MakePageDecoder(const DecoderOptions& /*options*/ = {}) {
    return MakeDeltaBinaryPackedDecoder<P>();
  }
  static absl::Status Describe(PhysicalType type, const DecoderOptions& options,
                               const BlockView& block, BlockDescription& description);
};

}  // namespace cfile::encodings
