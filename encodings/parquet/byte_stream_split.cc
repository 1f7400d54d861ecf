#include "encodings/parquet/byte_stream_split.h"

#include <algorithm>
#include <cstring>

#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/byte_streams.h"

namespace cfile::encodings {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

template <typename P>
class SplitPageEncoder final : public PageEncoder<P> {
 public:
  explicit SplitPageEncoder(uint32_t type_length) : width_(kIsBytes<P> ? type_length : sizeof(P)) {
    CFILE_ASSERT(width_ > 0);
  }

  void Encode(std::span<const P> values, EncodedBlock& block) override {
    if (values.empty()) return;
    uint8_t* const out = block.bytes.Extend(values.size() * width_);
    if constexpr (kIsBytes<P>) {
      joined_.Clear();
      uint8_t* next = joined_.Extend(values.size() * width_);
      for (const P& value : values) {
        CFILE_ASSERT(value.size() == width_);
        std::memcpy(next, value.data(), width_);
        next += width_;
      }
      SplitByteStreams(joined_.data(), values.size(), width_, out, values.size());
    } else {
      SplitByteStreams(reinterpret_cast<const uint8_t*>(values.data()), values.size(), sizeof(P),
                       out, values.size());
    }
  }

 private:
  const size_t width_;
  ByteWriter joined_;
};

template <typename P>
class SplitPageDecoder final : public BlockDecoder<P> {
 public:
  explicit SplitPageDecoder(uint32_t type_length)
      : width_(kIsBytes<P> ? type_length : uint32_t{sizeof(P)}) {
    CFILE_ASSERT(width_ > 0);
  }

  absl::Status Open(const BlockView& block) override {
    this->count_ = this->position_ = 0;
    // Further bytes are not allowed: the length of the streams would be ambiguous.
    if (block.bytes.size() != uint64_t{block.count} * width_) {
      return DataLoss("parquet-byte-stream-split: ", block.count, " values of ", width_,
                      " bytes take ", uint64_t{block.count} * width_, " bytes, found ",
                      block.bytes.size());
    }
    streams_ = block.bytes.data();
    this->count_ = block.count;
    this->first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> Read(std::span<P> out) override {
    size_t n = this->Left(out.size());
    if (n == 0) return size_t{0};
    if constexpr (kIsBytes<P>) {
      n = std::min(n, std::max<size_t>(kBufferBytes / width_, 1));
      buffer_.Clear();
      uint8_t* const values = buffer_.Extend(n * width_);
      JoinByteStreams(streams_ + this->position_, this->count_, n, width_, values);
      for (size_t i = 0; i < n; ++i) out[i] = AsString({values + i * width_, width_});
    } else {
      JoinByteStreams(streams_ + this->position_, this->count_, n, sizeof(P),
                      reinterpret_cast<uint8_t*>(out.data()));
    }
    this->position_ += static_cast<uint32_t>(n);
    return n;
  }
  absl::StatusOr<LowerBound> SeekToKey(const P& key) override {
    return this->SeekToKeyInPlace(key, [&](uint32_t i) { return ValueAt(i); });
  }

 private:
  // The value at `position`. A view is valid until the next call.
  P ValueAt(uint32_t position) {
    const auto copy_to = [&](uint8_t* bytes, size_t width) {
      for (size_t j = 0; j < width; ++j) bytes[j] = streams_[j * this->count_ + position];
    };
    if constexpr (kIsBytes<P>) {
      buffer_.Clear();
      copy_to(buffer_.Extend(width_), width_);
      return AsString(buffer_.span());
    } else {
      uint8_t bytes[sizeof(P)];
      copy_to(bytes, sizeof(P));
      return LoadLittleEndian<P>(bytes);
    }
  }

  const uint32_t width_;
  const uint8_t* streams_ = nullptr;
  ByteWriter buffer_;
};

}  // namespace

template <typename P>
std::unique_ptr<PageEncoder<P>> ByteStreamSplitCodec::MakePageEncoder(
    const EncoderOptions& options) {
  return std::make_unique<SplitPageEncoder<P>>(options.type_length);
}

template <typename P>
std::unique_ptr<BlockDecoder<P>> ByteStreamSplitCodec::MakePageDecoder(
    const DecoderOptions& options) {
  return std::make_unique<SplitPageDecoder<P>>(options.type_length);
}

absl::Status ByteStreamSplitCodec::Describe(PhysicalType type, const DecoderOptions& options,
                                            const BlockView& block, BlockDescription& description) {
  const uint32_t width = VisitPhysicalType(type, [&]<typename T>(std::type_identity<T>) {
    using P = PageType<T>;
    return kIsBytes<P> ? PageTypeLength<T>(type, options.type_length) : uint32_t{sizeof(P)};
  });
  if (block.bytes.size() != uint64_t{block.count} * width) {
    return DataLoss(block.count, " values of ", width, " bytes take ",
                    uint64_t{block.count} * width, " bytes, found ", block.bytes.size());
  }
  if (block.count == 0) return absl::OkStatus();  // the streams have no bytes
  for (uint32_t i = 0; i < width && !description.full(); ++i)
    CFILE_RETURN_IF_ERROR(
        description.AddBytes(block.count, "stream", StrCat("byte ", i, " of each value")));
  description.AddRest("further streams");
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(P)                              \
  CFILE_INSTANTIATE_PAGE_ENCODER(ByteStreamSplitCodec, P) \
  CFILE_INSTANTIATE_PAGE_DECODER(ByteStreamSplitCodec, P)
CFILE_INSTANTIATE(int32_t)
CFILE_INSTANTIATE(int64_t)
CFILE_INSTANTIATE(float)
CFILE_INSTANTIATE(double)
CFILE_INSTANTIATE(std::string_view)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
