// The encoder. (The decoder: bit_shuffle_decoder.cc.)
#include "encodings/kudu/bit_shuffle.h"

#include <lz4.h>

#include <algorithm>
#include <cstring>

#include "encodings/core/bytes.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_transposition.h"

namespace cfile::encodings {
namespace {

static_assert(kBitShuffleChunkBytes == kMaxTransposedBytes);

// Appends `values`, a multiple of 8 elements of `width` bytes each, as chunks.
void PutChunks(std::span<const uint8_t> values, size_t width, ByteWriter& out) {
  uint8_t rows[kBitShuffleChunkBytes];
  while (!values.empty()) {
    const auto chunk = values.first(std::min(values.size(), kBitShuffleChunkBytes));
    TransposeBits(chunk.data(), chunk.size() / width, width, rows);
    const auto room = static_cast<size_t>(LZ4_compressBound(static_cast<int>(chunk.size())));
    const size_t begin = out.size();
    uint8_t* to = out.Extend(sizeof(uint32_t) + room);
    // LZ4 cannot fail: there is space for the worst case.
    const auto size = static_cast<uint32_t>(
        LZ4_compress_default(reinterpret_cast<const char*>(rows), reinterpret_cast<char*>(to + 4),
                             static_cast<int>(chunk.size()), static_cast<int>(room)));
    StoreLittleEndian(__builtin_bswap32(size), to);
    out.Truncate(begin + sizeof(uint32_t) + size);
    values = values.subspan(chunk.size());
  }
}

template <typename T>
class BitShuffleEncoder final : public BlockEncoder<T> {
 public:
  explicit BitShuffleEncoder(const EncoderOptions& options)
      : capacity_(std::max<size_t>(options.block_size_bytes / sizeof(T), 1)) {}

  size_t Append(std::span<const T> values) override {
    const size_t taken = std::min(values.size(), capacity_ - count());
    values_.PutBytes({reinterpret_cast<const uint8_t*>(values.data()), taken * sizeof(T)});
    return taken;
  }

  bool full() const override { return count() == capacity_; }
  uint32_t count() const override { return static_cast<uint32_t>(values_.size() / sizeof(T)); }
  size_t size_bytes() const override { return kBitShuffleHeaderBytes + values_.size(); }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    block.Clear();
    block.count = count();
    size_t width = sizeof(T);
    if constexpr (std::is_same_v<T, uint32_t>) width = Narrow();
    const uint32_t padded = (block.count + 7) / 8 * 8;
    values_.PutZeros((padded - block.count) * width);

    ByteWriter& out = block.bytes;
    out.PutFixed(static_cast<uint32_t>(first_ordinal));
    out.PutFixed(block.count);
    out.PutFixed(uint32_t{0});
    out.PutFixed(padded);
    out.PutFixed(static_cast<uint32_t>(width));
    PutChunks(values_.span(), width, out);
    StoreLittleEndian(static_cast<uint32_t>(out.size()), out.data() + 8);
    values_.Clear();
  }

 private:
  // Narrows the values to the fewest bytes that hold the largest one. Returns this number of bytes.
  size_t Narrow() {
    uint32_t all = 0;
    for (size_t i = 0; i < count(); ++i) all |= ValueAt(i);
    if (all <= UINT8_MAX) return NarrowTo<uint8_t>();
    if (all <= UINT16_MAX) return NarrowTo<uint16_t>();
    return sizeof(uint32_t);
  }
  template <typename Narrower>
  size_t NarrowTo() {
    const size_t n = count();
    for (size_t i = 0; i < n; ++i)
      StoreLittleEndian(static_cast<Narrower>(ValueAt(i)), values_.data() + i * sizeof(Narrower));
    values_.Truncate(n * sizeof(Narrower));
    return sizeof(Narrower);
  }
  T ValueAt(size_t i) const { return LoadLittleEndian<T>(values_.data() + i * sizeof(T)); }

  const size_t capacity_;  // a block has at most this many values
  ByteWriter values_;
};

}  // namespace

template <typename T>
std::unique_ptr<BlockEncoder<T>> BitShuffleCodec::MakeEncoder(PhysicalType /*type*/,
                                                              const EncoderOptions& options) {
  return std::make_unique<BitShuffleEncoder<T>>(options);
}

absl::Status BitShuffleCodec::Describe(PhysicalType /*type*/, const DecoderOptions& /*options*/,
                                       const BlockView& /*block*/, BlockDescription& description) {
  for (const std::string_view name :
       {"first ordinal", "count", "size of the block", "count with padding", "size of an element"})
    CFILE_RETURN_IF_ERROR(description.AddFixed32(name).status());
  description.AddRest("chunks");
  return absl::OkStatus();
}

#define CFILE_INSTANTIATE(T) CFILE_INSTANTIATE_ENCODER(BitShuffleCodec, T)
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
CFILE_INSTANTIATE(int128_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
