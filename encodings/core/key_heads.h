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
#include "encodings/core/lower_bound.h"

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

// The heads of a list of keys, without the keys: a call that needs them takes a function key(i),
// which returns key i, the same in all calls. Immutable after construction, so several threads may
// search.
class KeyHeads {
 public:
  KeyHeads() = default;

  // Makes the heads of `count` keys. key(i) returns a std::string_view, which must still be valid
  // after one more call of key. The keys should ascend; if they do not, searches are safe, but
  // return an arbitrary position. Keys with equal heads get more heads, in at most `more_numbers`
  // numbers of 8 bytes; to make them, the constructor reads at most about eight times the bytes of
  // all keys.
  template <typename Key>
  KeyHeads(uint32_t count, Key&& key, size_t more_numbers = 0) {
    if (count == 0) return;
    size_t read_bytes = 0;  // of keys; to get a key may take time for each of its bytes
    const auto read_key = [&](uint32_t i) -> std::string_view {
      const std::string_view result = key(i);
      read_bytes += result.size();
      return result;
    };
    const size_t common = CommonPrefix(key(0), key(count - 1));
    numbers_.reserve(NumbersOf(common) + count / kGroup + count);
    root_ = Add({.count = count}, 0, common, read_key);
    const size_t most_bytes = (1 + kMostRereads) * read_bytes;
    // runs_ grows while the loop goes on.
    for (size_t parent = 0; more_numbers > 0 && parent <= runs_.size(); ++parent) {
      const auto children_begin = static_cast<uint32_t>(runs_.size());
      const Run run = parent == 0 ? root_ : runs_[parent - 1];
      for (uint32_t begin = 0, end = 0; begin < run.count; begin = end) {
        const uint64_t* const heads = &numbers_[run.heads_begin];
        while (end < run.count && heads[end] == heads[begin]) ++end;
        if (end - begin < kLeastRun || read_bytes > most_bytes) continue;
        const Run child{.begin = run.begin + begin, .count = end - begin};
        const size_t shared =
            CommonPrefix(From(read_key(child.begin), run.depth),
                         From(read_key(child.begin + child.count - 1), run.depth));
        const size_t numbers = child.count + sizeof(Run) / sizeof(uint64_t) + NumbersOf(shared);
        // Fewer common bytes mean that a key ends before the end of its head.
        if (shared < sizeof(uint64_t) || numbers > more_numbers) continue;
        more_numbers -= numbers;
        runs_.push_back(Add(child, run.depth, shared, read_key));
      }
      Run& kept = parent == 0 ? root_ : runs_[parent - 1];
      kept.children_begin = children_begin;
      kept.children_end = static_cast<uint32_t>(runs_.size());
    }
    numbers_.shrink_to_fit();
    runs_.shrink_to_fit();
  }

  // Returns how many of the keys are less than `wanted`. Calls key(i) only for a few of the keys
  // whose heads equal those of `wanted`.
  template <typename Key>
  uint32_t CountKeysLess(std::string_view wanted, Key&& key) const {
    const Found found = Find(wanted);
    return CompareKeys(wanted, found.less, found.end, key);
  }

  // Estimates the result of CountKeysLess without keys: half of the keys with the same heads as
  // `wanted` count. At most the number of keys.
  uint32_t EstimateKeysLess(std::string_view wanted) const {
    const Found found = Find(wanted);
    return found.less + (found.end - found.less) / 2;
  }

  // Asks the CPU to fetch what a search reads first.
  void Prefetch() const {
    constexpr size_t kNumbersOfLine = 8, kLines = 4;
    for (size_t i = 0; i < std::min(numbers_.size(), kLines * kNumbersOfLine); i += kNumbersOfLine)
      __builtin_prefetch(numbers_.data() + i);
  }

  size_t memory_usage_bytes() const {
    return numbers_.capacity() * sizeof(uint64_t) + runs_.capacity() * sizeof(Run);
  }
  // The largest possible memory_usage_bytes() for `count` keys if `more_numbers` is 0, without the
  // bytes of the common prefix. (It is at most as long as a key.)
  static size_t MostBytesOfHeads(size_t count) {
    return (count + count / kGroup + 1) * sizeof(uint64_t);
  }

 private:
  // The keys of the whole list, or neighbours with equal heads in another run, their parent.
  struct Run {
    uint32_t begin = 0;  // the first key
    uint32_t count = 0;
    uint32_t heads_begin = 0;  // in numbers_
    // The prefix that the keys share after the common prefixes of the parent and of its parents.
    uint32_t common_begin = 0;  // in numbers_
    uint32_t common_size = 0;   // bytes
    uint32_t depth = 0;         // the size of all these prefixes: where the heads begin
    // In runs_: the runs of which this run is the parent, ascending. There are none for short runs.
    uint32_t children_begin = 0;
    uint32_t children_end = 0;
  };

  static std::string_view From(std::string_view key, size_t begin) {
    return key.substr(std::min(key.size(), begin));
  }

  static size_t NumbersOf(size_t bytes) {
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  }

  // Appends the numbers of a run, and returns the run. Its keys share `common` bytes after the
  // first `depth` bytes.
  template <typename Key>
  Run Add(Run run, size_t depth, size_t common, const Key& key) {
    const size_t samples = numbers_.empty() ? run.count / kGroup : 0;
    run.common_begin = static_cast<uint32_t>(numbers_.size());
    run.common_size = static_cast<uint32_t>(common);
    run.depth = static_cast<uint32_t>(depth + common);
    numbers_.resize(numbers_.size() + NumbersOf(common) + samples);
    const std::string_view prefix = From(key(run.begin), depth).substr(0, common);
    std::copy(prefix.begin(), prefix.end(),
              reinterpret_cast<char*>(numbers_.data() + run.common_begin));
    run.heads_begin = static_cast<uint32_t>(numbers_.size());
    for (uint32_t i = 0; i < run.count; ++i)
      numbers_.push_back(BytesHead(From(key(run.begin + i), run.depth)));
    uint64_t* const heads = numbers_.data() + run.heads_begin;
    for (size_t i = 0; i < samples; ++i) *(heads - samples + i) = heads[i * kGroup + kGroup - 1];
    return run;
  }

  // The result of a search among the heads: the first `less` keys are less than the wanted key, and
  // the keys from `end` on are not less. The heads do not decide about the keys between. `end` is
  // at least `less`, even if the keys do not ascend.
  struct Found {
    uint32_t less = 0;
    uint32_t end = 0;
  };
  Found Find(std::string_view wanted) const {
    const Run* run = &root_;
    std::string_view rest = wanted;
    while (run->count > 0) {
      const std::string_view common(
          reinterpret_cast<const char*>(numbers_.data() + run->common_begin), run->common_size);
      if (CommonPrefix(rest, common) < common.size()) {
        const uint32_t less = run->begin + (BytesLess(rest, common) ? 0 : run->count);
        return {less, less};
      }
      rest.remove_prefix(common.size());
      const uint64_t head = BytesHead(rest);
      const auto heads = std::span(numbers_).subspan(run->heads_begin, run->count);
      uint32_t less = 0;
      if (run == &root_) {  // the first group whose last head is not less has the result
        const size_t samples = run->count / kGroup;
        less = CountLess({heads.data() - samples, samples}, head) * kGroup;
        less += CountLess(heads.subspan(less, std::min(kGroup, run->count - less)), head);
      } else {
        less = CountLess(heads, head);
      }
      if (less == run->count || heads[less] != head) return {run->begin + less, run->begin + less};
      const Run* const child = FindChild(*run, run->begin + less);
      if (child == nullptr) {
        const bool last = head == std::numeric_limits<uint64_t>::max();
        const uint32_t end = last ? run->count : less + CountLess(heads.subspan(less), head + 1);
        return {run->begin + less, run->begin + end};
      }
      run = child;
    }
    return {};
  }

  // Returns the child that begins with key `begin`, or nullptr.
  const Run* FindChild(const Run& parent, uint32_t begin) const {
    const auto children = std::span(runs_).subspan(parent.children_begin,
                                                   parent.children_end - parent.children_begin);
    const uint32_t found = FindLowerBound(static_cast<uint32_t>(children.size()),
                                          [&](uint32_t i) { return children[i].begin < begin; });
    return found < children.size() && children[found].begin == begin ? &children[found] : nullptr;
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
  static constexpr size_t kMostRereads = 8;

  // The first run has samples of its heads: the last head of each whole group of kGroup heads. They
  // are so few that they stay in the CPU cache even if many KeyHeads are searched in turn.
  static constexpr uint32_t kGroup = 16;

  Run root_;               // all keys
  std::vector<Run> runs_;  // all other runs
  // Of each run: the bytes of its common prefix, padded; the samples; the heads. All are in one
  // array, so that a search in a short list waits for memory once.
  std::vector<uint64_t> numbers_;
};

}  // namespace cfile::encodings
