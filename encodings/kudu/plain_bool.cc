#include "encodings/kudu/plain_bool.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "encodings/core/lower_bound.h"

namespace cfile::encodings {
namespace {

constexpr size_t kHeaderBytes = 8;

// Packs eight bools into the bits of a byte. One product moves bit 0 of byte i to bit 56 + i. Its
// terms are at bits 8i + 56 - 7j, which all differ, so that nothing is carried.
uint8_t PackEight(const bool* values) {
  const auto bytes = LoadLittleEndian<uint64_t>(reinterpret_cast<const uint8_t*>(values));
  return static_cast<uint8_t>((bytes * 0x0102040810204080) >> 56);
}
// Unpacks the bits of a byte into eight bools: copies the byte to each of 8 bytes, keeps only bit i
// in byte i, sets bit 7 of the byte if that bit is 1 by an addition, and shifts bit 7 down to bit
// 0.
void UnpackEight(uint8_t bits, bool* values) {
  const uint64_t kept = (uint64_t{bits} * 0x0101010101010101) & 0x8040201008040201;
  const uint64_t bytes = ((kept + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101;
  std::memcpy(values, &bytes, sizeof(bytes));
}

size_t BitmapBytes(uint32_t count) { return count / 8 + (count % 8 != 0); }

class PlainBoolEncoder final : public BlockEncoder<bool> {
 public:
  explicit PlainBoolEncoder(const EncoderOptions& options)
      : block_size_bytes_(options.block_size_bytes),
        capacity_(8 * (std::max(block_size_bytes_, kHeaderBytes + 1) - kHeaderBytes)),
        kudu_exact_(options.kudu_exact) {}

  size_t Append(std::span<const bool> values) override {
    if (full() || values.empty()) return 0;
    const size_t taken = kudu_exact_ ? values.size() : std::min(values.size(), capacity_ - count_);
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    const bool* next = values.data();
    const bool* end = next + taken;
    for (; next != end && count_ % 8 != 0; ++next) PutBit(*next);
    for (; end - next >= 8; next += 8, count_ += 8) bytes_.PutFixed(PackEight(next));
    for (; next != end; ++next) PutBit(*next);
    return taken;
  }

  bool full() const override {
    return kudu_exact_ ? size_bytes() > block_size_bytes_ && count_ > 0 : count_ >= capacity_;
  }
  uint32_t count() const override { return count_; }
  size_t size_bytes() const override { return kHeaderBytes + BitmapBytes(count_); }

  void Finish(uint64_t first_ordinal, EncodedBlock& block) override {
    if (count_ == 0) bytes_.Extend(kHeaderBytes);
    StoreLittleEndian(count_, bytes_.data());
    StoreLittleEndian(static_cast<uint32_t>(first_ordinal), bytes_.data() + 4);
    block.Clear();
    block.bytes.Swap(bytes_);
    block.count = count_;
    bytes_.Clear();
    count_ = 0;
  }

 private:
  void PutBit(bool value) {
    if (count_ % 8 == 0) bytes_.PutFixed(uint8_t{0});
    uint8_t& last = bytes_.data()[bytes_.size() - 1];
    last = static_cast<uint8_t>(last | value << (count_ % 8));
    ++count_;
  }

  const size_t block_size_bytes_;
  const size_t capacity_;  // values of a full block
  const bool kudu_exact_;
  ByteWriter bytes_;
  uint32_t count_ = 0;
};

class PlainBoolDecoder final : public BlockDecoder<bool> {
 public:
  absl::Status Open(const BlockView& view) override {
    const std::span<const uint8_t> block = view.bytes;
    count_ = position_ = 0;
    ByteReader reader(block);
    uint32_t count;
    if (!reader.ReadFixed(count) || !reader.ReadFixed(first_ordinal_)) {
      return DataLoss("plain bool: a block of ", block.size(),
                      " bytes has no room for its header of ", kHeaderBytes, " bytes");
    }
    if (reader.remaining() != BitmapBytes(count)) {
      return DataLoss("plain bool: a bitmap of ", BitmapBytes(count), " bytes for ", count,
                      " values expected at byte ", kHeaderBytes, ", found ", reader.remaining(),
                      " bytes");
    }
    bits_ = reader.rest().data();
    count_ = count;
    return absl::OkStatus();
  }

  absl::Status SeekTo(uint32_t position) override {
    assert(position <= count_);
    position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<bool> out) override {
    const size_t n = std::min<size_t>(out.size(), count_ - position_);
    bool* next = out.data();
    bool* end = next + n;
    for (; next != end && position_ % 8 != 0; ++next) *next = BitAt(position_++);
    for (; end - next >= 8; next += 8, position_ += 8) UnpackEight(bits_[position_ / 8], next);
    for (; next != end; ++next) *next = BitAt(position_++);
    return n;
  }

  absl::StatusOr<LowerBound> SeekToKey(const bool& key) override {
    position_ = FindLowerBound(count_, [&](uint32_t position) { return BitAt(position) < key; });
    return LowerBound{position_, position_ < count_ && BitAt(position_) == key};
  }

 private:
  bool BitAt(uint32_t position) const { return (bits_[position / 8] >> (position % 8) & 1) != 0; }

  const uint8_t* bits_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockEncoder<bool>> MakePlainBoolEncoder(const EncoderOptions& options) {
  return std::make_unique<PlainBoolEncoder>(options);
}

std::unique_ptr<BlockDecoder<bool>> MakePlainBoolDecoder() {
  return std::make_unique<PlainBoolDecoder>();
}

}  // namespace cfile::encodings
