#include "encodings/parquet/delta_binary_packed.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>

#include "encodings/core/assert.h"

namespace cfile::encodings {
namespace {

// Reads a zigzag vint. Returns false if it is truncated or does not fit in a T.
template <typename T>
bool ReadZigZag(ByteReader& reader, T& value) {
  uint64_t bits = 0;
  if constexpr (sizeof(T) == 4) {
    uint32_t narrow;
    if (!reader.ReadVint32(narrow)) return false;
    bits = narrow;
  } else {
    if (!reader.ReadVint64(bits)) return false;
  }
  value = static_cast<T>(ZigZagDecode(bits));
  return true;
}

}  // namespace

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::Open(std::span<const uint8_t> bytes, uint32_t count,
                                              DeltaBlocks blocks) {
  if (count == 0 && bytes.empty()) {
    *this = {};
    return absl::OkStatus();
  }
  ByteReader reader(bytes);
  uint32_t found;
  if (!reader.ReadVint32(block_size_) || !reader.ReadVint32(miniblocks_) ||
      !reader.ReadVint32(found) || !ReadZigZag(reader, first_)) {
    return DataLoss("the delta header is cut off or out of range at byte ", reader.offset(), " of ",
                    bytes.size());
  }
  const bool strict = blocks == DeltaBlocks::kStrict;
  if (block_size_ == 0 || block_size_ > INT32_MAX || (strict && block_size_ % 128 != 0))
    return DataLoss("the delta block size is ", block_size_, ", expected ",
                    strict ? "a multiple of 128 up to 2^31 - 1" : "1 to 2^31 - 1");
  if (miniblocks_ == 0 || block_size_ % miniblocks_ != 0)
    return DataLoss("delta blocks of ", block_size_, " values cannot have ", miniblocks_,
                    " miniblocks");
  miniblock_size_ = block_size_ / miniblocks_;
  if (miniblock_size_ % (strict ? 32 : 8) != 0)
    return DataLoss("delta miniblocks have ", miniblock_size_, " values, expected a multiple of ",
                    strict ? 32 : 8);
  if (found != count) return DataLoss("the delta header says ", found, " values, expected ", count);
  bytes_ = bytes;
  count_ = count;
  header_size_ = reader.offset();
  Rewind();
  return absl::OkStatus();
}

template <typename T>
void DeltaBinaryPackedReader<T>::BeginAt(uint32_t position, size_t offset, T value) {
  position_ = position;
  offset_ = offset;
  miniblock_ = miniblocks_;
  left_ = 0;
  last_ = group_[kDeltaGroup - 1] = value;
  group_next_ = kDeltaGroup - 1;
}

template <typename T>
void DeltaBinaryPackedReader<T>::Rewind() {
  BeginAt(0, header_size_, first_);
}

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::Restore(uint32_t number, const DeltaPlace<T>& place) {
  CFILE_ASSERT(number < SkipPlaces(count_));
  if (place.offset < header_size_ || place.offset > bytes_.size()) {
    return DataLoss("skip table: place ", number, " is at byte ", place.offset, ", expected ",
                    header_size_, " to ", bytes_.size());
  }
  BeginAt((number + 1) * kSkipInterval, place.offset, place.value);
  return absl::OkStatus();
}

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::BeginBlock() {
  ByteReader reader(bytes_.subspan(offset_));
  std::span<const uint8_t> widths;
  if (!ReadZigZag(reader, min_delta_))
    return DataLoss("the minimum delta is cut off or out of range at byte ", offset_);
  if (!reader.ReadBytes(miniblocks_, widths)) {
    return DataLoss("the delta block at byte ", offset_, " has ", reader.remaining(), " bytes for ",
                    miniblocks_, " bit widths");
  }
  widths_ = widths.data();
  offset_ += reader.offset();
  miniblock_ = 0;
  return absl::OkStatus();
}

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::BeginMiniblock() {
  if (miniblock_ == miniblocks_) CFILE_RETURN_IF_ERROR(BeginBlock());
  width_ = widths_[miniblock_++];
  if (width_ > static_cast<int>(8 * sizeof(T)))
    return DataLoss("the bit width of the delta miniblock at byte ", offset_, " is ", width_,
                    ", expected at most ", 8 * sizeof(T));
  const uint64_t size = uint64_t{miniblock_size_ / 8} * static_cast<uint64_t>(width_);
  if (size > bytes_.size() - offset_) {
    return DataLoss("the delta miniblock at byte ", offset_, " takes ", size, " bytes, found ",
                    bytes_.size() - offset_);
  }
  packed_ = offset_;
  offset_ += size;
  left_ = miniblock_size_;
  return absl::OkStatus();
}

template <typename T>
void DeltaBinaryPackedReader<T>::Decode(size_t groups, T* out) {
  const size_t width = static_cast<size_t>(width_);
  left_ -= static_cast<uint32_t>(groups * kDeltaGroup);
  if (width_ == 0) {  // there are no packed bytes: decode zeros
    static constexpr uint8_t kZeros[kDeltaReadAhead] = {};
    last_ = DecodeDeltas<T>(kZeros, kZeros, 1, groups, min_delta_, last_, out);
    return;
  }
  const size_t readable = bytes_.size() - packed_;
  size_t direct = groups;
  if (groups * width + kDeltaReadAhead > readable)
    direct = readable < kDeltaReadAhead ? 0 : (readable - kDeltaReadAhead) / width;
  const auto one = static_cast<uint8_t>(width_);
  last_ = DecodeDeltas<T>(bytes_.data() + packed_, &one, 1, direct, min_delta_, last_, out);
  packed_ += direct * width;
  for (size_t i = direct; i < groups; ++i, packed_ += width) {  // near the end: decode a copy
    uint8_t padded[8 * sizeof(T) + kDeltaReadAhead] = {};
    std::memcpy(padded, bytes_.data() + packed_, width);
    last_ = DecodeDeltas<T>(padded, &one, 1, 1, min_delta_, last_, out + i * kDeltaGroup);
  }
}

// Fast path: decodes the whole block that has just begun into the front of `out`. Returns the
// number of its values, or 0 if `out` is too short, the block is damaged or it is near the end of
// the bytes.
template <typename T>
size_t DeltaBinaryPackedReader<T>::DecodeWholeBlock(std::span<T> out) {
  if (out.size() < block_size_) return 0;
  uint64_t widths = 0;
  uint8_t widest = 0;
  for (uint32_t i = 0; i < miniblocks_; ++i) {
    widths += widths_[i];
    widest = std::max(widest, widths_[i]);
  }
  const uint64_t size = widths * (miniblock_size_ / kDeltaGroup);
  if (widest > 8 * sizeof(T) || size + kDeltaReadAhead > bytes_.size() - offset_) return 0;
  last_ = DecodeDeltas<T>(bytes_.data() + offset_, widths_, miniblocks_,
                          miniblock_size_ / kDeltaGroup, min_delta_, last_, out.data());
  offset_ += size;
  miniblock_ = miniblocks_;
  return block_size_;
}

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::Read(std::span<T> out) {
  CFILE_ASSERT(out.size() <= count_ - position_);
  while (!out.empty()) {
    size_t taken;
    if (group_next_ < kDeltaGroup) {
      taken = std::min(out.size(), kDeltaGroup - group_next_);
      std::copy_n(group_ + group_next_, taken, out.data());
      group_next_ += taken;
    } else {
      if (left_ == 0 && miniblock_ == miniblocks_) {
        CFILE_RETURN_IF_ERROR(BeginBlock());
        if (const size_t whole = DecodeWholeBlock(out); whole > 0) {
          position_ += static_cast<uint32_t>(whole);
          out = out.subspan(whole);
          continue;
        }
      }
      if (left_ == 0) CFILE_RETURN_IF_ERROR(BeginMiniblock());
      const size_t groups = std::min<size_t>(out.size(), left_) / kDeltaGroup;
      taken = groups * kDeltaGroup;
      if (groups > 0) {
        Decode(groups, out.data());
      } else {
        Decode(1, group_);
        group_next_ = 0;
      }
    }
    position_ += static_cast<uint32_t>(taken);
    out = out.subspan(taken);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status DeltaBinaryPackedReader<T>::Skip(uint32_t count) {
  T skipped[512];
  while (count > 0) {
    uint32_t passed;
    if (const Run run = NextRun(count); run.count > 0) {
      Pass(run);
      passed = run.count;
    } else {
      passed = std::min<uint32_t>(count, ahead() > 0 ? ahead() : std::size(skipped));
      CFILE_RETURN_IF_ERROR(Read({skipped, passed}));
    }
    count -= passed;
  }
  return absl::OkStatus();
}

template <typename T>
typename DeltaBinaryPackedReader<T>::Run DeltaBinaryPackedReader<T>::NextRun(uint32_t max) const {
  if (ahead() > 0 || left_ == 0 || width_ != 0) return {};
  const uint32_t count = std::min(max, left_);
  return {count - count % static_cast<uint32_t>(kDeltaGroup), last_, min_delta_};
}

template <typename T>
void DeltaBinaryPackedReader<T>::Pass(const Run& run) {
  using U = std::make_unsigned_t<T>;
  position_ += run.count;
  left_ -= run.count;
  last_ = static_cast<T>(static_cast<U>(run.last) + static_cast<U>(run.step) * U{run.count});
}

template <typename T>
absl::StatusOr<size_t> DeltaBinaryPackedReader<T>::FindEnd() const {
  DeltaBinaryPackedReader walk = *this;
  walk.Rewind();
  // The loop is bounded: each block takes bytes, and so does each width of a miniblock.
  for (uint32_t left = count_ == 0 ? 0 : count_ - 1; left > 0;
       left -= std::min(left, miniblock_size_)) {
    CFILE_RETURN_IF_ERROR(walk.BeginMiniblock());
  }
  return walk.offset_;
}

namespace {

template <typename T>
class DeltaPageDecoder final : public BlockDecoder<T> {
 public:
  explicit DeltaPageDecoder(DeltaBlocks blocks) : blocks_(blocks) {}

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    CFILE_RETURN_IF_ERROR(reader_.Open(block.bytes, block.count, blocks_));
    const size_t places = SkipPlaces(block.count);
    if (!block.skip_table.empty() && (block.skip_table.size() != places * kDeltaPlaceBytes<T> ||
                                      kSkipInterval % reader_.block_size() != 0)) {
      return DataLoss("a skip table of ", block.skip_table.size(), " bytes does not fit ", places,
                      " places and delta blocks of ", reader_.block_size(), " values");
    }
    table_ = block.skip_table;
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    must_reseek_ = false;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    CFILE_ASSERT(position <= this->count_);
    this->position_ = position;
    absl::Status status = SeekWithPlaces(reader_, must_reseek_, position, table_,
                                         kDeltaPlaceBytes<T>, LoadDeltaPlace<T>);
    must_reseek_ = !status.ok();
    return status;
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    if (must_reseek_) CFILE_RETURN_IF_ERROR(SeekTo(this->position_));
    const size_t read = this->Left(out.size());
    if (absl::Status status = reader_.Read(out.first(read)); !status.ok()) {
      must_reseek_ = true;
      return status;
    }
    this->position_ += static_cast<uint32_t>(read);
    return read;
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    return SeekToKeyByReading<T>(*this, key);
  }

 private:
  const DeltaBlocks blocks_;
  DeltaBinaryPackedReader<T> reader_;
  std::span<const uint8_t> table_;
  // True if the reader may have failed. It is then not at position_ and must seek first.
  bool must_reseek_ = false;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockDecoder<T>> MakeDeltaBinaryPackedDecoder(DeltaBlocks blocks) {
  return std::make_unique<DeltaPageDecoder<T>>(blocks);
}

namespace {

// Adds the fields of the delta block that begins at the next byte of `description`, up to the
// miniblock with the last delta. `left`: the number of deltas in this block and the blocks after
// it, less those of the added miniblocks afterwards. Returns false if the block is damaged or the
// description becomes full; then some of the fields may have been added.
template <typename T>
bool AddDeltaBlock(uint32_t miniblocks, uint32_t miniblock_size, uint32_t& left,
                   BlockDescription& description) {
  if (description.full()) return false;
  T minimum;
  if (!ReadZigZag(description.reader(), minimum)) return false;
  description.Add("minimum delta", StrCat(minimum));
  const std::span<const uint8_t> widths = description.reader().rest();
  if (!description.AddNumbers<uint8_t>(miniblocks, "bit widths of the miniblocks").ok())
    return false;
  for (uint32_t i = 0; i < miniblocks && left > 0; ++i) {
    const uint32_t values = std::min(left, miniblock_size);
    if (description.full() ||
        !description
             .AddBytes(uint64_t{miniblock_size / 8} * widths[i], "miniblock",
                       StrCat(values, " deltas of ", uint32_t{widths[i]}, " bits"))
             .ok()) {
      return false;
    }
    left -= values;
  }
  return true;
}

}  // namespace

template <typename T>
absl::Status DescribeDeltaBinaryPacked(uint32_t count, std::string_view blocks,
                                       BlockDescription& description) {
  ByteReader& reader = description.reader();
  const std::span<const uint8_t> stream = reader.rest();
  if (count == 0 && stream.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const uint32_t block_size, description.AddVint32("block size"));
  CFILE_ASSIGN_OR_RETURN(const uint32_t miniblocks, description.AddVint32("miniblocks of a block"));
  CFILE_RETURN_IF_ERROR(description.AddVint32("count").status());
  T first;
  if (!ReadZigZag(reader, first)) {
    return DataLoss("the first value at byte ", reader.offset(), " is cut off or out of range");
  }
  description.Add("first value", StrCat(first));
  DeltaBinaryPackedReader<T> walk;
  CFILE_RETURN_IF_ERROR(walk.Open(stream, count, DeltaBlocks::kStrict));
  uint32_t left = count == 0 ? 0 : count - 1;
  while (left > 0 && AddDeltaBlock<T>(miniblocks, block_size / miniblocks, left, description)) {
  }
  CFILE_ASSIGN_OR_RETURN(const size_t end, walk.FindEnd());
  return description.AddBytes(end - (stream.size() - reader.remaining()), blocks);
}

absl::Status DeltaBinaryPackedCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                              const BlockView& block,
                                              BlockDescription& description) {
  const bool wide = type == PhysicalType::kInt64 || type == PhysicalType::kUint64;
  return wide ? DescribeDeltaBinaryPacked<int64_t>(block.count, "further blocks", description)
              : DescribeDeltaBinaryPacked<int32_t>(block.count, "further blocks", description);
}

namespace {

template <typename T>
void PutDeltaHeader(const DeltaBlockShape& shape, size_t count, T first, ByteWriter& out) {
  out.PutVint(shape.block_size);
  out.PutVint(shape.miniblocks);
  out.PutVint(count);
  out.PutVint(ZigZagEncode(first));
}

}  // namespace

template <typename T>
void EncodeDeltaBinaryPacked(std::span<const T> values, const DeltaBlockShape& shape,
                             ByteWriter& out, std::vector<DeltaPlace<T>>* places) {
  using U = std::make_unsigned_t<T>;
  CFILE_ASSERT(shape.miniblocks > 0 && shape.block_size % (8 * shape.miniblocks) == 0);
  CFILE_ASSERT(places == nullptr || kSkipInterval % shape.block_size == 0);
  const size_t begin = out.size();
  PutDeltaHeader(shape, values.size(), values.empty() ? T{0} : values[0], out);
  const size_t miniblock_size = shape.block_size / shape.miniblocks;
  const std::unique_ptr<T[]> deltas(new T[shape.block_size]);
  const std::unique_ptr<U[]> ranges(new U[shape.miniblocks]);
  for (size_t next = 1; next < values.size(); next += shape.block_size) {
    const size_t count = std::min<size_t>(shape.block_size, values.size() - next);
    const T least =
        MakeDeltas<T>(values.data() + next, count, miniblock_size, deltas.get(), ranges.get());
    // Grow the buffer at most once per block.
    out.ReserveMore(kMaxVint64Bytes + shape.miniblocks + shape.block_size * sizeof(T) +
                    kDeltaWriteAhead);
    out.PutVint(ZigZagEncode(least));
    uint8_t* const widths = out.Extend(shape.miniblocks);
    const size_t used = (count + miniblock_size - 1) / miniblock_size;
    std::fill(widths + used, widths + shape.miniblocks, uint8_t{0});
    out.Extend(PackDeltas<T>(deltas.get(), least, ranges.get(), used, miniblock_size / 8, widths,
                             widths + shape.miniblocks));
    const size_t last = next + count - 1;
    if (places != nullptr && last % kSkipInterval == 0)
      places->push_back({static_cast<uint32_t>(out.size() - begin), values[last]});
  }
}

namespace {

template <typename T>
class DeltaPageEncoder final : public PageEncoder<T> {
 public:
  DeltaPageEncoder(const DeltaBlockShape& shape, bool skip_tables, size_t piece_bytes)
      : shape_(shape),
        skip_tables_(skip_tables && kSkipInterval % shape.block_size == 0),
        piece_bytes_(piece_bytes) {}

  void Encode(std::span<const T> values, EncodedBlock& block) override {
    places_.clear();
    EncodeDeltaBinaryPacked<T>(values, shape_, block.bytes, skip_tables_ ? &places_ : nullptr);
    for (const DeltaPlace<T>& place : places_) {
      block.skip_table.PutFixed(place.offset);
      block.skip_table.PutFixed(place.value);
    }
    if (piece_bytes_ > 0 && !places_.empty()) AddPieces(values, block);
  }

 private:
  // Adds the pieces of `block`. A piece consists of whole blocks of deltas, from a place on. Its
  // last delta is not used: it leads to the first value of the next piece.
  void AddPieces(std::span<const T> values, EncodedBlock& block) const {
    const auto page_bytes = static_cast<uint32_t>(block.bytes.size());
    ByteWriter header;
    PutDeltaHeader(shape_, values.size(), values[0], header);
    auto begin = static_cast<uint32_t>(header.size());
    uint32_t first = 0;
    for (size_t i = 0; i <= places_.size(); ++i) {
      const bool last = i == places_.size();
      const uint32_t end = last ? page_bytes : places_[i].offset;
      if (!last && end - begin < piece_bytes_) continue;
      const auto next = static_cast<uint32_t>(last ? values.size() : (i + 1) * kSkipInterval);
      header.Clear();
      PutDeltaHeader(shape_, next - first, values[first], header);
      block.pieces.push_back(
          {.count = next - first,
           .begin = begin,
           .size_bytes = end - begin,
           .front = std::string(header.view()),
           .key = std::string(reinterpret_cast<const char*>(&values[first]), sizeof(T))});
      begin = end;
      first = next;
    }
    if (block.pieces.size() == 1) block.pieces.clear();
  }

  const DeltaBlockShape shape_;
  const bool skip_tables_;
  const size_t piece_bytes_;
  std::vector<DeltaPlace<T>> places_;
};

}  // namespace

template <typename T>
std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder(const DeltaBlockShape& shape,
                                                             bool skip_tables, size_t piece_bytes) {
  return std::make_unique<DeltaPageEncoder<T>>(shape, skip_tables, piece_bytes);
}

#define CFILE_INSTANTIATE_DELTA(T)                                                                 \
  template class DeltaBinaryPackedReader<T>;                                                       \
  template std::unique_ptr<BlockDecoder<T>> MakeDeltaBinaryPackedDecoder<T>(DeltaBlocks);          \
  template void EncodeDeltaBinaryPacked<T>(std::span<const T>, const DeltaBlockShape&,             \
                                           ByteWriter&, std::vector<DeltaPlace<T>>*);              \
  template std::unique_ptr<PageEncoder<T>> MakeDeltaBinaryPackedEncoder<T>(const DeltaBlockShape&, \
                                                                           bool, size_t);
CFILE_INSTANTIATE_DELTA(int32_t)
CFILE_INSTANTIATE_DELTA(int64_t)
#undef CFILE_INSTANTIATE_DELTA
template absl::Status DescribeDeltaBinaryPacked<int32_t>(uint32_t, std::string_view,
                                                         BlockDescription&);

}  // namespace cfile::encodings
