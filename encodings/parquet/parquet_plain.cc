#include "encodings/parquet/parquet_plain.h"

#include <cstring>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/fixed_width_decoder.h"
#include "encodings/parquet/parquet_plain_bytes.h"

namespace cfile::encodings {
namespace {

// Encodes bools, numbers, and byte strings of `type_length` bytes each.
template <typename P>
class FixedPageEncoder final : public PageEncoder<P> {
 public:
  explicit FixedPageEncoder(uint32_t type_length) : type_length_(type_length) {}

  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if constexpr (std::is_same_v<P, bool>) {
      PackBools(values, block.bytes.Extend(static_cast<size_t>(BitmapBytes(values.size()))));
    } else if constexpr (kIsBytes<P>) {
      uint8_t* out = block.bytes.Extend(values.size() * type_length_);
      for (const P& value : values) {
        CFILE_ASSERT(value.size() == type_length_);
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
    const uint64_t needed = this->BytesOf(block.count);
    if (block.bytes.size() < needed) {
      return DataLoss("parquet-plain: ", block.count, " values take ", needed, " bytes, found ",
                      block.bytes.size());
    }
    this->values_ = block.bytes;
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ParquetPlainCodec::MakePageEncoder(const EncoderOptions& options) {
  if constexpr (kIsBytes<P>) {
    if (options.type_length == 0) return MakeParquetPlainBytesEncoder();
  }
  return std::make_unique<FixedPageEncoder<P>>(options.type_length);
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ParquetPlainCodec::MakePageDecoder(const DecoderOptions& options) {
  if constexpr (kIsBytes<P>) {
    if (options.type_length == 0) return MakeParquetPlainBytesDecoder();
  }
  return std::make_unique<FixedPageDecoder<P>>(options.type_length);
}

absl::Status ParquetPlainCodec::Describe(PhysicalType type, const DecoderOptions& options,
                                         const BlockView& block, BlockDescription& description) {
  if (type != PhysicalType::kBytes) {
    const uint64_t size = VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
      using P = PageType<T>;
      if (std::is_same_v<P, bool>) return BitmapBytes(block.count);
      return uint64_t{block.count} *
             (kIsBytes<P> ? PageTypeLength<T>(type, options.type_length) : uint32_t{sizeof(P)});
    });
    return description.AddBytes(size, "values");
  }
  uint32_t value = 0;
  for (; value < block.count && !description.full(); ++value) {
    uint32_t size;
    if (!description.reader().ReadFixed(size) || !description.reader().Skip(size))
      return DataLoss("value ", value, " at or before byte ", description.reader().offset(),
                      " is cut off");
    description.Add("value", StrCat("size ", size));
  }
  if (value < block.count) description.AddRest("further values");
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(P)                           \
  CFILE_INSTANTIATE_PAGE_ENCODER(ParquetPlainCodec, P) \
  CFILE_INSTANTIATE_PAGE_DECODER(ParquetPlainCodec, P)
CFILE_FOR_EACH_PAGE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
