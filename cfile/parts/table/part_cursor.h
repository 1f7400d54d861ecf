// Finds the part that holds a row of a table, and opens a cursor for this part. Used by TableCursor
// and TableLevelCursor.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/core/read/level_file_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/reader.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Makes a cursor for the file of one part.
inline absl::Status MakeCursor(const Reader& reader, std::unique_ptr<ValueCursor>& cursor) {
  CFILE_ASSIGN_OR_RETURN(cursor, NewValueCursor(ReaderAccess::File(reader)));
  return absl::OkStatus();
}
inline absl::Status MakeCursor(const Reader& reader, std::unique_ptr<LevelFileCursor>& cursor) {
  CFILE_ASSIGN_OR_RETURN(cursor, NewLevelFileCursor(ReaderAccess::File(reader)));
  return absl::OkStatus();
}

// A cursor of one part at a time. It keeps the file of this part open. C is ValueCursor or
// LevelFileCursor. Table is TableReader::Impl (open_table.h), a template parameter because Impl is
// private. Thread-compatible.
template <typename C, typename Table>
class PartCursor {
 public:
  PartCursor(std::shared_ptr<const Table> table, size_t column)
      : table_(std::move(table)), column_(column) {}

  // The ordinal in the table of the first row of the part that was entered last.
  uint64_t first_ordinal() const { return part_.first_ordinal; }

  // Enters the part that contains row `row` of the table. Precondition: row < num_rows() of the
  // table.
  absl::StatusOr<C*> EnterPartOf(uint64_t row) {
    if (cursor_ != nullptr && row >= first_ordinal() &&
        row - first_ordinal() < part_.part->num_rows) {
      return cursor_.get();
    }
    CFILE_ASSIGN_OR_RETURN(const ManifestPart part, table_->PartOfRow(row));
    return Enter(part);
  }

  // Returns the cursor of `part`, which may be at any row of the part. The pointer is valid until
  // the next call. Errors: those of TableReader::OpenColumn and Reader::NewCursor.
  absl::StatusOr<C*> Enter(const ManifestPart& part) {
    if (cursor_ == nullptr || part_.number != part.number) {
      cursor_.reset();
      CFILE_ASSIGN_OR_RETURN(const Reader reader, table_->OpenColumn(part, column_));
      CFILE_RETURN_IF_ERROR(MakeCursor(reader, cursor_));
      part_ = part;
    }
    return cursor_.get();
  }

  // Returns the cursor of the part that holds row `row` of the table, at this row. A cursor that is
  // already at this row does not move, even if it is in the middle of a record. Precondition: row <
  // num_rows() of the table. Errors: those of Enter and of the cursor.
  absl::StatusOr<C*> At(uint64_t row) { return EnterAndMove(row, row); }

  // As At, but moves the cursor to the end of row `row`.
  absl::StatusOr<C*> AtEndOf(uint64_t row) { return EnterAndMove(row, row + 1); }

  // The row of the table at which the cursor is; at the end of a part, the first row after the
  // part.
  uint64_t row() const { return cursor_ != nullptr ? first_ordinal() + cursor_->ordinal() : 0; }

  // Goes to the position of `other`, a cursor of the same column.
  absl::Status SeekToPlaceOf(const PartCursor& other) {
    cursor_.reset();
    part_ = other.part_;
    if (other.cursor_ == nullptr) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(cursor_, other.cursor_->Clone());
    return absl::OkStatus();
  }

  // The error for a row that the table does not have.
  absl::Status OutOfRange(uint64_t row) const {
    return absl::OutOfRangeError(absl::StrCat(table_->name(), ": row ", row, ", the table has ",
                                              table_->num_rows(), " rows"));
  }

  // Goes to the beginning of a row, or to the end. kOutOfRange: row > num_rows().
  absl::Status SeekTo(uint64_t row) {
    if (row > table_->num_rows()) return OutOfRange(row);
    if (row == table_->num_rows()) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(C* const cursor, EnterPartOf(row));
    return cursor->SeekToOrdinal(row - first_ordinal());
  }

  // Opens the first part with rows, so that errors of its file are found early.
  absl::Status Begin() {
    return table_->num_rows() == 0 ? absl::OkStatus() : EnterPartOf(0).status();
  }

 private:
  // Enters the part that holds row `row`, and moves its cursor to the start of row `target`: `row`
  // or the row after it.
  absl::StatusOr<C*> EnterAndMove(uint64_t row, uint64_t target) {
    CFILE_ASSIGN_OR_RETURN(C* const cursor, EnterPartOf(row));
    const uint64_t in_part = target - first_ordinal();
    if (cursor->ordinal() != in_part) CFILE_RETURN_IF_ERROR(cursor->SeekToOrdinal(in_part));
    return cursor;
  }

  std::shared_ptr<const Table> table_;
  size_t column_;
  ManifestPart part_;
  std::unique_ptr<C> cursor_;  // of part_
};

}  // namespace cfile::internal
