// Distinct values and their codes, in the order in which they were first seen: what a dictionary
// encoder asks for each value.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

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

// All of 4 to 16 bytes: their first and last 8, or of fewer than 8 the first and last 4 twice.
struct ShortBytes {
  ShortBytes(const uint8_t* p, size_t size) {
    const size_t inner = size >= 8 ? 4 : 0;
    const uint8_t* const last = p + size - 4;
    front = Pair(p, p + inner);
    back = Pair(last - inner, last);
  }
  static uint64_t Pair(const uint8_t* p, const uint8_t* q) {
    return LoadLittleEndian<uint32_t>(p) | uint64_t{LoadLittleEndian<uint32_t>(q)} << 32;
  }
  uint64_t front;
  uint64_t back;
};

inline uint64_t HashOf(std::string_view value) {
  const uint8_t* p = AsBytes(value).data();
  size_t left = value.size();
  uint64_t hash = kHashSeed ^ left;
  for (; left > 16; left -= 16, p += 16) {
    hash = MixBits(LoadLittleEndian<uint64_t>(p) ^ hash,
                   LoadLittleEndian<uint64_t>(p + 8) ^ kHashStep);
  }
  // The last 1 to 16 bytes as two words, which overlap where the bytes are few. From 4 on without a
  // branch, as lengths cannot be foretold.
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 4) {
    const ShortBytes ends(p, left);
    low = ends.front;
    high = ends.back;
  } else if (left > 0) {
    low = uint64_t{p[0]} | uint64_t{p[left / 2]} << 8 | uint64_t{p[left - 1]} << 16;
  }
  return MixBits(low ^ hash, high ^ kHashStep);
}

// a == b. Most values of a dictionary are short, and their comparison is not worth a call.
inline bool SameBytes(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const size_t size = a.size();
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  const uint8_t* const p = AsBytes(a).data();
  const uint8_t* const q = AsBytes(b).data();
  if (size >= 4) {
    const ShortBytes a_ends(p, size);
    const ShortBytes b_ends(q, size);
    return ((a_ends.front ^ b_ends.front) | (a_ends.back ^ b_ends.back)) == 0;
  }
  return size == 0 || (p[0] == q[0] && p[size / 2] == q[size / 2] && p[size - 1] == q[size - 1]);
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
  static constexpr uint32_t kNoCode = UINT32_MAX;

  // Bytes of a value in the dictionary: its own and `overhead_bytes` more. Precondition:
  // limit_bytes < 2^32.
  ValueCodes(size_t overhead_bytes, size_t limit_bytes)
      : overhead_bytes_(overhead_bytes), limit_bytes_(limit_bytes) {
    assert(limit_bytes < UINT32_MAX);
  }

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  size_t bytes() const { return bytes_; }

  // The value's code, which is new if it was not seen before; kNoCode if it would be new but the
  // limit is reached.
  uint32_t CodeOf(const P& value) {
    const Key key = KeyOf(value);
    const uint64_t hash = Hash(key);
    const uint32_t tag = TagOf(key, hash);
    const Slot& guess = slots_.Guess(hash, tag);
    if (guess.code_and_1 != 0 && Is(guess, tag, key, value)) [[likely]]
      return guess.code_and_1 - 1;
    Slot& slot = slots_.Find(hash, [&](const Slot& taken) { return Is(taken, tag, key, value); });
    if (slot.code_and_1 != 0) return slot.code_and_1 - 1;
    return Add(slot, tag, key, value);
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
    uint32_t begin;
    uint32_t size;
  };
  using Bits = std::conditional_t<sizeof(P) == 1, uint8_t,
                                  std::conditional_t<sizeof(P) == 4, uint32_t, uint64_t>>;
  using Key = std::conditional_t<kIsBytes<P>, uint64_t, Bits>;
  using Entry = std::conditional_t<kIsBytes<P>, TextEntry, Bits>;
  // Small, since what is looked up most should stay in the first caches.
  struct Slot {
    uint32_t tag = 0;         // of the value's hash
    uint32_t code_and_1 = 0;  // 0: free
  };

  static Key KeyOf(const P& value) {
    if constexpr (kIsBytes<P>) {
      return HashOf(value);
    } else {
      return std::bit_cast<Bits>(value);
    }
  }
  static uint64_t Hash(Key key) {
    if constexpr (kIsBytes<P>) return key;
    return MixBits(uint64_t{key} ^ kHashStep, kHashSeed);
  }
  static size_t SizeOf(const P& value) {
    if constexpr (kIsBytes<P>) {
      return value.size();
    } else {
      return sizeof(P);
    }
  }
  // Numbers of up to 32 bits are their own tag; the other part of the hash chooses the slot.
  static uint32_t TagOf(Key key, uint64_t hash) {
    return static_cast<uint32_t>(sizeof(Key) <= 4 ? key : hash);
  }
  bool Is(const Slot& slot, uint32_t tag, Key key, const P& value) const {
    if (slot.tag != tag) return false;
    if constexpr (kIsBytes<P>) {
      return SameBytes((*this)[slot.code_and_1 - 1], value);
    } else {
      return sizeof(Key) <= 4 || entries_[slot.code_and_1 - 1] == key;
    }
  }

  [[gnu::noinline]] uint32_t Add(Slot& slot, uint32_t tag, Key key, const P& value) {
    const size_t added = SizeOf(value) + overhead_bytes_;
    if (added > limit_bytes_ - bytes_) return kNoCode;
    bytes_ += added;
    const uint32_t code = size();
    slot.tag = tag;
    slot.code_and_1 = code + 1;
    if constexpr (kIsBytes<P>) {
      entries_.push_back(
          {static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(value.size())});
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
      const Key key = KeyOf((*this)[code]);
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
