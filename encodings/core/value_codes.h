// Gives codes to distinct values, in the order in which the values are first seen. For dictionary
// encoders, which look up every value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"

namespace cfile::encodings {

// Mixes two numbers into a hash. Each bit of the hash depends on all bits of both numbers.
inline uint64_t MixBits(uint64_t a, uint64_t b) {
  const uint128_t product = static_cast<uint128_t>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
// Per-process random seed against collision attacks. (Codes do not depend on it.)
struct HashSeed {
  uint64_t first;
  uint64_t second;
};
inline const HashSeed& ProcessHashSeed() {
  static const HashSeed seed = [] {
    std::random_device device;
    const auto number = [&device] { return uint64_t{device()} << 32 | device(); };
    return HashSeed{number() | 1, number() | 1};
  }();
  return seed;
}

// The lookup key of a string. Two strings of equal length, at most 16 bytes, are equal if their
// `low` and `high` are equal.
struct TextKey {
  uint64_t hash;
  // The string's last 1 to 16 bytes, some of them twice; 0 if the string is empty.
  uint64_t low;
  uint64_t high;
};
inline TextKey KeyOfText(std::string_view value, const HashSeed& seed) {
  const uint8_t* p = AsBytes(value).data();
  size_t left = value.size();
  uint64_t hash = seed.first ^ left;
  for (; left > 16; left -= 16, p += 16) {
    hash = MixBits(LoadLittleEndian<uint64_t>(p) ^ hash,
                   LoadLittleEndian<uint64_t>(p + 8) ^ seed.second);
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 4) {
    // Load the first 8 and the last 8 bytes or, if fewer than 8 bytes are left, the first 4 and the
    // last 4 bytes, each twice. There is no branch, because lengths are unpredictable.
    const auto pair = [](const uint8_t* a, const uint8_t* b) {
      return LoadLittleEndian<uint32_t>(a) | uint64_t{LoadLittleEndian<uint32_t>(b)} << 32;
    };
    const size_t inner = left >= 8 ? 4 : 0;
    const uint8_t* const last = p + left - 4;
    low = pair(p, p + inner);
    high = pair(last - inner, last);
  } else if (left > 0) {
    low = uint64_t{p[0]} | uint64_t{p[left / 2]} << 8 | uint64_t{p[left - 1]} << 16;
  }
  return {MixBits(low ^ hash, high ^ seed.second), low, high};
}

// A hash table with open addressing. A slot has a tag and a code; at most a quarter of the slots
// are used.
template <typename Slot>
class CodeSlots {
 public:
  CodeSlots() { Reset(0); }

  // Removes all entries and makes room for more than `count` values.
  void Reset(size_t count) {
    size_ = std::bit_ceil(std::max<size_t>(6 * count, 256));
    slots_ = std::make_unique<Slot[]>(size_);
    shift_ = 64 - std::countr_zero(size_);
  }
  size_t memory_usage_bytes() const { return size_ * sizeof(Slot); }
  bool IsFullWith(size_t count) const { return 4 * count > size_; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }

  // Returns the first slot for this hash if it has this tag, else the second slot. The result is
  // only a guess: the caller must check it. Has no branch, because the choice is unpredictable.
  const Slot& Guess(uint64_t hash, uint32_t tag) const {
    const size_t i = static_cast<size_t>(hash >> shift_);
    return slots_[(i + static_cast<size_t>(slots_[i].tag != tag)) & (size_ - 1)];
  }

  // Returns the slot for which is(slot) is true. If there is none, returns the free slot where the
  // value belongs.
  template <typename Is>
  Slot& Find(uint64_t hash, const Is& is) {
    size_t i = static_cast<size_t>(hash >> shift_);
    while (slots_[i].code_and_1 != 0 && !is(slots_[i])) i = (i + 1) & (size_ - 1);
    return slots_[i];
  }

 private:
  std::unique_ptr<Slot[]> slots_;
  size_t size_ = 0;
  int shift_ = 0;
};

// The codes of values of type P, one of Parquet's value types (page_codec.h). Floats with different
// bits are different values. Thread-compatible.
template <typename P>
class ValueCodes {
 public:
  // In the dictionary, each value takes its own bytes plus `overhead_bytes`. The dictionary has at
  // most `limit_bytes` bytes and `limit_values` values. Preconditions: limit_bytes < 2^32 - 1;
  // limit_values < 2^31.
  ValueCodes(size_t overhead_bytes, size_t limit_bytes, size_t limit_values)
      : overhead_bytes_(overhead_bytes), limit_bytes_(limit_bytes), limit_values_(limit_values) {
    CFILE_ASSERT(limit_bytes < UINT32_MAX && limit_values <= INT32_MAX);
  }

  static constexpr uint32_t kNoCode = UINT32_MAX;

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  size_t bytes() const { return bytes_; }
  size_t memory_usage_bytes() const {
    return slots_.memory_usage_bytes() + entries_.capacity() * sizeof(Entry) + text_.capacity();
  }

  // Calls take(i, code) for each of the values in order, until `take` returns false. A value not
  // seen before gets the next code, size(); if a limit is reached, `code` is kNoCode. `take` may
  // call Truncate, and must then return false.
  template <typename Take>
  void VisitCodes(std::span<const P> values, Take take) {
    if (!in_slots_) Rebuild();
    if constexpr (kIsBytes<P>) {
      // Each batch takes three steps, each of which prefetches the memory that the next one reads
      // for all values of the batch. A small dictionary is in the caches anyway.
      constexpr size_t kBatch = 32;
      constexpr size_t kSmall = 256;
      Key keys[kBatch];
      for (size_t i = 0; i < values.size();) {
        const size_t count = std::min(kBatch, values.size() - i);
        if (entries_.size() <= kSmall) {
          for (const size_t end = i + count; i < end; ++i) {
            if (!take(i, CodeOf(values[i], KeyOf(values[i])))) return;
          }
          continue;
        }
        for (size_t j = 0; j < count; ++j) {
          keys[j] = KeyOf(values[i + j]);
          slots_.Prefetch(keys[j].hash);
        }
        for (size_t j = 0; j < count; ++j) {
          const Slot& guess = slots_.Guess(keys[j].hash, TagOf(keys[j], keys[j].hash));
          if (guess.code_and_1 != 0) __builtin_prefetch(&entries_[guess.code_and_1 - 1]);
        }
        for (size_t j = 0; j < count; ++j, ++i) {
          if (!take(i, CodeOf(values[i], keys[j]))) return;
        }
      }
    } else {
      for (size_t i = 0; i < values.size(); ++i) {
        if (!take(i, CodeOf(values[i], KeyOf(values[i])))) return;
      }
    }
  }

  // Writes the codes of all values to `codes`. If a limit is reached, returns false and writes only
  // the first codes.
  bool CodesOf(std::span<const P> values, uint32_t* codes) {
    bool all = true;
    VisitCodes(values, [&](size_t i, uint32_t code) {
      codes[i] = code;
      return all = code != kNoCode;
    });
    return all;
  }

  // Like CodesOf, but the dictionary may then have up to `most_bytes` bytes, even if this is more
  // than its limit. If the result is false, adds no values. Precondition: most_bytes < 2^32 - 1.
  bool Adopt(std::span<const P> values, size_t most_bytes, uint32_t* codes) {
    const uint32_t known = size();
    const size_t limit = std::exchange(limit_bytes_, std::max(limit_bytes_, most_bytes));
    bool adopted = known == 0 && AddDistinct(values);
    if (adopted) {
      std::iota(codes, codes + values.size(), 0u);
    } else {
      adopted = CodesOf(values, codes);
      if (!adopted) Truncate(known);
    }
    limit_bytes_ = std::max(limit, bytes_);
    return adopted;
  }

  // Removes all values but the first `count`.
  void Truncate(uint32_t count) {
    if (count == size()) return;
    while (size() > count) {
      const P value = (*this)[size() - 1];
      bytes_ -= SizeOf(value) + overhead_bytes_;
      if constexpr (kIsBytes<P>) text_.Truncate(text_.size() - value.size());
      entries_.pop_back();
    }
    Rebuild();
  }

  // Returns the value of `code`. A view is valid until the next non-const call.
  P operator[](uint32_t code) const {
    if constexpr (kIsBytes<P>) {
      return AsString(text_.span().subspan(entries_[code].begin, entries_[code].size));
    } else {
      return std::bit_cast<P>(entries_[code]);
    }
  }

 private:
  struct TextEntry {
    uint64_t low;
    uint64_t high;
    uint32_t begin;
    uint32_t size;
  };
  using Bits = std::conditional_t<sizeof(P) == 1, uint8_t,
                                  std::conditional_t<sizeof(P) == 4, uint32_t, uint64_t>>;
  using Key = std::conditional_t<kIsBytes<P>, TextKey, Bits>;
  using Entry = std::conditional_t<kIsBytes<P>, TextEntry, Bits>;
  // The struct is small, so that the slots that are looked up most stay in the first-level caches.
  struct Slot {
    uint32_t tag = 0;         // see TagOf
    uint32_t code_and_1 = 0;  // code + 1; 0: free
  };

  // Returns the code of `value`. A value not seen before gets a new code, or kNoCode if a limit is
  // reached.
  uint32_t CodeOf(const P& value, const Key& key) {
    const uint64_t hash = Hash(key);
    const uint32_t tag = TagOf(key, hash);
    const Slot& guess = slots_.Guess(hash, tag);
    if (guess.code_and_1 != 0 && Is(guess, tag, key, value)) [[likely]]
      return guess.code_and_1 - 1;
    Slot& slot = slots_.Find(hash, [&](const Slot& taken) { return Is(taken, tag, key, value); });
    if (slot.code_and_1 != 0) return slot.code_and_1 - 1;
    return Add(slot, tag, key, value);
  }

  Key KeyOf(const P& value) const {
    if constexpr (kIsBytes<P>) {
      return KeyOfText(value, seed_);
    } else {
      return std::bit_cast<Bits>(value);
    }
  }
  uint64_t Hash(const Key& key) const {
    if constexpr (kIsBytes<P>) {
      return key.hash;
    } else {
      return MixBits(uint64_t{key} ^ seed_.first, seed_.second);
    }
  }
  static size_t SizeOf(const P& value) {
    if constexpr (kIsBytes<P>) {
      return value.size();
    } else {
      return sizeof(P);
    }
  }
  // The tag of a value: the low bits of its hash (the high bits choose the slot), or the value
  // itself if it is a number of at most 32 bits.
  static uint32_t TagOf(const Key& key, uint64_t hash) {
    if constexpr (sizeof(Key) <= 4) {
      return key;
    } else {
      return static_cast<uint32_t>(hash);
    }
  }
  bool Is(const Slot& slot, uint32_t tag, const Key& key, const P& value) const {
    return slot.tag == tag && (sizeof(Key) <= 4 || Is(slot.code_and_1 - 1, key, value));
  }
  bool Is(uint32_t code, const Key& key, const P& value) const {
    if constexpr (kIsBytes<P>) {
      const TextEntry& entry = entries_[code];
      if (entry.size != value.size() || entry.low != key.low || entry.high != key.high)
        return false;
      return entry.size <= 16 || (*this)[code] == value;
    } else {
      return entries_[code] == key;
    }
  }

  [[gnu::noinline]] uint32_t Add(Slot& slot, uint32_t tag, const Key& key, const P& value) {
    const uint32_t code = size();
    if (!AddEntry(key, value)) return kNoCode;
    slot.tag = tag;
    slot.code_and_1 = code + 1;
    if (slots_.IsFullWith(entries_.size())) Rebuild();
    return code;
  }

  // Returns false, and adds nothing, if a limit is reached.
  bool AddEntry(const Key& key, const P& value) {
    const size_t added = SizeOf(value) + overhead_bytes_;
    if (added > limit_bytes_ - bytes_ || entries_.size() >= limit_values_) return false;
    bytes_ += added;
    if constexpr (kIsBytes<P>) {
      entries_.push_back({key.low, key.high, static_cast<uint32_t>(text_.size()),
                          static_cast<uint32_t>(value.size())});
      text_.PutBytes(value);
    } else {
      entries_.push_back(key);
    }
    return true;
  }

  // Gives `values` the codes 0, 1, 2, ... Returns false, and adds none, if two of them are equal or
  // a limit is reached. Fast, because the values enter slots_, which is large, only when a value is
  // looked up. Precondition: size() == 0.
  bool AddDistinct(std::span<const P> values) {
    const size_t size = std::bit_ceil(std::max<size_t>(2 * values.size(), 16));
    const int shift = 64 - std::countr_zero(size);
    std::vector<uint32_t> slots(size);  // code + 1; 0: free
    in_slots_ = false;
    entries_.reserve(values.size());
    for (const P& value : values) {
      const Key key = KeyOf(value);
      auto i = static_cast<size_t>(Hash(key) >> shift);
      while (slots[i] != 0 && !Is(slots[i] - 1, key, value)) i = (i + 1) & (size - 1);
      if (slots[i] != 0 || !AddEntry(key, value)) {
        Truncate(0);
        return false;
      }
      slots[i] = static_cast<uint32_t>(entries_.size());
    }
    return true;
  }

  void Rebuild() {
    in_slots_ = true;
    slots_.Reset(entries_.size());
    for (uint32_t code = 0; code < size(); ++code) {
      Key key;
      if constexpr (kIsBytes<P>) {
        const std::string_view value = (*this)[code];
        key = KeyOf(value);
      } else {
        key = entries_[code];
      }
      const uint64_t hash = Hash(key);
      Slot& slot = slots_.Find(hash, [](const Slot&) { return false; });
      slot.tag = TagOf(key, hash);
      slot.code_and_1 = code + 1;
    }
  }

  const HashSeed seed_ = ProcessHashSeed();
  const size_t overhead_bytes_;
  size_t limit_bytes_;
  const size_t limit_values_;
  size_t bytes_ = 0;
  CodeSlots<Slot> slots_;
  bool in_slots_ = true;  // false: no value is in slots_ yet
  std::vector<Entry> entries_;
  ByteWriter text_;  // if P is std::string_view: the values back to back
};

}  // namespace cfile::encodings
