#include "encodings/kudu/plain.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "encodings/core/fixed_width_decoder.h"
#include "encodings/core/key_order.h"
#include "encodings/core/lower_bound.h"
#include "encodings/kudu/plain_binary.h"
#include "encodings/kudu/plain_bool.h"

namespace cfile::encodings {
namespace {

constexpr size_t kHeaderBytes = 8;

// Encodes numbers, and byte strings of `width_` bytes each.
template <typename T>
class FixedWidthEncoder final : public BlockEncoder<T> {
 public:
  explicit FixedWidthEncoder(const EncoderOptions& options)
      : width_(kIsBytes<T> ? options.type_length : sizeof(T)),
        block_size_bytes_(options.block_size_bytes),
        kudu_exact_(options.kudu_exact) {
    assert(width_ > 0);
    const size_t values_bytes = std::max(block_size_bytes_, kHeaderBytes) - kHeaderBytes;
    capacity_ = std::max<size_t>(values_bytes / width_ + (values_bytes % width_ != 0), 1);
  }

  size_t Append(std::span<const T> values) override {
    if (full() || values.empty()) return 0;
    const size_t taken = kudu_exact_ ? values.size() : std::min(values.size(), capacity_ - count_);
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    uint8_t* out = bytes_.Extend(taken * width_);
    if constexpr (kIsBytes<T>) {
      for (size_t i = 0; i < taken; ++i, out += width_) {
        assert(values[i].size() == width_);
        std::memcpy(out, values[i].data(), width_);
      }
    } else {
      std::memcpy(out, values.data(), taken * width_);
    }
    count_ += static_cast<uint32_t>(taken);
    return taken;
  }

  // Kudu checks the size only after each batch, and continues a block that has exactly the wanted
  // size.
  bool full() const override {
    return kudu_exact_ ? size_bytes() > block_size_bytes_ && count_ > 0 : count_ >= capacity_;
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override { return kHeaderBytes + count_ * width_; }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    StoreLittleEndian(count_, bytes_.data());
    StoreLittleEndian(static_cast<uint32_t>(first_ordinal), bytes_.data() + 4);
    block.Clear();
    block.bytes.Swap(bytes_);
    block.count = count_;
    if constexpr (!kIsBytes<T>) block.aligned_values_offset = uint32_t{kHeaderBytes};
    count_ = 0;
  }

 private:
  const size_t width_;
  const size_t block_size_bytes_;
  const bool kudu_exact_;
  size_t capacity_;  // values of a full block
  ByteWriter bytes_;
  uint32_t count_ = 0;
};

template <typename T>
class PlainDecoder final : public FixedWidthDecoder<T> {
 public:
  using FixedWidthDecoder<T>::FixedWidthDecoder;

  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    this->count_ = this->position_ = 0;
    ByteReader reader(block);
    uint32_t count;
    if (!reader.ReadFixed(count) || !reader.ReadFixed(this->first_ordinal_)) {
      return DataLoss("plain: a block of ", block.size(), " bytes has no room for its header of ",
                      kHeaderBytes, " bytes");
    }
    if (reader.remaining() != uint64_t{count} * this->width_) {
      return DataLoss("plain: ", count, " values of ", this->width_, " bytes expected at byte ",
                      kHeaderBytes, ", found ", reader.remaining(), " bytes");
    }
    this->values_ = reader.rest().data();
    this->count_ = count;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> PlainCodec::MakeEncoder(PhysicalType type,
                                                         const EncoderOptions& options) {
  if constexpr (std::is_same_v<T, bool>) {
    return MakePlainBoolEncoder(options);
  } else {
    if constexpr (kIsBytes<T>) {
      if (type == PhysicalType::kBytes) return MakePlainBinaryEncoder(options);
    }
    return std::make_unique<FixedWidthEncoder<T>>(options);
  }
}

template <typename T>
std::unique_ptr<BlockDecoder<T>> PlainCodec::MakeDecoder(PhysicalType type,
                                                         const DecoderOptions& options) {
  if constexpr (std::is_same_v<T, bool>) {
    return MakePlainBoolDecoder();
  } else {
    if constexpr (kIsBytes<T>) {
      if (type == PhysicalType::kBytes) return MakePlainBinaryDecoder();
    }
    return std::make_unique<PlainDecoder<T>>(options.type_length);
  }
}

absl::StatusOr<std::vector<BlockField>> PlainCodec::Describe(PhysicalType type,
                                                             const DecoderOptions& /*options*/,
                                                             const BlockView& block) {
  BlockDescription description(block.bytes);
  ByteReader& reader = description.reader();
  const bool bytes = type == PhysicalType::kBytes;
  for (const std::string_view name :
       {bytes ? "first ordinal" : "count", bytes ? "count" : "first ordinal"}) {
    uint32_t number;
    if (!reader.ReadFixed(number)) return DataLoss("plain block of ", block.bytes.size(), " bytes");
    description.Add(name, StrCat(number));
  }
  if (!bytes) return std::move(description).AddRest("values");
  uint32_t offsets;
  if (!reader.ReadFixed(offsets) || offsets < reader.offset() || offsets > block.bytes.size())
    return DataLoss("the offsets of a plain block of ", block.bytes.size(), " bytes lie outside");
  description.Add("position of the offsets", StrCat(offsets));
  static_cast<void>(reader.Skip(offsets - reader.offset()));
  description.Add("values");
  return std::move(description).AddRest("offsets");
}

#define CFILE_INSTANTIATE(T)                                                                   \
  template std::unique_ptr<BlockEncoder<T>> PlainCodec::MakeEncoder<T>(PhysicalType,           \
                                                                       const EncoderOptions&); \
  template std::unique_ptr<BlockDecoder<T>> PlainCodec::MakeDecoder<T>(PhysicalType,           \
                                                                       const DecoderOptions&);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
