// Distinct values and their codes, in the order in which they were first seen: what a dictionary
// encoder asks for each value.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "encodings/back_to_back.h"
#include "encodings/bytes.h"
#include "encodings/physical_type.h"

namespace cfile::encodings {

// Spreads a number's bits over all of a hash's.
inline uint64_t MixBits(uint64_t a, uint64_t b) {
  const uint128_t product = static_cast<uint128_t>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
inline constexpr uint64_t kHashSeed = 0x9e3779b97f4a7c15u;
inline constexpr uint64_t kHashStep = 0xd6e8feb86659fd93u;

// What a string is found by: up to 16 bytes it is its key.
struct TextKey {
  uint64_t hash;
  // The last 1 to 16 bytes: the first 8 of them, with zeros behind; the last 8 if there are more.
  uint64_t low;
  uint64_t high;
};
// Lengths of up to 16 take no branch where so many bytes may be read, which is up to readable_end.
inline TextKey KeyOfText(std::string_view value, const char* readable_end) {
  const uint8_t* p = AsBytes(value).data();
  size_t left = value.size();
  uint64_t hash = kHashSeed ^ left;
  for (; left > 16; left -= 16, p += 16) {
    hash = MixBits(LoadLittleEndian<uint64_t>(p) ^ hash,
                   LoadLittleEndian<uint64_t>(p + 8) ^ kHashStep);
  }
  uint8_t copy[16] = {};
  if (reinterpret_cast<const uint8_t*>(readable_end) - p < 16) {
    if (left > 0) std::memcpy(copy, p, left);
    p = copy;
  }
  const auto over = static_cast<int64_t>(left) - 8;
  const int64_t is_short = over >> 63;  // all ones or none
  const auto more = static_cast<size_t>(over & ~is_short);
  // Half a shift twice: 64 bits cannot be shifted by 64.
  const auto unused = static_cast<int>(4 * (-over & is_short));
  const uint64_t low = LoadLittleEndian<uint64_t>(p) << unused << unused >> unused >> unused;
  const uint64_t high =
      LoadLittleEndian<uint64_t>(p + more) & (uint64_t{0} - static_cast<uint64_t>(more > 0));
  return {MixBits(low ^ hash, high ^ kHashStep), low, high};
}

// Open addressing over slots of a tag and a code; at most a quarter of them are used.
template <typename Slot>
class CodeSlots {
 public:
  CodeSlots() { Reset(0); }

  // Forgets all; ready for `count` values and more.
  void Reset(size_t count) {
    size_ = std::bit_ceil(std::max<size_t>(6 * count, 256));
    slots_ = std::make_unique<Slot[]>(size_);
    shift_ = 64 - std::countr_zero(size_);
  }
  bool IsFullWith(size_t count) const { return 4 * count > size_; }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }

  // The one of the first two slots for this hash that may hold a value of this tag. Chosen without
  // a branch: which of the two it is cannot be foretold.
  const Slot& Guess(uint64_t hash, uint32_t tag) const {
    const size_t i = static_cast<size_t>(hash >> shift_);
    return slots_[(i + static_cast<size_t>(slots_[i].tag != tag)) & (size_ - 1)];
  }

  // The slot that is(slot) says is the value's, or the free one where it belongs.
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

// P is one of Parquet's value types (page_codec.h). Floats are told apart by their bits.
template <typename P>
class ValueCodes {
 public:
  // Bytes of a value in the dictionary: its own and `overhead_bytes` more. Precondition:
  // limit_bytes < 2^32.
  ValueCodes(size_t overhead_bytes, size_t limit_bytes)
      : overhead_bytes_(overhead_bytes), limit_bytes_(limit_bytes) {
    assert(limit_bytes < UINT32_MAX);
  }

  static constexpr uint32_t kNoCode = UINT32_MAX;

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  size_t bytes() const { return bytes_; }

  // The values' codes, which are new for values not seen before. False, with some codes missing, if
  // the limit is reached.
  bool CodesOf(std::span<const P> values, uint32_t* codes) {
    if constexpr (kIsBytes<P>) {
      // In steps, each of which fetches for many values at once what the next one waits for.
      constexpr size_t kBatch = 32;
      Key keys[kBatch];
      for (size_t i = 0; i < values.size();) {
        const BackToBack run = FindBackToBack(values, i);
        while (i < run.end) {
          const size_t count = std::min(kBatch, run.end - i);
          for (size_t j = 0; j < count; ++j) {
            keys[j] = KeyOf(values[i + j], run.bytes_end);
            slots_.Prefetch(keys[j].hash);
          }
          for (size_t j = 0; j < count; ++j) {
            const Slot& guess = slots_.Guess(keys[j].hash, TagOf(keys[j], keys[j].hash));
            if (guess.code_and_1 != 0) __builtin_prefetch(&entries_[guess.code_and_1 - 1]);
          }
          for (size_t j = 0; j < count; ++j, ++i) {
            codes[i] = CodeOf(values[i], keys[j]);
            if (codes[i] == kNoCode) return false;
          }
        }
      }
    } else {
      for (size_t i = 0; i < values.size(); ++i) {
        codes[i] = CodeOf(values[i], KeyOf(values[i], nullptr));
        if (codes[i] == kNoCode) return false;
      }
    }
    return true;
  }

  // The code of one value, which is new if it was not seen before; kNoCode: the limit is reached.
  // Of bytes, what lies behind the value may be read up to `readable_end`.
  uint32_t CodeOf(const P& value, const char* readable_end) {
    return CodeOf(value, KeyOf(value, readable_end));
  }

  // Forgets all values but the first `count`.
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

  // Views are valid until the next call.
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
  // Small, since what is looked up most should stay in the first caches.
  struct Slot {
    uint32_t tag = 0;         // of the value's hash
    uint32_t code_and_1 = 0;  // 0: free
  };

  // The code, or a new one; kNoCode: the limit is reached.
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

  // readable_end: of bytes, see KeyOfText.
  static Key KeyOf(const P& value, [[maybe_unused]] const char* readable_end) {
    if constexpr (kIsBytes<P>) {
      return KeyOfText(value, readable_end);
    } else {
      return std::bit_cast<Bits>(value);
    }
  }
  static uint64_t Hash(const Key& key) {
    if constexpr (kIsBytes<P>) {
      return key.hash;
    } else {
      return MixBits(uint64_t{key} ^ kHashStep, kHashSeed);
    }
  }
  static size_t SizeOf(const P& value) {
    if constexpr (kIsBytes<P>) {
      return value.size();
    } else {
      return sizeof(P);
    }
  }
  // Numbers of up to 32 bits are their own tag; the other part of the hash chooses the slot.
  static uint32_t TagOf(const Key& key, uint64_t hash) {
    if constexpr (sizeof(Key) <= 4) {
      return key;
    } else {
      return static_cast<uint32_t>(hash);
    }
  }
  bool Is(const Slot& slot, uint32_t tag, const Key& key, const P& value) const {
    if (slot.tag != tag) return false;
    if constexpr (kIsBytes<P>) {
      const TextEntry& entry = entries_[slot.code_and_1 - 1];
      if (entry.size != value.size() || entry.low != key.low || entry.high != key.high)
        return false;
      return entry.size <= 16 || (*this)[slot.code_and_1 - 1] == value;
    } else {
      return sizeof(Key) <= 4 || entries_[slot.code_and_1 - 1] == key;
    }
  }

  [[gnu::noinline]] uint32_t Add(Slot& slot, uint32_t tag, const Key& key, const P& value) {
    const size_t added = SizeOf(value) + overhead_bytes_;
    if (added > limit_bytes_ - bytes_) return kNoCode;
    bytes_ += added;
    const uint32_t code = size();
    slot.tag = tag;
    slot.code_and_1 = code + 1;
    if constexpr (kIsBytes<P>) {
      entries_.push_back({key.low, key.high, static_cast<uint32_t>(text_.size()),
                          static_cast<uint32_t>(value.size())});
      text_.PutBytes(value);
    } else {
      entries_.push_back(key);
    }
    if (slots_.IsFullWith(entries_.size())) Rebuild();
    return code;
  }

  void Rebuild() {
    slots_.Reset(entries_.size());
    for (uint32_t code = 0; code < size(); ++code) {
      Key key;
      if constexpr (kIsBytes<P>) {
        const std::string_view value = (*this)[code];
        key = KeyOf(value, value.data() + value.size());
      } else {
        key = entries_[code];
      }
      const uint64_t hash = Hash(key);
      Slot& slot = slots_.Find(hash, [](const Slot&) { return false; });
      slot.tag = TagOf(key, hash);
      slot.code_and_1 = code + 1;
    }
  }

  const size_t overhead_bytes_;
  const size_t limit_bytes_;
  size_t bytes_ = 0;
  CodeSlots<Slot> slots_;
  std::vector<Entry> entries_;
  ByteWriter text_;  // of bytes: the values back to back
};

}  // namespace cfile::encodings
