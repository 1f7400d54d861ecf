// A sample (the first values of a block) and its nature (averages over these values). Automatic
// choice uses both.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "encodings/core/compare_bytes.h"
#include "encodings/core/lane.h"
#include "encodings/core/physical_type.h"

namespace cfile::internal {

// A sample has at most this many values and at most this many bytes.
inline constexpr size_t kSampleValues = 4096;
inline constexpr size_t kSampleBytes = 64 * 1024;
// The limits of a wide sample. A sample becomes wide before a trial (auto_encoder.h).
inline constexpr size_t kWideSampleValues = 64 * 1024;
inline constexpr size_t kWideSampleBytes = 256 * 1024;

// A sample must fit into one block with every encoding. block_bytes is the block's size. The other
// two numbers are the maximum over all encodings of the bytes that an encoding adds.
struct SampleLimits {
  size_t block_bytes = 0;
  uint32_t extra_bytes_per_value = 0;
  uint32_t extra_bytes_per_block = 0;
};

// Copies of the first values of a block. Thread-compatible.
class Sample {
 public:
  Sample(encodings::Lane lane, const SampleLimits& limits)
      : lane_(lane),
        width_(encodings::WidthOf(lane)),
        extra_bytes_per_value_(limits.extra_bytes_per_value),
        room_(limits.block_bytes -
              std::min<size_t>(limits.block_bytes, limits.extra_bytes_per_block)) {}

  // Copies values from the front of `values` until the sample is full. Returns how many values were
  // copied. The first value always fits, unless it has more than kSampleBytes bytes.
  size_t Add(encodings::ValueSpan values) {
    if (values_ == nullptr) Allocate();
    const size_t most = std::min(values.count, most_values() - count_);
    if (is_bytes()) return AddTexts(values.As<std::string_view>().first(most));
    const size_t room = std::min(room_, most_bytes());
    const size_t fitting = std::max<size_t>(1, room / (width_ + extra_bytes_per_value_));
    const size_t taken = std::min(most, fitting - std::min(fitting, count_));
    if (taken > 0) std::memcpy(&values_[count_ * width_], values.data, taken * width_);
    count_ += taken;
    bytes_ += taken * width_;
    return taken;
  }

  // Lets the sample grow to the size of a wide sample, until Clear. Invalidates values().
  void Widen() {
    wide_ = true;
    const std::unique_ptr<std::byte[]> values = std::move(values_);
    const std::unique_ptr<char[]> text = std::move(text_);
    Allocate();
    std::copy_n(values.get(), count_ * width_, values_.get());
    if (!is_bytes()) return;
    std::copy_n(text.get(), bytes_, text_.get());
    for (size_t i = 0; i < count_; ++i) {
      const std::string_view value = texts()[i];
      texts()[i] = {&text_[static_cast<size_t>(value.data() - text.get())], value.size()};
    }
  }
  bool wide() const { return wide_; }

  // True if some encoder's block may be too small for the sample. This happens only if the sample
  // has a single value.
  bool may_fill_block() const { return bytes_ + count_ * extra_bytes_per_value_ > room_; }

  // Valid until the next call of Widen or Clear.
  encodings::ValueSpan values() const { return {values_.get(), count_}; }
  // Bytes of the values.
  size_t size_bytes() const { return bytes_; }
  size_t memory_usage_bytes() const {
    return (values_ == nullptr ? 0 : most_values() * width_) +
           (text_ == nullptr ? 0 : most_bytes());
  }
  // Empties the sample. Frees the memory of a wide sample.
  void Clear() {
    count_ = bytes_ = 0;
    if (!wide_) return;
    wide_ = false;
    values_.reset();
    text_.reset();
  }

 private:
  bool is_bytes() const { return lane_ == encodings::Lane::kBytes; }
  std::string_view* texts() { return reinterpret_cast<std::string_view*>(values_.get()); }
  size_t most_values() const { return wide_ ? kWideSampleValues : kSampleValues; }
  size_t most_bytes() const { return wide_ ? kWideSampleBytes : kSampleBytes; }
  void Allocate() {
    values_ = std::make_unique_for_overwrite<std::byte[]>(most_values() * width_);
    if (is_bytes()) text_ = std::make_unique_for_overwrite<char[]>(most_bytes());
  }
  size_t AddTexts(std::span<const std::string_view> values) {
    size_t taken = 0;
    for (; taken < values.size(); ++taken) {
      const std::string_view value = values[taken];
      if (value.size() > most_bytes() - bytes_) break;
      if (count_ > 0 && bytes_ + value.size() + (count_ + 1) * extra_bytes_per_value_ > room_)
        break;
      if (!value.empty()) std::memcpy(&text_[bytes_], value.data(), value.size());
      texts()[count_++] = {&text_[bytes_], value.size()};
      bytes_ += value.size();
    }
    return taken;
  }

  const encodings::Lane lane_;
  const size_t width_;
  const size_t extra_bytes_per_value_;
  const size_t room_;
  bool wide_ = false;
  std::unique_ptr<std::byte[]> values_;
  std::unique_ptr<char[]> text_;  // the bytes of strings
  size_t count_ = 0;
  size_t bytes_ = 0;
};

// True if one of two measures of the same kind is much greater than the other.
inline bool Differ(double a, double b) { return std::max(a, b) > 1.25 * std::min(a, b) + 0.25; }

// Averages over values. They distinguish columns that need different encodings.
struct Nature {
  double step = 0;      // numbers: bits of the difference to the previous; strings: common prefix
  double width = 0;     // strings: size in bytes; numbers: always 0
  double distinct = 0;  // 8 times the fraction of distinct values

  bool DiffersFrom(const Nature& other) const {
    return Differ(step, other.step) || Differ(width, other.width) ||
           Differ(distinct, other.distinct);
  }
};

// Up to 8 bytes of a value as a number.
template <typename T>
uint64_t BitsOf(const T& value) {
  uint64_t bits = 0;
  if constexpr (encodings::kIsBytes<T>) {
    // Combine both ends and the size, which distinguish strings.
    const size_t size = value.size();
    const size_t half = std::min<size_t>(size, 4);
    uint32_t front = 0, back = 0;
    if (half > 0) {
      std::memcpy(&front, value.data(), half);
      std::memcpy(&back, value.data() + size - half, half);
    }
    bits = (uint64_t{back} << 32 | front) + size;
  } else {
    std::memcpy(&bits, &value, std::min(sizeof(T), sizeof(bits)));
    if constexpr (encodings::kIsInteger<T> && std::is_signed_v<T> && sizeof(T) < 8) {
      bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    }
  }
  return bits;
}

inline constexpr size_t kNatureValues = 512;

// Finds the nature of the first kNatureValues values that are added.
class NatureFinder {
 public:
  explicit NatureFinder(encodings::PhysicalType type) : type_(type) {}

  // Adds values from the front of `values`, until kNatureValues values were added in total.
  void Add(encodings::ValueSpan values) {
    encodings::VisitPhysicalType(type_, [&]<typename T>(std::type_identity<T>) {
      const size_t most = std::min(values.count, kNatureValues - count_);
      for (const T& value : values.As<T>().first(most)) {
        const uint64_t bits = BitsOf(value);
        if constexpr (encodings::kIsBytes<T>) {
          AddStart(value);
        } else {
          const uint64_t delta = bits - previous_;
          if (count_ > 0) {
            step_ += static_cast<uint64_t>(std::bit_width(std::min(delta, uint64_t{0} - delta)));
          }
          previous_ = bits;
        }
        uint64_t& slot = seen_[(bits * 0x9E3779B97F4A7C15u) >> 54];
        if (count_ == 0 || slot != bits + 1) ++distinct_;
        slot = bits + 1;
        ++count_;
      }
    });
  }

  // Returns the nature of the added values. Precondition: at least one value was added.
  Nature Find() const {
    const auto count = static_cast<double>(count_);
    return {static_cast<double>(step_) / count, static_cast<double>(width_) / count,
            8 * static_cast<double>(distinct_) / count};
  }

 private:
  static constexpr size_t kMostPrefixBytes = 256;

  void AddStart(std::string_view value) {
    width_ += value.size();
    const std::string_view start = value.substr(0, kMostPrefixBytes);
    if (count_ > 0) step_ += encodings::CommonPrefix(previous_start_, start);
    previous_start_.assign(start);
  }

  encodings::PhysicalType type_;
  std::array<uint64_t, 1024> seen_{};
  uint64_t step_ = 0, width_ = 0, distinct_ = 0;
  uint64_t previous_ = 0;
  std::string previous_start_;
  size_t count_ = 0;
};

// Returns the nature of the first values of a sample. Precondition: `values` is not empty.
inline Nature NatureOf(encodings::ValueSpan values, encodings::PhysicalType type) {
  NatureFinder finder(type);
  finder.Add(values);
  return finder.Find();
}

}  // namespace cfile::internal
