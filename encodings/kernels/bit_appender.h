// Appends bits at any alignment to a bitmap, one word at a time. Internal to encodings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings {

// Writes a bitmap from front to end; the old contents of its memory do not matter. Writes no byte
// after the last bit. The caller ensures that the bitmap has space for all bits.
class BitAppender {
 public:
  explicit BitAppender(uint8_t* out) : out_(out) {}

  // Appends the lowest `count` bits of `bits`. Preconditions: 0 <= count <= 56; the higher bits are
  // 0.
  void Append(uint64_t bits, int count) {
    if (filled_ + count >= 64) {
      AppendWide(bits, count);
    } else {
      word_ |= bits << filled_;
      filled_ += count;
    }
  }
  // As Append, but without a branch. Precondition: 8 bytes can be written after the whole words
  // written so far.
  void AppendWide(uint64_t bits, int count) {
    word_ |= bits << filled_;
    StoreLittleEndian(word_, out_);
    const uint64_t carried = bits >> 1 >> (63 - filled_);
    filled_ += count;
    out_ += filled_ / 64 * 8;
    word_ = filled_ >= 64 ? carried : word_;
    filled_ %= 64;
  }
  void AppendRepeated(bool bit, uint64_t count) {
    const uint64_t pattern = bit ? ~uint64_t{0} : 0;
    if (count >= 64) {
      const int fill = 64 - filled_;
      StoreLittleEndian(word_ | pattern << filled_, out_);
      const uint64_t words = (count - static_cast<uint64_t>(fill)) / 64;
      std::memset(out_ + 8, static_cast<int>(pattern & 0xff), static_cast<size_t>(8 * words));
      out_ += 8 * (words + 1);
      count -= static_cast<uint64_t>(fill) + 64 * words;
      word_ = 0;
      filled_ = 0;
    }
    const int half = static_cast<int>(count / 2);
    Append(pattern & LowBits(half), half);
    Append(pattern & LowBits(static_cast<int>(count) - half), static_cast<int>(count) - half);
  }
  // Appends the bits [first, first + count) of `packed`.
  void AppendPacked(std::span<const uint8_t> packed, uint64_t first, uint64_t count) {
    const int shift = static_cast<int>(first % 8);
    const uint8_t* p = packed.data() + first / 8;
    for (; count >= 64 && packed.data() + packed.size() - p >= 9; p += 8, count -= 64) {
      const uint64_t above = uint64_t{p[8]} << 1 << (63 - shift);
      const uint64_t bits = LoadLittleEndian<uint64_t>(p) >> shift | above;
      StoreLittleEndian(word_ | bits << filled_, out_);
      out_ += 8;
      word_ = bits >> 1 >> (63 - filled_);
    }
    for (first = static_cast<uint64_t>(8 * (p - packed.data()) + shift); count > 0;) {
      const int taken = static_cast<int>(std::min<uint64_t>(count, kMaxBitsPerLoad));
      Append(LoadBits(packed, first, taken), taken);
      first += static_cast<uint64_t>(taken);
      count -= static_cast<uint64_t>(taken);
    }
  }
  // True if the bits appended so far fill whole words.
  bool is_aligned() const { return filled_ == 0; }
  // Appends `words` words of 8 bytes, which the caller writes to the result. Precondition:
  // is_aligned().
  uint8_t* Extend(size_t words) {
    uint8_t* const from = out_;
    out_ += 8 * words;
    return from;
  }
  // Writes the last bits, which do not fill a word.
  void Finish() {
    if (filled_ > 0) std::memcpy(out_, &word_, static_cast<size_t>((filled_ + 7) / 8));
  }

 private:
  uint8_t* out_;
  uint64_t word_ = 0;
  int filled_ = 0;
};

}  // namespace cfile::encodings
