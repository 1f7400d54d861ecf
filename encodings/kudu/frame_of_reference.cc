#include "encodings/kudu/frame_of_reference.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/group_varint.h"

namespace cfile::encodings {
namespace {

class GroupVarintEncoder final : public BlockEncoder<uint32_t> {
 public:
  explicit GroupVarintEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes) {}

  size_t Append(std::span<const uint32_t> values) override {
    size_t taken = 0;
    while (taken < values.size() && !full()) {
      const uint32_t value = values[taken++];
      minimum_ = std::min(minimum_, value);
      maximum_ = std::max(maximum_, value);
      values_.push_back(value);
    }
    return taken;
  }

  bool full() const override { return size_bytes() >= block_size_bytes_ && !values_.empty(); }
  uint32_t count() const override { return static_cast<uint32_t>(values_.size()); }

  // An estimate: it counts every value with the width of the widest one. The exact widths are known
  // only when the minimum of the block is known.
  size_t size_bytes() const override {
    const int bits = values_.empty() ? 0 : std::bit_width(maximum_ - minimum_);
    const size_t width = static_cast<size_t>(std::max(bits, 1) + 7) / 8;
    return kMaxGroupVarint32Bytes + values_.size() / 4 + values_.size() * width;
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    const uint32_t minimum = values_.empty() ? 0 : minimum_;
    for (uint32_t& value : values_) value -= minimum;
    block.Clear();
    block.count = count();
    const uint32_t header[] = {block.count, minimum, static_cast<uint32_t>(first_ordinal), 0};
    PutGroupVarint32(header, block.bytes);
    PutGroupVarint32(values_, block.bytes);
    values_.clear();
    minimum_ = UINT32_MAX;
    maximum_ = 0;
  }

 private:
  const size_t block_size_bytes_;
  std::vector<uint32_t> values_;
  uint32_t minimum_ = UINT32_MAX;
  uint32_t maximum_ = 0;
};

class GroupVarintDecoder final : public BlockDecoder<uint32_t> {
 public:
  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    count_ = position_ = 0;
    ByteReader reader(block);
    uint32_t header[4];
    if (!ReadGroupVarint32(reader, 1, header)) {
      return DataLoss("group-varint: a block of ", block.size(),
                      " bytes is too short for its header");
    }
    const uint32_t count = header[0];
    const uint32_t minimum = header[1];
    first_ordinal_ = header[2];
    // A group of four values takes at least five bytes. This check bounds the memory for the values
    // by the size of the block.
    const size_t groups = count / 4 + (count % 4 != 0);
    if (groups > reader.remaining() / 5) {
      return DataLoss("group-varint: ", count, " values expected at byte ", reader.offset(),
                      ", found ", reader.remaining(), " bytes");
    }
    if (values_.size() < 4 * groups) values_.resize(4 * groups);
    if (!ReadGroupVarint32(reader, groups, values_.data())) {
      return DataLoss("group-varint: the block of ", block.size(), " bytes ends within its ", count,
                      " values");
    }
    if (!reader.empty()) {
      return DataLoss("group-varint: ", reader.remaining(), " bytes after the ", count,
                      " values, at byte ", reader.offset());
    }
    uint32_t largest = 0;
    for (size_t i = 0; i < count; ++i) {
      largest = std::max(largest, values_[i]);
      values_[i] += minimum;
    }
    if (largest > UINT32_MAX - minimum) {
      return DataLoss("group-varint: the minimum ", minimum, " plus the difference ", largest,
                      " exceeds 32 bits");
    }
    count_ = count;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<uint32_t> out) override {
    const std::span<const uint32_t> values = Borrow(out.size());
    std::copy(values.begin(), values.end(), out.begin());
    return values.size();
  }

  std::span<const uint32_t> Borrow(size_t max) override {
    const size_t n = Left(max);
    const std::span<const uint32_t> values(values_.data() + position_, n);
    position_ += static_cast<uint32_t>(n);
    return values;
  }

  absl::StatusOr<LowerBound> SeekToKey(const uint32_t& key) override {
    return SeekToKeyInPlace(key, [&](uint32_t i) { return values_[i]; });
  }

 private:
  std::vector<uint32_t> values_;  // all values of the block, and the padding of the last group
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> GroupVarintCodec::MakeEncoder(PhysicalType /*type*/,
                                                               const EncoderOptions& options) {
  return std::make_unique<GroupVarintEncoder>(options);
}
CFILE_INSTANTIATE_ENCODER(GroupVarintCodec, uint32_t)

template <typename T>
std::unique_ptr<BlockDecoder<T>> GroupVarintCodec::MakeDecoder(PhysicalType /*type*/,
                                                               const DecoderOptions& /*options*/) {
  return std::make_unique<GroupVarintDecoder>();
}
CFILE_INSTANTIATE_DECODER(GroupVarintCodec, uint32_t)

absl::Status GroupVarintCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                        const BlockView& /*block*/, BlockDescription& description) {
  uint32_t header[4];
  if (!ReadGroupVarint32(description.reader(), 1, header)) return DataLoss("the header is cut off");
  description.Add("header", StrCat("count ", header[0], ", minimum ", header[1], ", first ordinal ",
                                   header[2]));
  uint32_t left = header[0];
  while (left > 0 && !description.full()) {
    uint32_t differences[4];
    if (!ReadGroupVarint32(description.reader(), 1, differences))
      return DataLoss("a group at byte ", description.reader().offset(), " is cut off");
    const uint32_t shown = std::min<uint32_t>(left, 4);
    std::string text;
    for (uint32_t i = 0; i < shown; ++i) text += StrCat(i == 0 ? "" : ", ", differences[i]);
    description.Add("differences from the minimum", std::move(text));
    left -= shown;
  }
  description.AddRest(left > 0 ? "further differences" : "bytes after the last value");
  return absl::OkStatus();
}

}  // namespace cfile::encodings
