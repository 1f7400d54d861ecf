// The least and the greatest of many byte strings. Reads nothing behind any of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "encodings/bytes.h"
#include "encodings/compare_bytes.h"

namespace cfile::encodings {

// The bounds of the values added. Views of them: their bytes must stay. Keeps them so that most
// values are told from them by a byte, or by 8 bytes behind what all have in common.
class BytesBounds {
 public:
  // Begins with values that are there already. Precondition: min <= max.
  BytesBounds(std::string_view min, std::string_view max) : min_(min), max_(max) { Update(); }

  std::string_view min() const { return min_; }
  std::string_view max() const { return max_; }

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
    // `value` shares what is common, so that stays.
    if (head < min_head_) {
      min_ = value;
      SetMinHead(head);
    } else {
      max_ = value;
      SetMaxHead(head);
    }
  }

 private:
  // Precondition: value.size() >= common_ + 8.
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
    // The heads should be whole.
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

  std::string_view min_;
  std::string_view max_;
  size_t common_ = 0;      // bytes that both begin with; at least 8 follow them unless it is 0
  uint64_t min_head_ = 0;  // what follows them
  uint64_t max_head_ = 0;
  uint8_t min_first_ = 0;  // the first byte of that
  uint8_t max_first_ = 0;
};

}  // namespace cfile::encodings
