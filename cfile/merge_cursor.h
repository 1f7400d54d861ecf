// Reads the rows of a table in the order of their keys, over parts that overlap, forwards and
// backwards. Errors, lifetime and threads: cfile/CONCEPTS.md.
//
//   auto cursor = table.NewMergeCursor({.columns = {1, 2}});
//   if (!cursor.ok()) return cursor.status();
//   absl::Status status = cursor->SeekToPrefix(key.bytes());  // a CompoundKey of the first columns
//   if (!status.ok()) return status;
//   for (const auto& batch : cursor->Batches()) {
//     if (!batch.ok()) return batch.status();
//     const Batch<double> prices = batch->column<double>(0);
//     for (size_t i = 0; i < batch->num_rows(); ++i) Use(batch->ordinal(i), prices.values[i]);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "cfile/untyped.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile {

struct MergeCursorOptions {
  // The columns to read: positions in schema().columns, or the column of the keys.
  std::vector<size_t> columns = {};

  // The column of the keys. nullopt: the key index; in a table without key columns, the first
  // column that has a value index in each part.
  std::optional<size_t> key_column = std::nullopt;

  // The numbers of the parts whose rows are read. nullopt: all parts.
  std::optional<std::vector<size_t>> parts = std::nullopt;
};

// Rows of several parts in the order of their keys. A view, valid until the next call on the
// cursor.
class MergeBatch {
 public:
  MergeBatch() = default;
  // Not for users. `ordinals` has an element for each row; `values` and `columns` have one for each
  // column.
  MergeBatch(std::span<const uint64_t> ordinals, const internal::AnyBatch* values,
             std::span<const ColumnSchema> columns)
      : ordinals_(ordinals), values_(values), columns_(columns) {}

  size_t num_rows() const { return ordinals_.size(); }
  bool empty() const { return ordinals_.empty(); }
  // The number of a row in the table.
  uint64_t ordinal(size_t row) const {
    CFILE_ASSERT(row < num_rows());
    return ordinals_[row];
  }
  // The values of a column, num_rows() ones. `column` counts the columns of the options. The
  // result's first_ordinal is not set. Precondition: not empty().
  template <typename T, typename = IfValueType<T>>
  Batch<T> column(size_t column) const {
    CFILE_ASSERT(!empty() && column < columns_.size() && HoldsType<T>(columns_[column].type));
    return values_[column].template As<T>();
  }
  // Not for users: the values of a column.
  const internal::AnyBatch& untyped(size_t column) const { return values_[column]; }

 private:
  std::span<const uint64_t> ordinals_;
  const internal::AnyBatch* values_ = nullptr;
  std::span<const ColumnSchema> columns_;
};

// A position between two rows of a table, or of some of its parts, in the order of the keys;
// TableReader::NewMergeCursor makes it, before the first row. Compact merges with the same code.
//
// If the table applies a merge rule (cfile/CONCEPTS.md), the cursor returns the rows that count.
// For each batch, it searches whether a newer part has the key of the last row. The keys must be
// those of the key index, and all parts are read (kFailedPrecondition).
//
// Rows with equal keys come in the order in which their parts were appended, the oldest first; in
// one part, in the order of their ordinals. (Read backwards, the newest row comes first, which is
// the one that TableLookup returns.) Seeks treat -0 and 0 as equal keys, except in compound keys,
// but all rows with -0 come before those with 0.
//
// A seek searches only in the parts whose bounds in table.cft do not exclude the key, and reads no
// values. A file is opened when the cursor needs it. Next and Previous then read blocks of the keys
// and of the columns, each once if the cursor keeps its direction. To find many single keys, use
// TableLookup::GetMany.
//
// Memory: for each part that the cursor has entered and not left, one block and one batch of the
// keys and of each column. Parts that it has left keep theirs as long as at most 16 parts have any.
//
// Errors are those of reading a table, and kDataLoss if a file does not have the bounds that
// table.cft says. If a block of a file without a positional index (a key index) could not be read,
// only a seek continues (kFailedPrecondition). The templates also return kInvalidArgument if a key
// is NaN; with key columns, T is std::string_view.
class CFILE_EXPORT MergeCursor {
 public:
  // Goes to the first row of the range whose key is not less than `key`, or to the end of the
  // range. Returns true if the row's key equals `key`. In a table with key columns, `key` is a
  // CompoundKey or its beginning.
  template <typename T, typename = IfValueType<T>>
  absl::StatusOr<bool> SeekToKey(const T& key) {
    return SeekToKeyOf(&key, &HoldsType<T>);
  }

  // Limits the cursor to the rows whose keys are at least `low` and less than `high` (nullopt: no
  // bound), until the range is set again, and goes to the first of these rows. Costs one search in
  // each part of `low`.
  template <typename T, typename = IfValueType<T>>
  absl::Status SeekToKeyRange(const std::optional<T>& low,
                              const std::optional<std::type_identity_t<T>>& high) {
    return SeekToRangeOf(low ? &*low : nullptr, high ? &*high : nullptr, &HoldsType<T>);
  }

  // SeekToKeyRange for the keys that begin with `prefix`, for example with the values of the first
  // key columns (CompoundKey). For keys that are strings or bytes.
  absl::Status SeekToPrefix(std::string_view prefix);

  // Goes to the end of the range, so that Previous returns its last rows.
  absl::Status SeekToEnd();

  // Returns the next rows in the order of the keys, and goes to their end. They are at least 1
  // unless the cursor is at the end of its range, at most `max_rows` and at most 65,536. A batch
  // ends where a part needs another block of keys or of a column.
  absl::StatusOr<MergeBatch> Next(size_t max_rows) { return Read(true, max_rows); }
  // Returns the rows before the cursor, also in the order of the keys, and goes to the first of
  // them. Otherwise like Next.
  absl::StatusOr<MergeBatch> Previous(size_t max_rows) { return Read(false, max_rows); }

  BatchRange<MergeCursor> Batches(size_t max_rows = 8192) { return {*this, max_rows}; }

  // Returns a cursor with the same options, range and position. It may be used in another thread.
  absl::StatusOr<MergeCursor> Clone() const;

  size_t key_column() const;

  MergeCursor(MergeCursor&&) noexcept;
  MergeCursor& operator=(MergeCursor&&) noexcept;
  ~MergeCursor();

 private:
  friend class TableReader;
  class CFILE_HIDDEN Impl;
  explicit MergeCursor(std::unique_ptr<Impl> impl);

  absl::StatusOr<bool> SeekToKeyOf(const void* key, internal::HoldsFunction* holds);
  absl::Status SeekToRangeOf(const void* low, const void* high, internal::HoldsFunction* holds);
  absl::StatusOr<MergeBatch> Read(bool forward, size_t max_rows);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
