// How decoders of FOR find the vectors of a block in its table. Internal to FOR.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "encodings/core/block_codec.h"
#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"
#include "encodings/kernels/interleaved_bits.h"
#include "encodings/own/for_layout.h"
#include "encodings/own/vector_decoder.h"
#include "encodings/own/vector_table.h"

namespace cfile::encodings {

// A vector whose entry and size have been checked.
template <typename T>
struct ForVector {
  using U = ForLane<T>;

  std::span<const uint8_t> packed;
  VectorExceptions exceptions;  // after their positions, the values of the exceptions follow
  uint32_t count;               // the number of values
  int width;
  U reference;  // for the form kDelta: the first value
  U step;       // for the form kDelta: the least difference; otherwise 0
  ForForm form;
  T min;
  T max;

  U exception_value(uint32_t exception) const {
    return LoadLittleEndian<U>(exceptions.positions + exceptions.count * sizeof(uint16_t) +
                               exception * sizeof(U));
  }
  // Precondition: index < count.
  U value(uint32_t index) const {
    if (form == ForForm::kDelta) {
      const U sum = SumInterleaved<U>(packed.data(), width, index + 1);
      return static_cast<U>(reference + uint64_t{step} * index + sum);
    }
    const uint32_t exception = exceptions.Find(index);
    if (exception < exceptions.count) return exception_value(exception);
    const U number = count == kVectorValues ? UnpackOneInterleaved<U>(packed.data(), width, index)
                                            : static_cast<U>(UnpackOne(packed, width, index));
    return static_cast<U>(number + reference);
  }
  void Prefetch(uint32_t index) const { PrefetchInterleaved<U>(packed.data(), width, index); }
  uint32_t FewValues() const { return form == ForForm::kFrame ? 16 : 1; }
};

// The table of a block. The bytes of the block belong to the caller of Open.
template <typename T>
class ForTable : public VectorTable<ForEntry<T>> {
 public:
  using U = ForLane<T>;
  using Entry = ForEntry<T>;
  using Vector = ForVector<T>;

  // kDataLoss: see VectorTable::OpenTable.
  absl::Status Open(const BlockView& block) { return this->OpenTable(block, kName); }

  // Preconditions of the functions below: index < size().

  // Checks the entry and the size of vector `index`, and sets `vector`. Does not check the
  // positions of the exceptions. Returns false if the vector is damaged: Damage returns the error.
  bool Find(uint32_t index, Vector& vector) const {
    const Entry entry = this->LoadEntry(index);
    const uint32_t count = this->CountOf(index);
    if (FaultOf(index, entry, count) != Fault::kNone) return false;
    const bool delta = IsDelta(entry);
    const uint8_t* const packed = this->bytes().data() + entry.offset;
    const size_t packed_bytes = ForPackedBytes(count, entry.width);
    const bool patched = entry.exceptions > 0;
    vector = {
        .packed = {packed, packed_bytes},
        .exceptions = {packed + packed_bytes + (patched ? sizeof(U) : 0), entry.exceptions},
        .count = count,
        .width = entry.width,
        .reference = patched || delta ? LoadLittleEndian<U>(packed + packed_bytes) : entry.min,
        .step = delta ? LoadLittleEndian<U>(packed + packed_bytes + sizeof(U)) : U{0},
        .form = static_cast<ForForm>(entry.form),
        .min = FromBits<T>(entry.min),
        .max = FromBits<T>(entry.max)};
    return true;
  }

  // Returns the error of a vector for which Find has returned false.
  [[gnu::cold]] absl::Status Damage(uint32_t index) const {
    const Entry entry = this->LoadEntry(index);
    const uint32_t count = this->CountOf(index);
    const auto damaged = [&](size_t offset, const auto&... parts) {
      return this->DamageOf(index, kName, offset, parts...);
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
        return this->PlaceDamageOf(index, kName, BytesOf(entry, count));
      case Fault::kNone:
        break;
    }
    return damaged(0, "its entry changed while it was read");
  }

 private:
  static constexpr std::string_view kName = "for";  // in messages

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
    return this->HasPlace(index, entry, BytesOf(entry, count)) ? Fault::kNone : Fault::kPlace;
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
  static int WidthOf(const Entry& entry) { return ForWidth(static_cast<U>(entry.max - entry.min)); }
  static size_t BytesOf(const Entry& entry, uint32_t count) {
    return IsDelta(entry) ? ForDeltaBytes<T>(entry.width)
                          : ForVectorBytes<T>(count, entry.width, entry.exceptions);
  }
};

}  // namespace cfile::encodings
