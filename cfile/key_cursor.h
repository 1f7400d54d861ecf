// Reads one column of a table in the order of its values, over all parts. (To read several columns,
// or backwards, or a range of keys: cfile/merge_cursor.h.) Errors, lifetime and threads:
// cfile/CONCEPTS.md.
//
//   auto cursor = table.NewKeyCursor<std::string_view>(0);
//   auto found = cursor->SeekToKey("apple");
//   for (const auto& batch : cursor->Batches()) {
//     if (!batch.ok()) return batch.status();
//     for (size_t i = 0; i < batch->size(); ++i) {
//       Use(batch->first_ordinal + i, batch->values[i]);
//     }
//   }
#pragma once

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/merge_cursor.h"
#include "cfile/table.h"
#include "cfile/types.h"

namespace cfile {

// A MergeCursor of one column, with batches of consecutive rows of one part.
// TableReader::NewKeyCursor makes it. Thread-compatible; keeps the table open.
//
// -0 comes before 0, and rows with the same value are in ascending order of their ordinals. The
// cursor opens a part when it reaches the part's least value. Memory: that of a MergeCursor.
//
// All calls may return the errors of reading a table. kDataLoss: also if a file does not have the
// bounds that table.cft says. After an error the position is unchanged.
template <typename T>
class KeyCursor {
  static_assert(CheckValueType<T>());

 public:
  // Not for users: TableReader::NewKeyCursor makes cursors.
  explicit KeyCursor(MergeCursor cursor) : cursor_(std::move(cursor)) {}

  // Goes to the first row whose value is not less than `key` (-0 equals 0). The result's ordinal is
  // the number of this row in the table; num_rows() if there is none. Opens the parts whose least
  // value is less than `key` and whose greatest value is not, and the part of the row.
  // kInvalidArgument: the key is NaN.
  absl::StatusOr<KeyPosition> SeekToKey(const T& key) { return cursor_.SeekToPosition(&key); }

  // Returns the next rows in the order of values: at least 1 unless the cursor is at the end, at
  // most `max_rows` and at most 65,536. All rows of a batch are from one block and have consecutive
  // ordinals, from first_ordinal on. A batch ends before the next value of another part, so batches
  // are short if the values of several parts alternate. Precondition: max_rows > 0.
  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    const absl::StatusOr<internal::AnyBatch> batch = cursor_.NextRun(max_rows);
    if (!batch.ok()) return batch.status();
    return batch->template As<T>();
  }

  BatchRange<KeyCursor> Batches(size_t max_rows = kMaxBatchRows) { return {*this, max_rows}; }

 private:
  MergeCursor cursor_;
};

template <typename T>
absl::StatusOr<KeyCursor<T>> TableReader::NewKeyCursor(size_t column) const {
  return internal::Wrap<KeyCursor<T>>(NewMergeCursorOf(column, &HoldsType<T>));
}

}  // namespace cfile
