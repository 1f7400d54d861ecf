#include "encodings/parquet/parquet_rle.h"

#include <algorithm>
#include <cassert>

#include "encodings/hybrid/rle_hybrid.h"
#include "encodings/kernels/bool_bits.h"

namespace cfile::encodings {
namespace {

constexpr size_t kLengthBytes = 4;

class RlePageEncoder final : public PageEncoder<bool> {
 public:
  void Encode(std::span<const bool> values, EncodedBlock& block) override {
    bits_.Clear();
    PackBools(values, bits_);
    for (size_t i = 0; i < values.size(); i += 64) {
      const size_t count = std::min<size_t>(64, values.size() - i);
      uint64_t word = 0;
      std::memcpy(&word, bits_.data() + i / 8, static_cast<size_t>(BitmapBytes(count)));
      runs_.PutBits(word, static_cast<int>(count));
    }
    const size_t begin = block.bytes.size();
    block.bytes.Extend(kLengthBytes);
    runs_.Finish(block.bytes, LastGroup::kWhole);
    StoreLittleEndian(static_cast<uint32_t>(block.bytes.size() - begin - kLengthBytes),
                      block.bytes.data() + begin);
  }

 private:
  ByteWriter bits_;
  RleHybridEncoder runs_{1, /*kudu_exact=*/false};
};

class RlePageDecoder final : public BlockDecoder<bool> {
 public:
  absl::Status Open(const BlockView& block) override {
    count_ = position_ = 0;
    ByteReader reader(block.bytes);
    std::span<const uint8_t> runs;
    if (block.count > 0 || !reader.empty()) {
      uint32_t length;
      if (!reader.ReadFixed(length)) {
        return DataLoss("parquet-rle: a page of ", block.bytes.size(),
                        " bytes has no room for its length of ", kLengthBytes, " bytes");
      }
      if (!reader.ReadBytes(length, runs)) {
        return DataLoss("parquet-rle: expected ", length, " bytes of runs at byte ", kLengthBytes,
                        ", found ", block.bytes.size() - kLengthBytes);
      }
    }
    runs_.Open(runs, 1);
    count_ = block.count;
    first_ordinal_ = block.first_ordinal;
    return absl::OkStatus();
  }
  absl::Status SeekTo(uint32_t position) override {
    assert(position <= count_);
    CFILE_RETURN_IF_ERROR(runs_.SeekTo(position).status());
    position_ = position;
    return absl::OkStatus();
  }
  absl::StatusOr<size_t> Read(std::span<bool> out) override {
    const size_t n = std::min<size_t>(out.size(), count_ - position_);
    CFILE_RETURN_IF_ERROR(runs_.Read(reinterpret_cast<uint8_t*>(out.data()), n));
    position_ += static_cast<uint32_t>(n);
    return n;
  }
  absl::StatusOr<LowerBound> SeekToKey(const bool& key) override {
    CFILE_ASSIGN_OR_RETURN(const uint64_t position, runs_.SeekToLowerBound(key ? 1 : 0, 0, count_));
    position_ = static_cast<uint32_t>(position);
    if (position_ == count_) return LowerBound{position_, false};
    CFILE_ASSIGN_OR_RETURN(const uint64_t value, runs_.Peek());
    return LowerBound{position_, (value != 0) == key};
  }

 private:
  RleHybridReader runs_;
};

}  // namespace

std::unique_ptr<PageEncoder<bool>> MakeParquetRleEncoder() {
  return std::make_unique<RlePageEncoder>();
}

std::unique_ptr<BlockDecoder<bool>> MakeParquetRleDecoder() {
  return std::make_unique<RlePageDecoder>();
}

}  // namespace cfile::encodings
