// Bitmaps that grow. They hold validity bits, or values of type bool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "cfile/parts/arrow/c_data.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/count_ones.h"

namespace cfile::internal {

// Writes a bit for each of `count` bytes, which are 0 or 1.
inline void PackBytes(const uint8_t* bytes, size_t count, uint8_t* bits) {
  encodings::PackBools({reinterpret_cast<const bool*>(bytes), count}, bits);
}

// A sequence of bits. Each byte is filled from its lowest bit on. Thread-compatible.
class Bitmap {
 public:
  size_t size() const { return size_; }

  // Appends the first `count` bits of `bits`. Bits after them have no effect.
  void Append(const uint8_t* bits, size_t count) {
    if (count == 0) return;
    Extend(
        count, [&](uint8_t* to) { std::memcpy(to, bits, (count + 7) / 8); },
        [&](size_t i) { return bits[i]; });
  }
  void AppendOnes(size_t count) {
    if (count == 0) return;
    Extend(
        count, [&](uint8_t* to) { std::memset(to, 0xff, (count + 7) / 8); },
        [](size_t) { return uint8_t{0xff}; });
  }
  // Appends a bit for each of `count` bytes, which are 0 or 1.
  void AppendBytes(const uint8_t* bytes, size_t count) {
    uint8_t packed[512];
    while (count > 0) {
      const size_t some = std::min(count, 8 * sizeof(packed));
      PackBytes(bytes, some, packed);
      Append(packed, some);
      bytes += some;
      count -= some;
    }
  }
  void Truncate(size_t size) {
    if (size >= size_) return;
    size_ = size;
    bytes_.Truncate((size + 7) / 8);
  }

  size_t CountZeros() const { return size_ - encodings::CountOnes(bytes_.span(), 0, size_); }

  // Moves the bits into a new buffer at the end of the buffers of `parts`.
  void Finish(ArrayParts& parts) {
    auto bytes = std::make_shared<encodings::ByteWriter>(std::move(bytes_));
    bytes_ = {};
    size_ = 0;
    const void* const data = bytes->data();
    parts.AddBuffer(data, std::move(bytes));
  }

 private:
  static uint8_t Mask(size_t size) { return static_cast<uint8_t>((1u << size % 8) - 1); }

  // Appends `count` bits.
  // whole(to) writes bits to `to`, where a byte begins. byte(i) returns 8 bits.
  template <typename Whole, typename Byte>
  void Extend(size_t count, const Whole& whole, const Byte& byte) {
    const size_t shift = size_ % 8;
    const size_t begin = size_ / 8;
    const size_t added = (size_ + count + 7) / 8 - bytes_.size();
    uint8_t* const to = bytes_.Extend(added) - (shift == 0 ? 0 : 1);
    if (shift == 0) {
      whole(to);
    } else {
      unsigned carry = bytes_.data()[begin] & Mask(size_);
      for (size_t i = 0; i < (count + 7) / 8; ++i) {
        const unsigned bits = carry | static_cast<unsigned>(byte(i)) << shift;
        to[i] = static_cast<uint8_t>(bits);
        carry = bits >> 8;
      }
      if ((count + 7) / 8 < added + 1) to[added] = static_cast<uint8_t>(carry);
    }
    size_ += count;
  }

  encodings::ByteWriter bytes_;
  size_t size_ = 0;
};

// A validity bitmap: a bit is 1 if its row has a value. It takes memory only if there are nulls.
class Validity {
 public:
  size_t size() const { return size_; }

  // `bits`: as for Bitmap::Append. If `bits` is null, all rows have values.
  void Append(const uint8_t* bits, size_t count) {
    if (bits != nullptr || bits_.size() > 0) {
      bits_.AppendOnes(size_ - bits_.size());  // values of the rows before the first null
      if (bits != nullptr) {
        bits_.Append(bits, count);
      } else {
        bits_.AppendOnes(count);
      }
    }
    size_ += count;
  }
  void Truncate(size_t size) {
    bits_.Truncate(size);
    size_ = std::min(size_, size);
  }
  // Sets the length, the null count and the first buffer of `parts`.
  void Finish(ArrayParts& parts) {
    parts.length = static_cast<int64_t>(size_);
    parts.null_count = static_cast<int64_t>(bits_.CountZeros());
    if (parts.null_count > 0) {
      bits_.Finish(parts);
    } else {
      bits_.Truncate(0);
      parts.buffers.push_back(nullptr);
    }
    size_ = 0;
  }

 private:
  Bitmap bits_;  // of the first rows; empty if there are no nulls so far
  size_t size_ = 0;
};

}  // namespace cfile::internal
