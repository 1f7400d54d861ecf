// The table of a block of FOR, and its vectors, as decoders see them. Internal to FOR.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/core/lower_bound.h"
#include "encodings/core/status.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/for_layout.h"

namespace cfile::encodings {

// A vector whose entry and size have been checked.
template <typename T>
struct ForVector {
  using U = ForLane<T>;

  std::span<const uint8_t> packed;
  const uint8_t* positions;  // of the exceptions, 16 bits each; their values follow
  uint32_t count;            // of values
  uint32_t exceptions;
  int width;
  U reference;  // kDelta: the first value
  U step;       // kDelta: the least difference
  ForForm form;
  T min;
  T max;

  uint16_t position(uint32_t exception) const {
    return LoadLittleEndian<uint16_t>(positions + exception * sizeof(uint16_t));
  }
  U exception_value(uint32_t exception) const {
    return LoadLittleEndian<U>(positions + exceptions * sizeof(uint16_t) + exception * sizeof(U));
  }
  U value(uint32_t index) const {
    if (form == ForForm::kDelta) {
      const U sum = SumInterleaved<U>(packed.data(), width, index + 1);
      return static_cast<U>(reference + uint64_t{step} * index + sum);
    }
    if (exceptions > 0) {
      const uint32_t found =
          FindLowerBound(exceptions, [&](uint32_t i) { return position(i) < index; });
      if (found < exceptions && position(found) == index) return exception_value(found);
    }
    const U number = count == kVectorValues
                         ? UnpackOneInterleaved<U>(packed.data(), width, index)
                         : static_cast<U>(UnpackOne(packed, width, index));
    return static_cast<U>(number + reference);
  }
};

template <typename T>
T FromBits(ForLane<T> bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    return static_cast<T>(bits);
  }
}

// The table of an open block. The bytes belong to the caller of Open.
template <typename T>
class ForTable {
 public:
  using U = ForLane<T>;
  using Entry = ForEntry<T>;
  using Vector = ForVector<T>;

  // kDataLoss: the block has no room for the table. The table is then empty.
  absl::Status Open(const BlockView& block) {
    const uint32_t vectors = ForVectors(block.count);
    const uint64_t table_bytes = uint64_t{vectors} * Entry::kBytes;
    count_ = size_ = 0;
    if (table_bytes > block.bytes.size()) {
      return DataLoss("for: the table of ", vectors, " vectors takes ", table_bytes,
                      " bytes, found ", block.bytes.size());
    }
    if (vectors == 0 && !block.bytes.empty()) {
      return DataLoss("for: a block without values has ", block.bytes.size(),
                      " bytes, expected 0");
    }
    bytes_ = block.bytes;
    count_ = block.count;
    size_ = vectors;
    return absl::OkStatus();
  }

  // The number of vectors.
  uint32_t size() const { return size_; }

  // Preconditions of the functions below: index < size().
  Entry LoadEntry(uint32_t index) const {
    return Entry::Load(bytes_.data() + size_t{index} * Entry::kBytes);
  }
  // Checks vector `index` and sets `vector`. Returns false if it is damaged: then Damage says what
  // is wrong. Does not check the positions of the exceptions.
  bool Find(uint32_t index, Vector& vector) const {
    const Entry entry = LoadEntry(index);
    const size_t begin = entry.offset;
    const size_t end = EndOf(index);
    const uint32_t count = CountOf(index);
    const T min = FromBits<T>(entry.min);
    const T max = FromBits<T>(entry.max);
    const bool delta = entry.form == static_cast<uint8_t>(ForForm::kDelta);
    if (std::is_same_v<T, bool> && (entry.min > 1 || entry.max > 1 || entry.exceptions > 0))
      return false;
    if (!HasForm(entry, count) || max < min || entry.width > 8 * sizeof(T) ||
        entry.exceptions >= count) {
      return false;
    }
    if (!delta && entry.exceptions == 0 && entry.width != WidthOf(entry)) return false;
    if (begin < TableBytes() || (index == 0 && begin != TableBytes()) || end > bytes_.size() ||
        begin > end || end - begin != BytesOf(entry, count)) {
      return false;
    }
    const uint8_t* const packed = bytes_.data() + begin;
    const size_t packed_bytes = ForPackedBytes(count, entry.width);
    const bool patched = entry.exceptions > 0;
    vector = {.packed = {packed, packed_bytes},
              .positions = packed + packed_bytes + (patched ? sizeof(U) : 0),
              .count = count,
              .exceptions = entry.exceptions,
              .width = entry.width,
              .reference =
                  patched || delta ? LoadLittleEndian<U>(packed + packed_bytes) : entry.min,
              .step = delta ? LoadLittleEndian<U>(packed + packed_bytes + sizeof(U)) : U{0},
              .form = static_cast<ForForm>(entry.form),
              .min = min,
              .max = max};
    return true;
  }

  // Says what is wrong with a vector for which Find returned false.
  [[gnu::cold]] absl::Status Damage(uint32_t index) const {
    const Entry entry = LoadEntry(index);
    const size_t at = size_t{index} * Entry::kBytes;
    const uint32_t count = CountOf(index);
    const auto damaged = [&](size_t offset, const auto&... parts) {
      return DataLoss("for: vector ", index, ", at byte ", at + offset, ": ", parts...);
    };
    if (!HasForm(entry, count)) {
      return damaged(5, "form ", int{entry.form}, " of ", count, " values and ",
                     int{entry.exceptions}, " exceptions");
    }
    if (entry.width > 8 * sizeof(T)) {
      return damaged(4, "a width of ", int{entry.width}, " bits, expected at most ",
                     8 * sizeof(T));
    }
    if (entry.exceptions >= count || (std::is_same_v<T, bool> && entry.exceptions > 0)) {
      return damaged(6, int{entry.exceptions}, " exceptions among ", count, " values");
    }
    if (FromBits<T>(entry.max) < FromBits<T>(entry.min) ||
        (std::is_same_v<T, bool> && (entry.min > 1 || entry.max > 1))) {
      return damaged(8, "the minimum or the maximum is out of range");
    }
    if (entry.form == static_cast<uint8_t>(ForForm::kFrame) && entry.exceptions == 0 &&
        entry.width != WidthOf(entry)) {
      return damaged(4, "a width of ", int{entry.width}, " bits, expected ", WidthOf(entry),
                     " for this minimum and maximum");
    }
    return damaged(0, "it lies at bytes ", entry.offset, " to ", EndOf(index), " of ",
                   bytes_.size(), ", expected ", BytesOf(entry, count), " bytes from ",
                   index == 0 ? "" : "at least ", TableBytes(), " on");
  }

 private:
  uint64_t TableBytes() const { return uint64_t{size_} * Entry::kBytes; }
  uint32_t CountOf(uint32_t index) const {
    return std::min<uint32_t>(kVectorValues, count_ - index * uint32_t{kVectorValues});
  }
  // Where the vector ends: where the next one begins.
  size_t EndOf(uint32_t index) const {
    return index + 1 == size_
               ? bytes_.size()
               : LoadLittleEndian<uint32_t>(bytes_.data() + size_t{index + 1} * Entry::kBytes);
  }

  static bool HasForm(const Entry& entry, uint32_t count) {
    if (entry.form == static_cast<uint8_t>(ForForm::kFrame)) return true;
    return entry.form == static_cast<uint8_t>(ForForm::kDelta) && !std::is_same_v<T, bool> &&
           count == kVectorValues && entry.exceptions == 0;
  }
  // The width of a vector of form kFrame without exceptions.
  static int WidthOf(const Entry& entry) {
    return ForWidth(static_cast<U>(entry.max - entry.min));
  }
  static size_t BytesOf(const Entry& entry, uint32_t count) {
    return entry.form == static_cast<uint8_t>(ForForm::kDelta)
               ? ForDeltaBytes<T>(entry.width)
               : ForVectorBytes<T>(count, entry.width, entry.exceptions);
  }

  std::span<const uint8_t> bytes_;
  uint32_t count_ = 0;  // of values
  uint32_t size_ = 0;
};

}  // namespace cfile::encodings
