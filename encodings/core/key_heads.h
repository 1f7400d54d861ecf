// Binary search over many ascending byte strings, mostly without reading the strings. An array
// holds the head of each string: the 8 bytes after the prefix that all strings share, as a number.
// If neighbours have equal heads, they can have more heads: the 8 bytes after the prefix that these
// neighbours share, and so on.
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

  // Makes the heads of `count` keys; key(i) returns the i-th key as a std::string_view, which is
  // valid until the call after the next one. The keys should ascend. If they do not, searches are
  // safe, but return an arbitrary position. More heads for keys with equal heads take at most the
  // memory of `more_numbers` numbers of 8 bytes.
  template <typename Key>
  KeyHeads(uint32_t count, Key&& key, size_t more_numbers = 0) {
    if (count == 0) return;
    heads_.reserve(count);
    Add({.count = count}, 0, CommonPrefix(key(0), key(count - 1)), key);
    for (uint32_t i = kGroup; i <= count; i += kGroup) samples_.push_back(heads_[i - 1]);
    // runs_ grows while the loop goes on.
    for (size_t parent = 0; more_numbers > 0 && parent < runs_.size(); ++parent) {
      runs_[parent].children_begin = static_cast<uint32_t>(runs_.size());
      for (uint32_t begin = 0, end = 0; begin < runs_[parent].count; begin = end) {
        const uint64_t* const heads = &heads_[runs_[parent].heads_begin];
        while (end < runs_[parent].count && heads[end] == heads[begin]) ++end;
        if (end - begin < kLeastRun) continue;
        const Run run{.begin = runs_[parent].begin + begin, .count = end - begin};
        const size_t depth = runs_[parent].depth;
        const size_t common = CommonPrefix(From(key(run.begin), depth),
                                           From(key(run.begin + run.count - 1), depth));
        const size_t numbers = run.count + (sizeof(Run) + common) / sizeof(uint64_t) + 1;
        // Fewer common bytes mean that a key ends before the end of its head.
        if (common < sizeof(uint64_t) || numbers > more_numbers) continue;
        more_numbers -= numbers;
        Add(run, depth, common, key);
      }
      runs_[parent].children_end = static_cast<uint32_t>(runs_.size());
    }
    heads_.shrink_to_fit();
    runs_.shrink_to_fit();
    commons_.shrink_to_fit();
  }

  // Returns how many of the keys are less than `wanted`. Calls key(i) only for a few of the keys
  // whose heads equal those of `wanted`.
  template <typename Key>
  uint32_t CountKeysLess(std::string_view wanted, Key&& key) const {
    if (runs_.empty()) return 0;
    const Run* run = &runs_[0];
    std::string_view rest = wanted;
    while (true) {
      const std::string_view common =
          std::string_view(commons_).substr(run->common_begin, run->common_size);
      if (CommonPrefix(rest, common) < common.size())
        return run->begin + (BytesLess(rest, common) ? 0 : run->count);
      rest.remove_prefix(common.size());
      const uint64_t head = BytesHead(rest);
      const auto heads = std::span(heads_).subspan(run->heads_begin, run->count);
      uint32_t less = 0;
      if (run == &runs_[0]) {  // the first group whose last head is not less has the result
        less = CountLess(samples_, head) * kGroup;
        less += CountLess(heads.subspan(less, std::min(kGroup, run->count - less)), head);
      } else {
        less = CountLess(heads, head);
      }
      if (less == run->count || heads[less] != head) return run->begin + less;
      const Run* const child = FindChild(*run, run->begin + less);
      if (child == nullptr) {
        const bool last = head == std::numeric_limits<uint64_t>::max();
        const uint32_t end = last ? run->count : CountLess(heads, head + 1);
        return CompareKeys(wanted, run->begin + less, run->begin + end, key);
      }
      run = child;
    }
  }

  size_t memory_usage_bytes() const {
    return (heads_.capacity() + samples_.capacity()) * sizeof(uint64_t) + commons_.capacity() +
           runs_.capacity() * sizeof(Run);
  }
  // The largest possible memory_usage_bytes() for `count` keys if `more_numbers` is 0, without the
  // bytes of the common prefix. (It is at most as long as a key.)
  static size_t MostBytesOfHeads(size_t count) {
    // samples_ grows by doubling.
    return (count + 2 * (count / kGroup)) * sizeof(uint64_t) + sizeof(Run);
  }

 private:
  // The keys of the whole list, or neighbours with equal heads in another run, their parent.
  struct Run {
    uint32_t begin = 0;  // the first key
    uint32_t count = 0;
    uint32_t heads_begin = 0;  // in heads_
    // The prefix that the keys share after the common prefixes of the parent and of its parents.
    uint32_t common_begin = 0;  // in commons_
    uint32_t common_size = 0;
    uint32_t depth = 0;  // the size of all these prefixes: where the heads begin
    // In runs_: the runs of which this run is the parent, ascending. There are none for short runs.
    uint32_t children_begin = 0;
    uint32_t children_end = 0;
  };

  static std::string_view From(std::string_view key, size_t begin) {
    return key.substr(std::min(key.size(), begin));
  }

  // Adds a run. Its keys share `common` bytes after the first `depth` bytes.
  template <typename Key>
  void Add(Run run, size_t depth, size_t common, Key& key) {
    run.heads_begin = static_cast<uint32_t>(heads_.size());
    run.common_begin = static_cast<uint32_t>(commons_.size());
    run.common_size = static_cast<uint32_t>(common);
    run.depth = static_cast<uint32_t>(depth + common);
    commons_ += From(key(run.begin), depth).substr(0, common);
    for (uint32_t i = 0; i < run.count; ++i)
      heads_.push_back(BytesHead(From(key(run.begin + i), run.depth)));
    runs_.push_back(run);
  }

  // Returns the child that begins with key `begin`, or nullptr.
  const Run* FindChild(const Run& parent, uint32_t begin) const {
    const auto first = runs_.begin() + parent.children_begin;
    const auto last = runs_.begin() + parent.children_end;
    const auto found = std::lower_bound(
        first, last, begin, [](const Run& run, uint32_t wanted) { return run.begin < wanted; });
    return found != last && found->begin == begin ? &*found : nullptr;
  }

  // Returns how many keys are less than `wanted`. Compares keys. Preconditions: the first `less`
  // keys are less than `wanted`; the keys from `end` on are not.
  template <typename Key>
  static uint32_t CompareKeys(std::string_view wanted, uint32_t less, uint32_t end, Key&& key) {
    while (less < end) {
      const uint32_t middle = less + (end - less) / 2;
      if (BytesLess(key(middle), wanted)) {
        less = middle + 1;
      } else {
        end = middle;
      }
    }
    return less;
  }

  // Fewer keys with equal heads are compared with the wanted key one by one.
  static constexpr uint32_t kLeastRun = 3;

  std::string commons_;           // the common prefixes of all runs
  std::vector<uint64_t> heads_;   // of all runs
  std::vector<Run> runs_;         // the first one has all keys
  // The last head of each whole group of kGroup heads of the first run. The samples are few, so
  // that they stay in the CPU cache even if many KeyHeads are searched in turn.
  static constexpr uint32_t kGroup = 16;
  std::vector<uint64_t> samples_;
};

}  // namespace cfile::encodings
