// Finds the least and the greatest of many byte strings. Reads no byte after the end of a string.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"

namespace cfile::encodings {

// Keeps the least and the greatest of the values added. Both are views of those values: the caller
// must keep their bytes valid. Most values are compared with the bounds by one byte only, or by the
// 8 bytes after the prefix that both bounds share.
class BytesBounds {
 public:
  // Begins with the given bounds. Precondition: min <= max.
  BytesBounds(std::string_view min, std::string_view max) : min_(min), max_(max) { Update(); }

  std::string_view min() const { return min_; }
  std::string_view max() const { return max_; }

  void Add(std::span<const std::string_view> values) {
    constexpr size_t kTogether = 64;
    // How often AllBetween was false, up to 2. After that, it is probably false for the rest, too.
    int failures = 0;
    while (!values.empty()) {
      const auto some = values.first(std::min(values.size(), kTogether));
      if (failures == 2 || !AllBetween(some)) {
        for (const std::string_view value : some) Add(value);
        failures = std::min(failures + 1, 2);
      }
      values = values.subspan(some.size());
    }
  }

  void Add(std::string_view value) {
    uint64_t head;
    if (common_ == 0) {
      if (!value.empty()) {
        const uint8_t first = AsBytes(value)[0];
        if (first > min_first_ && first < max_first_) return;
      }
      head = BytesHead(value);
    } else {
      if (value.size() < common_ + 8 || !SharesCommon(value)) return AddAny(value);
      head = __builtin_bswap64(LoadLittleEndian<uint64_t>(AsBytes(value).data() + common_));
    }
    if (head > min_head_ && head < max_head_) return;
    if (head == min_head_ || head == max_head_) return AddAny(value);
    // `value` shares the common prefix, so common_ stays.
    if (head < min_head_) {
      min_ = value;
      SetMinHead(head);
    } else {
      max_ = value;
      SetMaxHead(head);
    }
  }

 private:
  // True only if all values are greater than the least and less than the greatest; may be false
  // even then. Its loops have no branches.
  bool AllBetween(std::span<const std::string_view> values) const {
    bool between = true;
    size_t sizes = 0;  // the top bit is 1 if a value has fewer than 8 bytes
    for (const std::string_view value : values) sizes |= value.size() - 8;
    if (common_ == 0 && static_cast<ptrdiff_t>(sizes) >= 0) {
      for (const std::string_view value : values) {
        const uint64_t head = LoadBigEndian64(AsBytes(value).data());
        between &= (head > min_head_) & (head < max_head_);
      }
    } else if (common_ == 0) {
      for (const std::string_view value : values) {
        // Loads the first 8 bytes, or the first 4 and the last 4 of a shorter value. Returns false
        // if a value has fewer than 4 bytes.
        const bool long_enough = value.size() >= 4;
        const uint8_t* const bytes = long_enough ? AsBytes(value).data() : kNoBytes;
        const size_t second = long_enough ? std::min<size_t>(value.size() - 4, 4) : 0;
        const uint64_t high = __builtin_bswap32(LoadLittleEndian<uint32_t>(bytes));
        const uint64_t low = __builtin_bswap32(LoadLittleEndian<uint32_t>(bytes + second));
        const uint64_t head = high << 32 | (low << (8 * (4 - second)) & 0xffffffffu);
        between &= long_enough & (head > min_head_) & (head < max_head_);
      }
    } else if (common_ <= 16) {
      // The first 8 bytes of the prefix, and its last 8 bytes. (A prefix may be shorter than 8.)
      const uint64_t mask = ~uint64_t{0} >> (64 - 8 * std::min<size_t>(common_, 8));
      const size_t second = common_ - std::min<size_t>(common_, 8);
      const uint8_t* const prefix = AsBytes(min_).data();
      const auto first_word = LoadLittleEndian<uint64_t>(prefix);
      const auto second_word = LoadLittleEndian<uint64_t>(prefix + second);
      for (const std::string_view value : values) {
        const bool long_enough = value.size() >= common_ + 8;
        const uint8_t* const bytes = long_enough ? AsBytes(value).data() : kNoBytes;
        const uint64_t differences = (LoadLittleEndian<uint64_t>(bytes) ^ first_word) |
                                     (LoadLittleEndian<uint64_t>(bytes + second) ^ second_word);
        const uint64_t head = LoadBigEndian64(bytes + common_);
        between &=
            long_enough & ((differences & mask) == 0) & (head > min_head_) & (head < max_head_);
      }
    } else {
      between = false;
    }
    return between;
  }

  // True if `value` begins with the prefix that both bounds share. Precondition: value.size() >=
  // common_ + 8.
  bool SharesCommon(std::string_view value) const {
    const uint8_t* const a = AsBytes(value).data();
    const uint8_t* const b = AsBytes(min_).data();
    const auto difference = [&](size_t i) {
      return LoadLittleEndian<uint64_t>(a + i) ^ LoadLittleEndian<uint64_t>(b + i);
    };
    if (common_ < 8) return difference(0) << (64 - 8 * common_) == 0;
    uint64_t differences = difference(common_ - 8);
    for (size_t i = 0; i + 8 < common_; i += 8) differences |= difference(i);
    return differences == 0;
  }

  void AddAny(std::string_view value) {
    const bool below = BytesLess(value, min_);
    if (!below && !BytesLess(max_, value)) return;
    (below ? min_ : max_) = value;
    Update();
  }

  void Update() {
    // At least 8 bytes must follow the prefix in both bounds, so that each head has 8 bytes.
    const size_t shorter = std::min(min_.size(), max_.size());
    common_ = shorter <= 8 ? 0 : std::min(CommonPrefix(min_, max_), shorter - 8);
    SetMinHead(BytesHead(min_.substr(common_)));
    SetMaxHead(BytesHead(max_.substr(common_)));
  }
  void SetMinHead(uint64_t head) {
    min_head_ = head;
    min_first_ = static_cast<uint8_t>(head >> 56);
  }
  void SetMaxHead(uint64_t head) {
    max_head_ = head;
    max_first_ = static_cast<uint8_t>(head >> 56);
  }

  static constexpr uint8_t kNoBytes[24] = {};  // read in place of values that are too short

  std::string_view min_;
  std::string_view max_;
  size_t common_ = 0;      // length of a shared prefix; if not 0, at least 8 bytes follow it
  uint64_t min_head_ = 0;  // the 8 bytes of min_ after the prefix
  uint64_t max_head_ = 0;
  uint8_t min_first_ = 0;  // the first byte of min_head_
  uint8_t max_first_ = 0;
};

}  // namespace cfile::encodings
