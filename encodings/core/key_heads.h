// Binary search over many ascending byte strings, mostly without reading the strings. An array
// holds the head of each string: the 8 bytes after the prefix that all strings share, as a number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/core/bytes.h"
#include "encodings/core/compare_bytes.h"

namespace cfile::encodings {

// Returns how many of the ascending `values` are less than `value`. Has no branch on the values:
// the compiler emits conditional moves.
inline uint32_t CountLess(std::span<const uint64_t> values, uint64_t value) {
  const uint64_t* base = values.data();
  size_t length = values.size();
  while (length > 1) {
    const size_t half = length / 2;
    base += base[half - 1] < value ? half : 0;
    length -= half;
  }
  return static_cast<uint32_t>(base - values.data()) + (length == 1 && *base < value ? 1 : 0);
}

// The heads of a list of keys. Immutable after construction. Does not own the keys: each call that
// needs keys takes a function that returns them.
class KeyHeads {
 public:
  KeyHeads() = default;

  // Makes the heads of `count` keys; key(i) returns the i-th key as a std::string_view. The keys
  // should ascend. If they do not, searches are safe, but return an arbitrary position.
  template <typename Key>
  KeyHeads(uint32_t count, Key&& key) {
    if (count == 0) return;
    const std::string_view first = key(0);
    common_ = first.substr(0, CommonPrefix(first, key(count - 1)));
    heads_.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const std::string_view whole = key(i);
      heads_.push_back(BytesHead(whole.substr(std::min(whole.size(), common_.size()))));
      if (i % kGroup == kGroup - 1) samples_.push_back(heads_.back());
    }
  }

  // Returns how many of the keys are less than `wanted`. Calls key(i) only for a few of the keys
  // whose head equals the head of `wanted`.
  template <typename Key>
  uint32_t CountKeysLess(std::string_view wanted, Key&& key) const {
    const auto count = static_cast<uint32_t>(heads_.size());
    const std::string_view front = wanted.substr(0, common_.size());
    if (front != common_) return BytesLess(front, common_) ? 0 : count;
    const uint64_t head = BytesHead(wanted.substr(common_.size()));
    const uint32_t group = CountLess(samples_, head);  // the first group whose last head is >= head
    const uint32_t begin = group * kGroup;
    uint32_t less =
        begin + CountLess(std::span(heads_).subspan(begin, std::min(kGroup, count - begin)), head);
    if (less < count && heads_[less] == head) {
      uint32_t end =
          head == std::numeric_limits<uint64_t>::max() ? count : CountLess(heads_, head + 1);
      while (less < end) {
        const uint32_t middle = less + (end - less) / 2;
        if (BytesLess(key(middle), wanted)) {
          less = middle + 1;
        } else {
          end = middle;
        }
      }
    }
    return less;
  }

  size_t memory_usage_bytes() const {
    return (heads_.capacity() + samples_.capacity()) * sizeof(uint64_t) + common_.capacity();
  }
  // The largest possible memory_usage_bytes() for `count` keys, without the bytes of common_.
  // (common_ is at most as long as a key.)
  static size_t MostBytesOfHeads(size_t count) {
    return (count + 2 * (count / kGroup)) * sizeof(uint64_t);  // samples_ grows by doubling
  }

 private:
  std::string common_;  // the prefix that all keys share
  std::vector<uint64_t> heads_;
  // The last head of each whole group of kGroup heads. The samples are few, so that they stay in
  // the CPU cache even if many KeyHeads are searched in turn.
  static constexpr uint32_t kGroup = 16;
  std::vector<uint64_t> samples_;
};

}  // namespace cfile::encodings
