// Decodes values of a fixed width that lie back to back in a block: PLAIN of Kudu and of Parquet.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/key_order.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// A block decoder without Open. Open, in the subclass, must check that the block holds count_ *
// width_ bytes of values, and set values_ to the first value, count_, first_ordinal_, and position_
// to 0. T is any type but bool; std::string_view for fixed-length bytes.
template <typename T>
class FixedWidthDecoder : public BlockDecoder<T> {
 public:
  explicit FixedWidthDecoder(uint32_t type_length)
      : width_(kIsBytes<T> ? type_length : uint32_t{sizeof(T)}) {
    assert(width_ > 0);
  }

  absl::Status SeekTo(uint32_t position) override {
    assert(position <= this->count_);
    this->position_ = position;
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> Read(std::span<T> out) override {
    const size_t n = std::min<size_t>(out.size(), this->count_ - this->position_);
    if (n == 0) return size_t{0};
    if constexpr (kIsBytes<T>) {
      for (size_t i = 0; i < n; ++i) out[i] = ValueAt(this->position_ + static_cast<uint32_t>(i));
    } else {
      std::memcpy(out.data(), AddressOf(this->position_), n * sizeof(T));
    }
    this->position_ += static_cast<uint32_t>(n);
    return n;
  }

  std::span<const T> Borrow(size_t max) override {
    if constexpr (kIsBytes<T>) {
      return {};
    } else {
      // sizeof(T) is a multiple of alignof(T): if the first value is aligned, all values are.
      if (reinterpret_cast<uintptr_t>(values_) % alignof(T) != 0) return {};
      const size_t n = std::min<size_t>(max, this->count_ - this->position_);
      if (n == 0) return {};
      const T* begin = reinterpret_cast<const T*>(values_) + this->position_;
      this->position_ += static_cast<uint32_t>(n);
      return {begin, n};
    }
  }

  absl::Status Gather(std::span<const uint32_t> positions, std::span<T> out) override {
    assert(out.size() == positions.size());
    for (size_t i = 0; i < positions.size(); ++i) out[i] = ValueAt(positions[i]);
    return absl::OkStatus();
  }

  absl::StatusOr<LowerBound> SeekToKey(const T& key) override {
    this->position_ = FindLowerBound(
        this->count_, [&](uint32_t position) { return KeyLess(ValueAt(position), key); });
    return LowerBound{this->position_,
                      this->position_ < this->count_ && KeyEqual(ValueAt(this->position_), key)};
  }

 private:
  const uint8_t* AddressOf(uint32_t position) const {
    return values_ + size_t{position} * (kIsBytes<T> ? width_ : sizeof(T));
  }
  T ValueAt(uint32_t position) const {
    if constexpr (kIsBytes<T>) {
      return AsString({AddressOf(position), width_});
    } else {
      return LoadLittleEndian<T>(AddressOf(position));
    }
  }

 protected:
  const uint32_t width_;  // bytes
  const uint8_t* values_ = nullptr;
};

}  // namespace cfile::encodings
