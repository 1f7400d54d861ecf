// Finds the part that holds a row of a table, and opens a cursor for this part. Used by TableCursor
// and TableLevelCursor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Makes a cursor for the file of one part.
template <typename T>
absl::Status MakeCursor(const Reader& reader, std::optional<Cursor<T>>& cursor) {
  CFILE_ASSIGN_OR_RETURN(cursor, reader.NewCursor<T>());
  return absl::OkStatus();
}
template <typename T>
absl::Status MakeCursor(const Reader& reader, std::optional<LevelCursor<T>>& cursor) {
  CFILE_ASSIGN_OR_RETURN(cursor, reader.NewLevelCursor<T>());
  return absl::OkStatus();
}

// Goes to a row unless the cursor is there already.
template <typename T>
absl::Status GoTo(Cursor<T>& cursor, uint64_t row) {
  return cursor.ordinal() == row ? absl::OkStatus() : cursor.SeekToOrdinal(row);
}
template <typename T>
absl::Status GoTo(LevelCursor<T>& cursor, uint64_t row) {
  return cursor.record() == row ? absl::OkStatus() : cursor.SeekToRecord(row);
}

// A cursor of one part at a time. C is Cursor<T> or LevelCursor<T>. Table is TableReader::Impl
// (open_table.h); it is a template parameter because Impl is private. Keeps one part's file open.
// Thread-compatible.
template <typename C, typename Table>
class PartCursor {
 public:
  PartCursor(std::shared_ptr<const Table> table, size_t column)
      : table_(std::move(table)), column_(column) {}

  // The ordinal in the table of the first row of the part that was entered last.
  uint64_t first_ordinal() const { return table_->first_ordinal(part_); }

  // Returns the cursor of `part`, at any row. Valid until the next call. Errors as
  // TableReader::OpenColumn and Reader::NewCursor.
  absl::StatusOr<C*> Enter(size_t part) {
    if (!cursor_.has_value() || part_ != part) {
      cursor_.reset();
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part, column_));
      CFILE_RETURN_IF_ERROR(MakeCursor(reader, cursor_));
      part_ = part;
    }
    return &*cursor_;
  }

  // Returns the cursor of the part that holds row `row` of the table, at this row. Precondition:
  // row < num_rows() of the table. Errors as Enter and the cursor.
  absl::StatusOr<C*> At(uint64_t row) {
    CFILE_ASSIGN_OR_RETURN(C* const cursor, Enter(table_->PartOf(row)));
    CFILE_RETURN_IF_ERROR(GoTo(*cursor, row - first_ordinal()));
    return cursor;
  }

  // As At, but `row` may also be num_rows(), the end: then does nothing. kOutOfRange: row >
  // num_rows().
  absl::Status SeekTo(uint64_t row) {
    if (row > table_->num_rows()) {
      return absl::OutOfRangeError(absl::StrCat(table_->directory(), ": row ", row,
                                                ", the table has ", table_->num_rows(), " rows"));
    }
    return row < table_->num_rows() ? At(row).status() : absl::OkStatus();
  }

 private:
  std::shared_ptr<const Table> table_;
  size_t column_;
  size_t part_ = 0;
  std::optional<C> cursor_;  // of part_
};

}  // namespace cfile::internal
