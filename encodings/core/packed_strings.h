// Strings in Arrow's layout: the bytes of all values back to back, and the offset of the end of
// each value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"

namespace cfile::encodings {

// The caller owns the object; decoders append to it (BlockDecoder::ReadPacked). Call Clear and use
// the same object for the next batch, because it keeps its memory. Movable, thread-compatible.
// Spans and views are valid until the next non-const call.
class PackedStrings {
 public:
  PackedStrings() = default;
  PackedStrings(PackedStrings&& other) noexcept { Swap(other); }
  PackedStrings& operator=(PackedStrings&& other) noexcept {
    Swap(other);
    return *this;
  }

  // The largest size of data() in bytes, because offsets must also fit Arrow's int32.
  static constexpr size_t kMaxDataBytes = INT32_MAX;

  size_t size() const { return size_; }
  // size() + 1 offsets in data(): value i begins at offsets()[i] and ends before offsets()[i + 1].
  std::span<const uint32_t> offsets() const {
    static constexpr uint32_t kZero = 0;
    return {offsets_ == nullptr ? &kZero : offsets_.get(), size_ + 1};
  }
  std::span<const uint8_t> data() const { return data_.span(); }
  // Precondition: i < size().
  std::string_view operator[](size_t i) const {
    CFILE_ASSERT(i < size_);
    return AsString(data().subspan(offsets_[i], offsets_[i + 1] - offsets_[i]));
  }

  // The bytes of memory that the object holds. Unused memory counts, too.
  size_t memory_bytes() const { return data_.capacity() + capacity_ * sizeof(uint32_t); }

  // Removes all values and keeps the memory.
  void Clear() {
    data_.Clear();
    size_ = 0;
  }

  // The functions below are for decoders.

  // Bytes by which data() may still grow.
  size_t room() const { return kMaxDataBytes - data_.size(); }

  // Bytes after the reserved data that a decoder may overwrite, so that it can copy in wide steps.
  static constexpr size_t kAhead = 64;

  // Return where to write the end offsets of the next `values` values, and the next `bytes` bytes
  // of data. The memory is uninitialised, and becomes part of the object only when Add is called. A
  // further call of the same function may discard bytes that were written but not added.
  uint32_t* ReserveOffsets(size_t values) {
    if (values + 1 > capacity_ - size_) GrowOffsets(values);
    return offsets_.get() + size_ + 1;
  }
  uint8_t* ReserveData(size_t bytes) {
    data_.ReserveMore(bytes + kAhead);
    return data_.data() + data_.size();
  }
  // Adds the next `values` values, whose end offsets and `bytes` bytes of data the caller has
  // written. Preconditions: the caller has reserved space for them; data() has at most
  // kMaxDataBytes bytes afterwards.
  void Add(size_t values, size_t bytes) {
    size_ += values;
    data_.Extend(bytes);
    CFILE_ASSERT(data_.size() <= kMaxDataBytes);
  }
  // Appends copies of `values`. Precondition: the values have at most room() bytes in total.
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
    std::unique_ptr<uint32_t[]> offsets(new uint32_t[capacity_]);
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

// Limits what one call of ReadPacked adds to a PackedStrings: values of at most kMaxBytes bytes in
// total, or one value of any size; never more than fits in the PackedStrings. Without this limit, a
// block of a few bytes that stands for many long values could exhaust memory.
class PackedBudget {
 public:
  static constexpr size_t kMaxBytes = size_t{16} << 20;

  explicit PackedBudget(const PackedStrings& out) : room_(out.room()) {}

  // Bytes available for the next values, and for the next value alone: the first value of a call
  // may use all the room.
  size_t left() const {
    const size_t most = std::min(room_, kMaxBytes);
    return used_ < most ? most - used_ : 0;
  }
  size_t left_for_one() const { return used_ == 0 ? room_ : left(); }

  // Use counts `bytes` bytes that are known to fit. Take counts one value of `size` bytes, or
  // returns false if it does not fit.
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
