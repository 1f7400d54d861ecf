#include "encodings/kudu/plain.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/fixed_width_decoder.h"
#include "encodings/kudu/kudu_policy.h"
#include "encodings/kudu/plain_binary.h"

namespace cfile::encodings {
namespace {

constexpr size_t kHeaderBytes = 8;

// Encodes bools (as bits), numbers, and byte strings of `width_` bytes each.
template <typename T>
class FixedWidthEncoder final : public BlockEncoder<T> {
 public:
  explicit FixedWidthEncoder(const EncoderOptions& options)
      : policy_(options),
        width_(kIsBytes<T> ? options.type_length : sizeof(T)),
        piece_bytes_(options.piece_bytes) {
    CFILE_ASSERT(width_ > 0);
    const size_t values_bytes = std::max(options.block_size_bytes, kHeaderBytes) - kHeaderBytes;
    capacity_ = kIsBool ? 8 * std::max<size_t>(values_bytes, 1)
                        : std::max<size_t>((values_bytes + width_ - 1) / width_, 1);
  }

  size_t Append(std::span<const T> values) override {
    if (full() || values.empty()) return 0;
    values = values.first(policy_.Take(values.size(), capacity_ - count_));
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    if constexpr (kIsBool) {
      AppendBits(values);
    } else {
      uint8_t* out = bytes_.Extend(values.size() * width_);
      if constexpr (kIsBytes<T>) {
        for (size_t i = 0; i < values.size(); ++i, out += width_) {
          CFILE_ASSERT(values[i].size() == width_);
          std::memcpy(out, values[i].data(), width_);
        }
      } else {
        std::memcpy(out, values.data(), values.size_bytes());
      }
    }
    count_ += static_cast<uint32_t>(values.size());
    return values.size();
  }

  bool full() const override { return policy_.IsFull(count_, capacity_, size_bytes()); }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override {
    return kHeaderBytes + (kIsBool ? static_cast<size_t>(BitmapBytes(count_)) : count_ * width_);
  }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    StoreLittleEndian(count_, bytes_.data());
    StoreLittleEndian(static_cast<uint32_t>(first_ordinal), bytes_.data() + 4);
    block.Clear();
    block.bytes.Swap(bytes_);
    block.count = count_;
    if constexpr (!kIsBytes<T> && !kIsBool) {
      block.aligned_values_offset = uint32_t{kHeaderBytes};
      if (piece_bytes_ > 0) AddPieces(block);
    }
    count_ = 0;
  }

 private:
  static constexpr bool kIsBool = std::is_same_v<T, bool>;

  void AddPieces(EncodedBlock& block) const {
    const auto most = static_cast<uint32_t>((piece_bytes_ + width_ - 1) / width_);
    for (uint32_t first = 0, count = 0; first < count_ && count_ > most; first += count) {
      count = std::min(most, count_ - first);
      const auto begin = static_cast<uint32_t>(kHeaderBytes + first * width_);
      ByteWriter front;
      front.PutFixed(count);
      front.PutFixed(uint32_t{0});
      block.pieces.push_back({.count = count,
                              .begin = begin,
                              .size_bytes = static_cast<uint32_t>(count * width_),
                              .front = std::string(front.view()),
                              .key = std::string(block.bytes.view().substr(begin, width_))});
    }
  }

  void AppendBits(std::span<const bool> values) {
    size_t i = 0;  // first complete the last byte
    for (; i < values.size() && (count_ + i) % 8 != 0; ++i) {
      uint8_t& last = bytes_.data()[bytes_.size() - 1];
      last = static_cast<uint8_t>(last | values[i] << ((count_ + i) % 8));
    }
    const auto rest = values.subspan(i);
    PackBools(rest, bytes_.Extend(static_cast<size_t>(BitmapBytes(rest.size()))));
  }

  const KuduPolicy policy_;
  const size_t width_;  // bytes
  const size_t piece_bytes_;
  size_t capacity_;  // values of a full block
  ByteWriter bytes_;
  uint32_t count_ = 0;
};

template <typename T>
class PlainDecoder final : public FixedWidthDecoder<T> {
 public:
  using FixedWidthDecoder<T>::FixedWidthDecoder;

  absl::Status Open(const BlockView& view) override {
    this->count_ = this->position_ = 0;
    ByteReader reader(view.bytes);
    uint32_t count;
    if (!reader.ReadFixed(count) || !reader.ReadFixed(this->first_ordinal_)) {
      return DataLoss("plain: a block of ", view.bytes.size(),
                      " bytes has no room for its header of ", kHeaderBytes, " bytes");
    }
    if (reader.remaining() != this->BytesOf(count)) {
      return DataLoss("plain: ", count, " values take ", this->BytesOf(count), " bytes from byte ",
                      kHeaderBytes, " on, found ", reader.remaining(), " bytes");
    }
    this->values_ = reader.rest();
    this->count_ = count;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> PlainCodec::MakeEncoder(PhysicalType type,
                                                         const EncoderOptions& options) {
  if constexpr (kIsBytes<T>) {
    if (type == PhysicalType::kBytes) return MakePlainBinaryEncoder(options);
  }
  return std::make_unique<FixedWidthEncoder<T>>(options);
}

template <typename T>
std::unique_ptr<BlockDecoder<T>> PlainCodec::MakeDecoder(PhysicalType type,
                                                         const DecoderOptions& options) {
  if constexpr (kIsBytes<T>) {
    if (type == PhysicalType::kBytes) return MakePlainBinaryDecoder();
  }
  return std::make_unique<PlainDecoder<T>>(options.type_length);
}

absl::Status PlainCodec::Describe(PhysicalType type, const DecoderOptions& /*options*/,
                                  const BlockView& /*block*/, BlockDescription& description) {
  const size_t begin = description.reader().offset();
  const bool bytes = type == PhysicalType::kBytes;
  CFILE_RETURN_IF_ERROR(description.AddFixed32(bytes ? "first ordinal" : "count").status());
  CFILE_RETURN_IF_ERROR(description.AddFixed32(bytes ? "count" : "first ordinal").status());
  if (bytes) {
    CFILE_ASSIGN_OR_RETURN(const uint32_t offsets,
                           description.AddFixed32("position of the offsets"));
    const size_t header = description.reader().offset() - begin;
    if (offsets < header) {
      return DataLoss("the offsets begin at byte ", offsets, ", expected at least ", header);
    }
    CFILE_RETURN_IF_ERROR(description.AddBytes(offsets - header, "values"));
  }
  description.AddRest(bytes ? "offsets" : "values");
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(T)               \
  CFILE_INSTANTIATE_ENCODER(PlainCodec, T) \
  CFILE_INSTANTIATE_DECODER(PlainCodec, T)
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

absl::Status PlainCodec::VisitValuePlaces(PhysicalType type, uint32_t type_length,
                                          const BlockView& /*block*/, uint32_t position,
                                          NeedBytes need) {
  // A header, then the values without gaps. A bool takes one bit.
  return VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    const uint64_t width = kIsBytes<T> ? type_length : sizeof(T);
    const uint64_t before = std::is_same_v<T, bool> ? position / 8 : position * width;
    return need(kHeaderBytes + before, kHeaderBytes + before + width);
  });
}

}  // namespace cfile::encodings
