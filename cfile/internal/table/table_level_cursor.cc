#include <cassert>

#include "absl/strings/str_cat.h"
#include "cfile/table.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

// The part that holds the row `record`. Precondition: record < table.num_rows().
size_t PartOf(const TableReader& table, uint64_t record) {
  size_t begin = 0, end = table.num_parts();  // the part is in [begin, end)
  while (end - begin > 1) {
    const size_t middle = begin + (end - begin) / 2;
    (table.part_first_ordinal(middle) <= record ? begin : end) = middle;
  }
  return begin;
}

}  // namespace

template <typename T>
absl::StatusOr<TableLevelCursor<T>> TableLevelCursor<T>::Open(const TableReader& table,
                                                              size_t column) {
  assert(column < table.schema().columns.size());
  TableLevelCursor cursor(table, column);
  // Opens the first part now, so that a wrong type or a codec that was not built in is reported
  // here.
  if (table.num_rows() > 0) CFILE_RETURN_IF_ERROR(cursor.Enter(PartOf(table, 0)));
  return cursor;
}

template <typename T>
absl::Status TableLevelCursor<T>::Enter(size_t part) {
  if (cursor_.has_value() && part_ == part) return absl::OkStatus();
  cursor_.reset();
  CFILE_ASSIGN_OR_RETURN(const Reader reader, table_.OpenColumn(part, column_));
  CFILE_ASSIGN_OR_RETURN(cursor_, LevelCursor<T>::Open(reader));
  part_ = part;
  return absl::OkStatus();
}

template <typename T>
absl::Status TableLevelCursor<T>::SeekToRecord(uint64_t record) {
  if (record > table_.num_rows()) {
    return absl::OutOfRangeError(absl::StrCat(table_.directory(), ": record ", record,
                                              ", the table has ", table_.num_rows(), " records"));
  }
  if (record < table_.num_rows()) {
    const size_t part = PartOf(table_, record);
    CFILE_RETURN_IF_ERROR(Enter(part));
    CFILE_RETURN_IF_ERROR(cursor_->SeekToRecord(record - table_.part_first_ordinal(part)));
  }
  record_ = record;
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<LevelBatch<T>> TableLevelCursor<T>::Next(size_t max_records) {
  if (record_ == table_.num_rows()) return LevelBatch<T>{.first_record = record_};
  const size_t part = PartOf(table_, record_);
  CFILE_RETURN_IF_ERROR(Enter(part));
  const uint64_t first_ordinal = table_.part_first_ordinal(part);
  if (cursor_->record() != record_ - first_ordinal) {
    CFILE_RETURN_IF_ERROR(cursor_->SeekToRecord(record_ - first_ordinal));
  }
  CFILE_ASSIGN_OR_RETURN(LevelBatch<T> batch, cursor_->Next(max_records));
  batch.first_record += first_ordinal;
  record_ += batch.num_records;
  return batch;
}

#define CFILE_INSTANTIATE(T) template class TableLevelCursor<T>;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
