#include "encodings/kudu/plain_binary.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "encodings/core/back_to_back.h"
#include "encodings/core/bytes.h"
#include "encodings/core/packed_strings.h"
#include "encodings/kernels/group_varint.h"

namespace cfile::encodings {
namespace {

constexpr uint32_t kBinaryHeaderBytes = 12;
// A value adds at most this many bytes to a block in addition to its own bytes: its offset, the
// selector of four offsets, and the zeros that complete the group.
constexpr size_t kBinaryEntryBytes = 8;

class PlainBinaryEncoder final : public BlockEncoder<std::string_view> {
 public:
  explicit PlainBinaryEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes),
        max_block_size_bytes_(options.max_block_size_bytes) {
    Begin();
  }

  size_t Append(std::span<const std::string_view> values) override {
    const size_t limit = std::min(block_size_bytes_, max_block_size_bytes_);
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      // Values that surely fit are copied together; the last value of a block alone.
      const auto rest = values.subspan(taken);
      FittingValues fitting = FindFitting(rest, [&](size_t count, size_t bytes) {
        return size_bytes() + bytes + count * kBinaryEntryBytes <= limit;
      });
      if (fitting.count == 0) {
        const size_t size = rest[0].size();
        has_room_ =
            offsets_.empty() || size_bytes() + size + kBinaryEntryBytes <= max_block_size_bytes_;
        if (!has_room_) break;
        fitting = {.count = 1, .size_bytes = size};
      }
      AppendFitting(rest, fitting);
      taken += fitting.count;
    }
    return taken;
  }

  // As in Kudu, the size is checked before each value.
  bool full() const override {
    return (size_bytes() > block_size_bytes_ || !has_room_) && !offsets_.empty();
  }
  uint32_t count() const override { return static_cast<uint32_t>(offsets_.size()); }
  size_t size_bytes() const override { return bytes_.size() + offsets_bytes_; }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    block.Clear();
    block.count = count();
    StoreLittleEndian(static_cast<uint32_t>(first_ordinal), bytes_.data());
    StoreLittleEndian(block.count, bytes_.data() + 4);
    StoreLittleEndian(static_cast<uint32_t>(bytes_.size()), bytes_.data() + 8);
    PutGroupVarint32(offsets_, bytes_);
    block.bytes.Swap(bytes_);
    Begin();
  }

 private:
  // Appends the values that FindFitting found in `values`.
  void AppendFitting(std::span<const std::string_view> values, const FittingValues& fitting) {
    const auto size_of = [](size_t offset) { return (std::bit_width(offset) + size_t{7}) / 8; };
    const size_t first = offsets_.size();
    size_t offset = bytes_.size();
    CopyFitting(values, fitting, bytes_.Extend(fitting.size_bytes));
    offsets_.resize(first + fitting.count);
    offsets_bytes_ += (offsets_.size() + 3) / 4 - (first + 3) / 4;
    const bool equal_sizes = size_of(offset) == size_of(bytes_.size());
    if (equal_sizes) offsets_bytes_ += fitting.count * size_of(offset);
    for (size_t i = 0; i < fitting.count; ++i) {
      offsets_[first + i] = static_cast<uint32_t>(offset);
      if (!equal_sizes) offsets_bytes_ += size_of(offset);
      offset += values[i].size();
    }
  }

  void Begin() {
    bytes_.Clear();
    bytes_.Extend(kBinaryHeaderBytes);
    offsets_.clear();
    offsets_bytes_ = 0;
    has_room_ = true;
  }

  const size_t block_size_bytes_;
  const size_t max_block_size_bytes_;
  bool has_room_ = true;  // false: the next value does not fit into this block
  ByteWriter bytes_;
  std::vector<uint32_t> offsets_;
  size_t offsets_bytes_ = 0;  // size of the encoded offsets, without padding
};

// The offsets of a block's values and the end of the last value, decoded and checked.
class OffsetsIndex final : public SeekIndex {
 public:
  explicit OffsetsIndex(std::span<const uint32_t> offsets)
      : offsets_(offsets.begin(), offsets.end()) {}
  std::span<const uint32_t> offsets() const { return offsets_; }
  size_t memory_usage_bytes() const override {
    return sizeof(*this) + offsets_.capacity() * sizeof(uint32_t);
  }

 private:
  std::vector<uint32_t> offsets_;
};

class PlainBinaryDecoder final : public BlockDecoder<std::string_view> {
 public:
  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    count_ = position_ = 0;
    offsets_ = {};
    block_ = block;
    ByteReader reader(block);
    uint32_t count;
    if (!reader.ReadFixed(first_ordinal_) || !reader.ReadFixed(count) ||
        !reader.ReadFixed(offsets_position_)) {
      return DataLoss("plain binary: a block of ", block.size(),
                      " bytes has no room for its header of ", kBinaryHeaderBytes, " bytes");
    }
    if (offsets_position_ < kBinaryHeaderBytes || offsets_position_ > block.size()) {
      return DataLoss("plain binary: the header says offsets at byte ", offsets_position_,
                      ", expected ", kBinaryHeaderBytes, " to ", block.size());
    }
    // A group of four offsets takes at least five bytes. This check bounds `count` by the size of
    // the block.
    const size_t groups = count / 4 + (count % 4 != 0);
    const size_t offsets_bytes = block.size() - offsets_position_;
    if (groups > offsets_bytes / 5) {
      return DataLoss("plain binary: the offsets of ", count, " values do not fit into the ",
                      offsets_bytes, " bytes at byte ", offsets_position_);
    }
    if (count == 0 && block.size() != kBinaryHeaderBytes) {
      return DataLoss("plain binary: ", block.size() - kBinaryHeaderBytes,
                      " bytes after the header of a block without values");
    }
    count_ = count;
    if (const auto* index = OfKind<OffsetsIndex>(view.seek_index);
        index != nullptr && index->offsets().size() == size_t{count} + 1 &&
        index->offsets().back() == offsets_position_) {
      offsets_ = index->offsets();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<std::string_view> out) override {
    const size_t n = Left(out.size());
    if (n == 0) return size_t{0};
    CFILE_RETURN_IF_ERROR(DecodeOffsets());
    for (size_t i = 0; i < n; ++i) out[i] = ValueAt(position_ + i);
    position_ += static_cast<uint32_t>(n);
    return n;
  }

  absl::StatusOr<size_t> ReadPacked(size_t max, PackedStrings& out) override {
    size_t n = Left(max);
    if (n == 0) return size_t{0};
    CFILE_RETURN_IF_ERROR(DecodeOffsets());
    // The values lie back to back, so they are copied at once.
    const uint32_t* const begins = offsets_.data() + position_;
    const PackedBudget budget(out);
    if (begins[n] - begins[0] > budget.left()) {
      n = static_cast<size_t>(
          std::upper_bound(begins + 1, begins + n + 1, uint64_t{begins[0]} + budget.left()) -
          (begins + 1));
      if (n == 0 && begins[1] - begins[0] <= budget.left_for_one()) n = 1;
    }
    const size_t bytes = begins[n] - begins[0];
    const auto shift = static_cast<uint32_t>(out.data().size()) - begins[0];
    uint32_t* const ends = out.ReserveOffsets(n);
    for (size_t i = 0; i < n; ++i) ends[i] = begins[i + 1] + shift;
    std::memcpy(out.ReserveData(bytes), block_.data() + begins[0], bytes);
    out.Add(n, bytes);
    position_ += static_cast<uint32_t>(n);
    return n;
  }

  absl::StatusOr<LowerBound> SeekToKey(const std::string_view& key) override {
    position_ = 0;
    CFILE_RETURN_IF_ERROR(DecodeOffsets());
    return SeekToKeyInPlace(key, [&](uint32_t i) { return ValueAt(i); });
  }

  std::unique_ptr<const SeekIndex> BuildSeekIndex() override {
    if (count_ == 0 || !DecodeOffsets().ok()) return nullptr;
    return std::make_unique<OffsetsIndex>(offsets_);
  }

 private:
  // Decodes the offsets unless they are already decoded. Checks that the values are in order and
  // lie between the header and the offsets.
  absl::Status DecodeOffsets() {
    if (!offsets_.empty() || count_ == 0) return absl::OkStatus();
    const size_t groups = (size_t{count_} + 3) / 4;
    if (decoded_.size() <= 4 * groups) decoded_.resize(4 * groups + 1);
    ByteReader reader(block_.subspan(offsets_position_));
    if (!ReadGroupVarint32(reader, groups, decoded_.data())) {
      return DataLoss("plain binary: the block of ", block_.size(), " bytes ends within the ",
                      count_, " offsets that begin at byte ", offsets_position_);
    }
    if (!reader.empty()) {
      return DataLoss("plain binary: ", reader.remaining(), " bytes after the ", count_,
                      " offsets");
    }
    decoded_[count_] = offsets_position_;
    bool ordered = decoded_[0] == kBinaryHeaderBytes;
    for (size_t i = 0; i < count_; ++i) ordered &= decoded_[i] <= decoded_[i + 1];
    if (!ordered) return MisplacedValue();
    offsets_ = std::span(decoded_).first(count_ + size_t{1});
    return absl::OkStatus();
  }

  absl::Status MisplacedValue() const {
    if (decoded_[0] != kBinaryHeaderBytes) {
      return DataLoss("plain binary: the first value begins at byte ", decoded_[0], ", expected ",
                      kBinaryHeaderBytes);
    }
    size_t i = 0;
    while (decoded_[i] <= decoded_[i + 1]) ++i;
    return DataLoss("plain binary: value ", i, " begins at byte ", decoded_[i], " and ends at ",
                    decoded_[i + 1]);
  }

  std::string_view ValueAt(size_t position) const {
    const uint32_t begin = offsets_[position];
    return AsString({block_.data() + begin, offsets_[position + 1] - begin});
  }

  std::span<const uint8_t> block_;
  uint32_t offsets_position_ = 0;
  // The offset of each value, then the end of the last value. Empty until the offsets are decoded.
  // Points to decoded_ or into the seek index.
  std::span<const uint32_t> offsets_;
  std::vector<uint32_t> decoded_;
};

}  // namespace

std::unique_ptr<BlockEncoder<std::string_view>> MakePlainBinaryEncoder(
    const EncoderOptions& options) {
  return std::make_unique<PlainBinaryEncoder>(options);
}

std::unique_ptr<BlockDecoder<std::string_view>> MakePlainBinaryDecoder() {
  return std::make_unique<PlainBinaryDecoder>();
}

}  // namespace cfile::encodings
