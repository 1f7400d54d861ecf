// Consecutive rows of a column, as scans return them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "encodings/core/export.h"
#include "encodings/core/lane.h"

namespace cfile {

// A range of rows: `begin` is the first row, `end` is one past the last row.
struct OrdinalRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size() const { return end - begin; }
  friend bool operator==(const OrdinalRange&, const OrdinalRange&) = default;
};

// The result of a search by key.
struct KeyPosition {
  uint64_t ordinal = 0;  // of the first value >= the key; num_rows() if there is none
  bool exact = false;    // whether that value equals the key
};

// All rows of any column. Use kAllRows only for functions whose comment says that a range may end
// after the last row.
inline constexpr OrdinalRange kAllRows{0, UINT64_MAX};

// The rows first_ordinal to first_ordinal + size() - 1. A view: the memory belongs to the cursor,
// the mapped file or the dictionary. Valid until the next call on the object that returned it.
template <typename T>
struct Batch {
  // One value per row; T{} for a null.
  std::span<const T> values = {};

  // Arrow's validity bitmap: bit i % 8 of byte i / 8 is 1 if row i holds a value. nullptr if no row
  // is null.
  const uint8_t* validity = nullptr;

  uint64_t null_count = 0;

  uint64_t first_ordinal = 0;

  size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
  // Precondition: i < size().
  bool IsValid(size_t i) const {
    return validity == nullptr || (validity[i / 8] >> (i % 8) & 1) != 0;
  }
};

// Consecutive entries of a column with levels (cfile/levels.h). A view, valid until the next call
// on the cursor that returned it.
//
// A batch holds whole records. A record with more entries than fit into a batch comes in several
// batches, which hold nothing else. Only the last of them counts the record in num_records, so the
// next batch always begins at first_record + num_records.
template <typename T>
struct LevelBatch {
  // The number of the record that contains the first entry, and how many records end in this batch.
  uint64_t first_record = 0;
  size_t num_records = 0;

  size_t num_entries = 0;
  // One level per entry. A span is empty if the maximum of its levels (LevelLimits) is 0.
  std::span<const uint16_t> repetition = {};
  std::span<const uint16_t> definition = {};
  // The values of the entries whose definition level is the maximum.
  std::span<const T> values = {};

  bool empty() const { return num_entries == 0; }
};

namespace internal {
// Owned does not use std::conditional_t: GCC and clang mangle functions that return it differently,
// so a program of one compiler could not be linked with a library of the other.
template <typename T>
struct OwnedType {
  using type = T;
};
template <>
struct OwnedType<std::string_view> {
  using type = std::string;
};
}  // namespace internal

// A value that owns its bytes: std::string if T is std::string_view, otherwise T itself.
template <typename T>
using Owned = typename internal::OwnedType<T>::type;

namespace internal {

// Batch and LevelBatch without the type of the values, for code that only moves them. As and Of
// convert from and to a batch of the same memory; T is the type of the values.
struct AnyBatch {
  const void* values = nullptr;
  size_t count = 0;
  const uint8_t* validity = nullptr;
  uint64_t null_count = 0;
  uint64_t first_ordinal = 0;

  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  bool IsValid(size_t i) const {
    return validity == nullptr || (validity[i / 8] >> (i % 8) & 1) != 0;
  }
  template <typename T>
  Batch<T> As() const {
    return {{static_cast<const T*>(values), count}, validity, null_count, first_ordinal};
  }
  template <typename T>
  static AnyBatch Of(const Batch<T>& batch) {
    return {batch.values.data(), batch.size(), batch.validity, batch.null_count,
            batch.first_ordinal};
  }
};
struct AnyLevelBatch {
  uint64_t first_record = 0;
  size_t num_records = 0;
  size_t num_entries = 0;
  std::span<const uint16_t> repetition = {};
  std::span<const uint16_t> definition = {};
  encodings::ValueSpan values = {};

  bool empty() const { return num_entries == 0; }
  template <typename T>
  LevelBatch<T> As() const {
    return {first_record, num_records, num_entries, repetition, definition, values.As<T>()};
  }
  template <typename T>
  static AnyLevelBatch Of(const LevelBatch<T>& batch) {
    return {batch.first_record, batch.num_records, batch.num_entries,
            batch.repetition,   batch.definition,  batch.values};
  }
};

// Implements OwnedBatch, whose comments say more, for values of `lane`.
class CFILE_EXPORT OwnedValues {
 public:
  explicit OwnedValues(encodings::Lane lane) : lane_(lane) {}
  OwnedValues(OwnedValues&& other) noexcept;
  OwnedValues& operator=(OwnedValues&& other) noexcept;
  ~OwnedValues();

  encodings::Lane lane() const { return lane_; }
  size_t size() const { return size_; }
  // The size() values.
  void* data() { return values_.get(); }
  AnyBatch batch() const;
  void Reset(size_t size);
  void Append(const AnyBatch& batch);
  // Copies the bytes of a string, and returns the copy.
  std::string_view Copy(std::string_view value);
  void SetNull(size_t i) {
    validity_[i / 8] = static_cast<uint8_t>(validity_[i / 8] & ~(1 << (i % 8)));
    ++null_count_;
  }
  // Copies row i of `rows`, which have the lane of this object, into row place(i). Preconditions:
  // place(i) < size(); the row is as Reset has left it.
  template <typename Place>
  void SetEach(const AnyBatch& rows, const Place& place) {
    if (lane_ == encodings::Lane::kBytes) {
      const Batch<std::string_view> strings = rows.As<std::string_view>();
      for (size_t i = 0; i < rows.count; ++i) {
        if (!rows.IsValid(i)) continue;
        static_cast<std::string_view*>(data())[place(i)] = Copy(strings.values[i]);
      }
    } else {
      encodings::VisitWidth(lane_, [&](auto width) {
        const auto* from = static_cast<const uint8_t*>(rows.values);
        auto* const to = static_cast<uint8_t*>(data());
        for (size_t i = 0; i < rows.count; ++i, from += width) {
          if (rows.IsValid(i)) std::memcpy(to + place(i) * width, from, width);
        }
      });
    }
    if (rows.validity == nullptr) return;
    for (size_t i = 0; i < rows.count; ++i) {
      if (!rows.IsValid(i)) SetNull(place(i));
    }
  }

 private:
  encodings::Lane lane_;
  std::unique_ptr<std::byte[]> values_;
  size_t size_ = 0;
  size_t capacity_ = 0;  // in values
  std::vector<uint8_t> validity_;
  uint64_t null_count_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;  // the bytes of the strings
  std::span<char> chunk_free_;                   // the unused rest of the last chunk
};

}  // namespace internal

// Rows that own their memory, for Cursor::Take. A batch that is filled again reuses its memory.
// Thread-compatible.
template <typename T>
class OwnedBatch {
 public:
  size_t size() const { return values_.size(); }

  // A view of the rows, without first_ordinal, valid until the next change of this object.
  Batch<T> batch() const { return values_.batch().template As<T>(); }

  // Makes `size` rows with the value T{}, none of them null.
  void Reset(size_t size) { values_.Reset(size); }

  // Appends copies of the rows of `batch`, which must not be rows of this object.
  void Append(const Batch<T>& batch) { values_.Append(internal::AnyBatch::Of(batch)); }

  // Copies `value` into row i, including the bytes of a string. Preconditions: i < size(); the row
  // has not been set since Reset.
  void Set(size_t i, const T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      static_cast<T*>(values_.data())[i] = values_.Copy(value);
    } else {
      static_cast<T*>(values_.data())[i] = value;
    }
  }
  // Makes row i null. Preconditions as for Set.
  void SetNull(size_t i) { values_.SetNull(i); }

  // The same rows without their type, for the library.
  internal::OwnedValues& untyped() { return values_; }

 private:
  internal::OwnedValues values_{encodings::LaneOf<T>()};
};

inline constexpr size_t kMaxBatchRows = 65'536;

// What Batches() of a cursor or a scan returns: the batches from its position to its end, for a
// range-based for loop:
//
//   for (const auto& batch : cursor.Batches()) {
//     if (!batch.ok()) return batch.status();
//     ...
//   }
//
// An element is an absl::StatusOr of a batch, valid until the next step. After an error the range
// ends. The range can be iterated once and must not outlive the cursor: give the cursor a name. (In
// `for (... : reader.NewCursor<T>()->Batches())` the cursor is destroyed before the loop begins.)
template <typename C>
class BatchRange {
 public:
  BatchRange(C& cursor, size_t max_rows) : cursor_(&cursor), max_rows_(max_rows) {}

  class Iterator {
   public:
    explicit Iterator(BatchRange* range) : range_(range), batch_(range->Next()) {}
    const auto& operator*() const { return batch_; }
    Iterator& operator++() {
      ended_ = !batch_.ok();
      if (!ended_) batch_ = range_->Next();
      return *this;
    }
    // True while there is an element.
    bool operator!=(std::default_sentinel_t) const {
      return !ended_ && !(batch_.ok() && batch_->empty());
    }

   private:
    BatchRange* range_;
    decltype(std::declval<BatchRange&>().Next()) batch_;
    bool ended_ = false;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  auto Next() {
    if constexpr (requires { cursor_->Next(); }) {
      return cursor_->Next();
    } else {
      return cursor_->Next(max_rows_);
    }
  }

  C* cursor_;
  size_t max_rows_;
};

}  // namespace cfile
