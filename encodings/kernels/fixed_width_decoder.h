// Decodes values of a fixed width that lie back to back in a block: PLAIN of Kudu and of Parquet.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "encodings/core/assert.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"
#include "encodings/kernels/bool_bits.h"

namespace cfile::encodings {

// A block decoder that lacks only Open. The subclass implements Open: it must check that the block
// holds the BytesOf(count_) bytes of the values, set values_, count_ and first_ordinal_, and set
// position_ to 0. T is any type; std::string_view for fixed-length bytes. A bool is one bit.
template <typename T>
class FixedWidthDecoder : public BlockDecoder<T> {
 public:
  explicit FixedWidthDecoder(uint32_t type_length)
      : width_(kIsBytes<T> ? type_length : uint32_t{sizeof(T)}) {
    CFILE_ASSERT(width_ > 0);
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t n = this->Left(out.size());
    if (n == 0) return size_t{0};
    if constexpr (kIsBytes<T> || kIsBool) {
      const bool few = !kIsBool || n < 8;
      if constexpr (kIsBool) {
        if (!few) UnpackBools(values_, this->position_, out.data(), n);
      }
      for (size_t i = 0; few && i < n; ++i)
        out[i] = ValueAt(this->position_ + static_cast<uint32_t>(i));
    } else {
      std::memcpy(out.data(), AddressOf(this->position_), n * sizeof(T));
    }
    this->position_ += static_cast<uint32_t>(n);
    return n;
  }

  std::span<const T> Borrow(size_t max) override {
    if constexpr (kIsBytes<T> || kIsBool) {
      return {};
    } else {
      // sizeof(T) is a multiple of alignof(T): if the first value is aligned, all values are.
      if (reinterpret_cast<uintptr_t>(values_.data()) % alignof(T) != 0) return {};
      const size_t n = this->Left(max);
      if (n == 0) return {};
      const T* begin = reinterpret_cast<const T*>(values_.data()) + this->position_;
      this->position_ += static_cast<uint32_t>(n);
      return {begin, n};
    }
  }

  absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out) override {
    CFILE_ASSERT(out.size() == positions.size());
    for (size_t i = 0; i < positions.size(); ++i) out[i] = ValueAt(positions[i]);
    return absl::OkStatus();
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    return this->SeekToKeyInPlace(key, [&](uint32_t i) { return ValueAt(i); });
  }

 protected:
  uint64_t BytesOf(uint32_t count) const {
    return kIsBool ? BitmapBytes(count) : uint64_t{count} * width_;
  }

  // The bytes of the values. Further bytes may follow.
  std::span<const uint8_t> values_;

 private:
  static constexpr bool kIsBool = std::is_same_v<T, bool>;

  const uint8_t* AddressOf(uint32_t position) const {
    return values_.data() + size_t{position} * (kIsBytes<T> ? width_ : sizeof(T));
  }
  T ValueAt(uint32_t position) const {
    if constexpr (kIsBool) {
      return (values_[position / 8] >> (position % 8) & 1) != 0;
    } else if constexpr (kIsBytes<T>) {
      return AsString({AddressOf(position), width_});
    } else {
      return LoadLittleEndian<T>(AddressOf(position));
    }
  }

  const uint32_t width_;  // bytes
};

}  // namespace cfile::encodings
