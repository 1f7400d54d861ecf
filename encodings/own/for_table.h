// How decoders of FOR find the vectors of a block in its table. Internal to FOR.
#pragma once

#include <algorithm>
#include <cassert>
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
  const uint8_t* positions;  // the positions of the exceptions, 16 bits each; the values follow
  uint32_t count;            // the number of values
  uint32_t exceptions;
  int width;
  U reference;  // for the form kDelta: the first value
  U step;       // for the form kDelta: the least difference; otherwise 0
  ForForm form;
  T min;
  T max;

  // The position and the value of an exception. Its position is not checked (ForTable::Find).
  uint16_t position(uint32_t exception) const {
    return LoadLittleEndian<uint16_t>(positions + exception * sizeof(uint16_t));
  }
  U exception_value(uint32_t exception) const {
    return LoadLittleEndian<U>(positions + exceptions * sizeof(uint16_t) + exception * sizeof(U));
  }
  // Returns value `index`. Precondition: index < count.
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

// Converts a value back from its unsigned integer.
template <typename T>
T FromBits(ForLane<T> bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits != 0;
  } else {
    return static_cast<T>(bits);
  }
}

// The table of a block. The bytes of the block belong to the caller of Open.
template <typename T>
class ForTable {
 public:
  using U = ForLane<T>;
  using Entry = ForEntry<T>;
  using Vector = ForVector<T>;

  // kDataLoss: the block is too short for its table, or it has bytes but no values. Then size() is
  // 0.
  absl::Status Open(const BlockView& block) {
    const uint32_t vectors = VectorsOf(block.count);
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
  // Checks the entry and the size of vector `index`, and sets `vector`. Does not check the
  // positions of the exceptions. Returns false if the vector is damaged. Then Damage returns the
  // error.
  bool Find(uint32_t index, Vector& vector) const {
    const Entry entry = LoadEntry(index);
    const uint32_t count = CountOf(index);
    if (FaultOf(index, entry, count) != Fault::kNone) return false;
    const bool delta = IsDelta(entry);
    const uint8_t* const packed = bytes_.data() + entry.offset;
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
              .min = FromBits<T>(entry.min),
              .max = FromBits<T>(entry.max)};
    return true;
  }

  // Returns the error of a vector for which Find has returned false.
  [[gnu::cold]] absl::Status Damage(uint32_t index) const {
    const Entry entry = LoadEntry(index);
    const size_t at = size_t{index} * Entry::kBytes;
    const uint32_t count = CountOf(index);
    const auto damaged = [&](size_t offset, const auto&... parts) {
      return DataLoss("for: vector ", index, ", at byte ", at + offset, ": ", parts...);
    };
    switch (FaultOf(index, entry, count)) {
      case Fault::kForm:
        return damaged(5, "form ", int{entry.form}, " of ", count, " values and ",
                       int{entry.exceptions}, " exceptions, expected form 0, or form 1 of ",
                       kVectorValues, " integers without exceptions");
      case Fault::kWidth:
        return damaged(4, "a width of ", int{entry.width}, " bits, expected at most ",
                       8 * sizeof(T));
      case Fault::kExceptions:
        return damaged(6, int{entry.exceptions}, " exceptions among ", count, " values");
      case Fault::kBounds:
        return damaged(8, "the minimum or the maximum is out of range");
      case Fault::kWidthOfBounds:
        return damaged(4, "a width of ", int{entry.width}, " bits, expected ", WidthOf(entry),
                       " for this minimum and maximum");
      case Fault::kPlace:
        return damaged(0, "it lies at bytes ", entry.offset, " to ", EndOf(index), " of ",
                       bytes_.size(), ", expected ", BytesOf(entry, count), " bytes from ",
                       index == 0 ? "" : "at least ", TableBytes(), " on");
      case Fault::kNone:
        break;
    }
    assert(false && "not damaged");
    return absl::OkStatus();
  }

 private:
  // What is wrong with a vector.
  enum class Fault {
    kNone,
    kForm,           // the form, or a vector of this form cannot have these values
    kWidth,          // the width is larger than the type
    kExceptions,     // too many exceptions
    kBounds,         // the minimum or the maximum
    kWidthOfBounds,  // the minimum and the maximum need another width
    kPlace,          // where the vector begins or ends
  };

  Fault FaultOf(uint32_t index, const Entry& entry, uint32_t count) const {
    constexpr bool kBool = std::is_same_v<T, bool>;
    if (!HasForm(entry, count)) return Fault::kForm;
    if (entry.width > 8 * sizeof(T)) return Fault::kWidth;
    if (entry.exceptions >= count || (kBool && entry.exceptions > 0)) return Fault::kExceptions;
    if (FromBits<T>(entry.max) < FromBits<T>(entry.min) ||
        (kBool && (entry.min > 1 || entry.max > 1))) {
      return Fault::kBounds;
    }
    if (!IsDelta(entry) && entry.exceptions == 0 && entry.width != WidthOf(entry))
      return Fault::kWidthOfBounds;
    const size_t begin = entry.offset;
    const size_t end = EndOf(index);
    if (begin < TableBytes() || (index == 0 && begin != TableBytes()) || end > bytes_.size() ||
        begin > end || end - begin != BytesOf(entry, count)) {
      return Fault::kPlace;
    }
    return Fault::kNone;
  }

  uint64_t TableBytes() const { return uint64_t{size_} * Entry::kBytes; }
  uint32_t CountOf(uint32_t index) const {
    return std::min<uint32_t>(kVectorValues, count_ - index * uint32_t{kVectorValues});
  }
  // Returns where the vector ends. There the next vector begins, or the block ends.
  size_t EndOf(uint32_t index) const {
    return index + 1 == size_
               ? bytes_.size()
               : LoadLittleEndian<uint32_t>(bytes_.data() + size_t{index + 1} * Entry::kBytes);
  }

  static bool IsDelta(const Entry& entry) {
    return entry.form == static_cast<uint8_t>(ForForm::kDelta);
  }
  // True if the entry has a known form, and a vector of this form can have `count` values and the
  // entry's number of exceptions.
  static bool HasForm(const Entry& entry, uint32_t count) {
    if (entry.form == static_cast<uint8_t>(ForForm::kFrame)) return true;
    return IsDelta(entry) && !std::is_same_v<T, bool> && count == kVectorValues &&
           entry.exceptions == 0;
  }
  // Returns the width of a vector of form kFrame without exceptions.
  static int WidthOf(const Entry& entry) {
    return ForWidth(static_cast<U>(entry.max - entry.min));
  }
  static size_t BytesOf(const Entry& entry, uint32_t count) {
    return IsDelta(entry) ? ForDeltaBytes<T>(entry.width)
                          : ForVectorBytes<T>(count, entry.width, entry.exceptions);
  }

  std::span<const uint8_t> bytes_;
  uint32_t count_ = 0;  // the number of values
  uint32_t size_ = 0;   // the number of vectors
};

}  // namespace cfile::encodings
