#include "encodings/parquet/parquet_plain.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "encodings/core/compare_bytes.h"
#include "encodings/core/fixed_width_decoder.h"
#include "encodings/core/lower_bound.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/parquet/parquet_plain_bytes.h"

namespace cfile::encodings {
namespace {

class BoolPageEncoder final : public PageEncoder<bool> {
 public:
  void Encode(std::span<const bool> values, EncodedBlock& block) override {
    PackBools(values, block.bytes);
  }
};

class BoolPageDecoder final : public BlockDecoder<bool> {
 public:
  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    if (block.bytes.size() < BitmapBytes(block.count)) {
      return DataLoss("parquet-plain: ", block.count, " bools take ", BitmapBytes(block.count),
                      " bytes, found ", block.bytes.size());
    }
    bits_ = block.bytes;
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
  absl::Status SeekTo(uint32_t position) override {
    assert(position <= count_);
    position_ = position;
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> Read(std::span<bool> out) override {
    const size_t n = std::min<size_t>(out.size(), count_ - position_);
    UnpackBools(bits_, position_, out.data(), n);
    position_ += static_cast<uint32_t>(n);
    return n;
  }
  absl::StatusOr<LowerBound> SeekToKey(const bool& key) override {
    const auto value_at = [&](uint32_t i) { return (bits_[i / 8] >> (i % 8) & 1) != 0; };
    position_ = FindLowerBound(count_, [&](uint32_t i) { return value_at(i) < key; });
    return LowerBound{position_, position_ < count_ && value_at(position_) == key};
  }

 private:
  std::span<const uint8_t> bits_;
};

// Encodes numbers, and byte strings of `type_length` bytes each.
template <typename P>
class FixedPageEncoder final : public PageEncoder<P> {
 public:
  explicit FixedPageEncoder(uint32_t type_length) : type_length_(type_length) {}

  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if constexpr (kIsBytes<P>) {
      uint8_t* out = block.bytes.Extend(values.size() * type_length_);
      for (const P& value : values) {
        assert(value.size() == type_length_);
        std::memcpy(out, value.data(), type_length_);
        out += type_length_;
      }
    } else {
      block.aligned_values_offset = static_cast<uint32_t>(block.bytes.size());
      if (!values.empty())
        std::memcpy(block.bytes.Extend(values.size_bytes()), values.data(), values.size_bytes());
    }
  }

 private:
  const uint32_t type_length_;
};

template <typename P>
class FixedPageDecoder final : public FixedWidthDecoder<P> {
 public:
  using FixedWidthDecoder<P>::FixedWidthDecoder;

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    if (block.bytes.size() < uint64_t{block.count} * this->width_) {
      return DataLoss("parquet-plain: ", block.count, " values of ", this->width_, " bytes take ",
                      uint64_t{block.count} * this->width_, " bytes, found ", block.bytes.size());
    }
    this->values_ = block.bytes.data();
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> MakeParquetPlainEncoder(uint32_t type_length) {
  if constexpr (std::is_same_v<P, bool>) {
    return std::make_unique<BoolPageEncoder>();
  } else {
    if constexpr (kIsBytes<P>) {
      if (type_length == 0) return MakeParquetPlainBytesEncoder();
    }
    return std::make_unique<FixedPageEncoder<P>>(type_length);
  }
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> MakeParquetPlainDecoder(uint32_t type_length) {
  if constexpr (std::is_same_v<P, bool>) {
    return std::make_unique<BoolPageDecoder>();
  } else {
    if constexpr (kIsBytes<P>) {
      if (type_length == 0) return MakeParquetPlainBytesDecoder();
    }
    return std::make_unique<FixedPageDecoder<P>>(type_length);
  }
}

#define CFILE_INSTANTIATE(P)                                                     \
  template std::unique_ptr<PageEncoder<P>> MakeParquetPlainEncoder<P>(uint32_t); \
  template std::unique_ptr<BlockDecoder<P>> MakeParquetPlainDecoder<P>(uint32_t);
CFILE_FOR_EACH_PAGE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
