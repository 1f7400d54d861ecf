// Strings as Arrow has them: all bytes back to back, and where each value's end.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "encodings/bytes.h"

namespace cfile::encodings {

// A caller owns it, decoders append to it (BlockDecoder::ReadPacked); to be cleared and used again,
// so that its memory grows to what a batch takes and stays. Movable, thread-compatible. Spans and
// views are valid until the next call that is not const.
class PackedStrings {
 public:
  PackedStrings() = default;
  PackedStrings(PackedStrings&& other) noexcept { Swap(other); }
  PackedStrings& operator=(PackedStrings&& other) noexcept {
    Swap(other);
    return *this;
  }

  // The most bytes of data: offsets fit Arrow's int32 too.
  static constexpr size_t kMaxDataBytes = INT32_MAX;

  size_t size() const { return size_; }
  // size() + 1 of them: value i is data()[offsets()[i]] to before data()[offsets()[i + 1]].
  std::span<const uint32_t> offsets() const {
    static constexpr uint32_t kZero = 0;
    return {offsets_ == nullptr ? &kZero : offsets_.get(), size_ + 1};
  }
  std::span<const uint8_t> data() const { return data_.span(); }
  // Precondition: i < size().
  std::string_view operator[](size_t i) const {
    assert(i < size_);
    return AsString(data().subspan(offsets_[i], offsets_[i + 1] - offsets_[i]));
  }

  // Forgets the values and keeps the memory.
  void Clear() {
    data_.Clear();
    size_ = 0;
  }

  // What follows is for decoders.

  // Bytes that the data may still grow by.
  size_t room() const { return kMaxDataBytes - data_.size(); }

  // Bytes behind those reserved that a decoder may overwrite, to copy in wide steps.
  static constexpr size_t kAhead = 64;

  // Where the end offsets of the next `values` values go, and the next `bytes` bytes of data; both
  // are uninitialised and count only when they are added. Keeps what was written behind the data
  // only up to Add.
  uint32_t* ReserveOffsets(size_t values) {
    if (values + 1 > capacity_ - size_) GrowOffsets(values);
    return offsets_.get() + size_ + 1;
  }
  uint8_t* ReserveData(size_t bytes) {
    data_.ReserveMore(bytes + kAhead);
    return data_.data() + data_.size();
  }
  // The next `values` values, whose offsets and `bytes` bytes of data are written. Preconditions:
  // so many were reserved; all data take at most kMaxDataBytes.
  void Add(size_t values, size_t bytes) {
    size_ += values;
    data_.Extend(bytes);
    assert(data_.size() <= kMaxDataBytes);
  }
  // Copies values that fit.
  void Append(std::span<const std::string_view> values) {
    size_t bytes = 0;
    for (const std::string_view value : values) bytes += value.size();
    uint32_t* const ends = ReserveOffsets(values.size());
    uint8_t* const to = ReserveData(bytes);
    const auto before = static_cast<uint32_t>(data_.size());
    size_t used = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!values[i].empty()) std::memcpy(to + used, values[i].data(), values[i].size());
      used += values[i].size();
      ends[i] = before + static_cast<uint32_t>(used);
    }
    Add(values.size(), bytes);
  }

 private:
  void Swap(PackedStrings& other) noexcept {
    data_.Swap(other.data_);
    offsets_.swap(other.offsets_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
  }
  void GrowOffsets(size_t values) {
    capacity_ = std::max(size_ + 1 + values, 2 * capacity_);
    auto offsets = std::make_unique_for_overwrite<uint32_t[]>(capacity_);
    if (offsets_ == nullptr) {
      offsets[0] = 0;
    } else {
      std::memcpy(offsets.get(), offsets_.get(), (size_ + 1) * sizeof(uint32_t));
    }
    offsets_ = std::move(offsets);
  }

  ByteWriter data_;
  std::unique_ptr<uint32_t[]> offsets_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

// What one call of ReadPacked may add to a PackedStrings: values whose bytes are at most kMaxBytes,
// or one of any size, as long as there is room for them. A few bytes of a block may stand for many
// long values, so this bounds what a call allocates.
class PackedBudget {
 public:
  static constexpr size_t kMaxBytes = size_t{16} << 20;

  explicit PackedBudget(const PackedStrings& out) : room_(out.room()) {}

  // Bytes that the next values may have; those of the next one alone.
  size_t left() const {
    const size_t most = std::min(room_, kMaxBytes);
    return used_ < most ? most - used_ : 0;
  }
  size_t left_for_one() const { return used_ == 0 ? room_ : left(); }

  // Counts values that fit; counts the next one unless it does not fit.
  void Use(size_t bytes) { used_ += bytes; }
  bool Take(size_t size) {
    if (size > left_for_one()) return false;
    used_ += size;
    return true;
  }

 private:
  size_t room_;
  size_t used_ = 0;
};

}  // namespace cfile::encodings
