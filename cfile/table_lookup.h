// Reads single rows of a table by their keys, over all parts. Errors, lifetime and threads:
// cfile/CONCEPTS.md.
//
//   auto lookup = table.NewLookup(std::vector<size_t>{1, 2});
//   auto row = lookup->Get(key);
//   if (row.ok() && row->found()) Use(row->value<double>(0), row->value<std::string_view>(1));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "cfile/untyped.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"
#include "encodings/core/lane.h"

namespace cfile {

// What a lookup has found. A view, valid until the next call on the lookup.
class FoundRow {
 public:
  FoundRow() = default;  // no row was found
  // Not for users. `values` and `columns` have one element for each column that NewLookup got.
  FoundRow(uint64_t ordinal, const internal::AnyBatch* values,
           std::span<const ColumnSchema* const> columns)
      : found_(true), ordinal_(ordinal), values_(values), columns_(columns) {}

  bool found() const { return found_; }
  // The number of the row in the table. Precondition: found().
  uint64_t ordinal() const {
    CFILE_ASSERT(found());
    return ordinal_;
  }
  // The value of a column; nullopt if it is null. `column` counts the columns that NewLookup got.
  // Precondition: found().
  template <typename T, typename = IfValueType<T>>
  std::optional<T> value(size_t column) const {
    CFILE_ASSERT(found() && column < columns_.size() && HoldsType<T>(columns_[column]->type));
    const internal::AnyBatch& value = values_[column];
    if (!value.IsValid(0)) return std::nullopt;
    return *static_cast<const T*>(value.values);
  }
  // Not for users: the value of a column as a batch of one row.
  const internal::AnyBatch& untyped(size_t column) const { return values_[column]; }

 private:
  bool found_ = false;
  uint64_t ordinal_ = 0;
  const internal::AnyBatch* values_ = nullptr;
  std::span<const ColumnSchema* const> columns_;
};

// Finds the newest row of a key; TableReader::NewLookup makes it. The newest row is the last one of
// the last part that has the key: parts are in the order in which they were appended, and a merge
// keeps this order. Keys are equal as in searches: -0 equals 0, in compound keys, too. (Of keys
// that differ only in the sign of a zero, a merge puts those with -0 first.) If the table applies a
// merge rule (cfile/CONCEPTS.md), a key whose newest row is gone is not found.
//
// For each key, the lookup begins with the last part. It passes over the parts whose bounds in
// table.cft exclude the key, and those whose file of keys has a Bloom filter that excludes it. Each
// other part costs one search, until a part has the key. Rows with equal keys in one part cost time
// in proportion to their number.
//
// Memory: the descriptions of all parts, the Bloom filters of the parts that were searched, and the
// cursors of at most 64 parts: for each, one block of keys and, if a row was read, one of each
// column. Only one thread at a time may use a lookup. After an error the call may be repeated.
class CFILE_EXPORT TableLookup {
 public:
  // Returns the newest row with this key. In a table with key columns, T is std::string_view, and
  // `key` is a whole CompoundKey; a part of a key is not found. kInvalidArgument: the keys are not
  // of type T, or the key is NaN. kUnimplemented: more than 8 values of a compound key are zeros of
  // floats.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<FoundRow> Get(const T& key) {
    return GetKey(&key, &HoldsType<T>);
  }

  // Returns whether the table has a row with this key, without reading other columns. Errors as
  // Get.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<bool> Contains(const T& key) {
    return ContainsKey(&key, &HoldsType<T>);
  }

  // Calls visit(i, Get(keys[i])) for each key once, in the order of the keys' values, so that
  // neighbours share blocks. Ends with the first error.
  using Visit = std::function<void(size_t index, const FoundRow& row)>;
  template <typename T, typename = IfValueType<T>>
  absl::Status GetMany(std::span<const T> keys, const Visit& visit) {
    return GetKeys(keys, &HoldsType<T>, visit);
  }

  // The column of the keys: the key index, or the first column that has a value index in each part.
  size_t key_column() const;

  TableLookup(TableLookup&&) noexcept;
  TableLookup& operator=(TableLookup&&) noexcept;
  ~TableLookup();

 private:
  friend class TableReader;
  class CFILE_HIDDEN Impl;
  explicit TableLookup(std::unique_ptr<Impl> impl);

  absl::StatusOr<FoundRow> GetKey(const void* key, internal::HoldsFunction* holds);
  absl::StatusOr<bool> ContainsKey(const void* key, internal::HoldsFunction* holds);
  absl::Status GetKeys(encodings::ValueSpan keys, internal::HoldsFunction* holds,
                       const Visit& visit);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
