#include "cfile/table.h"

#include <utility>

#include "cfile/internal/table/open_table.h"
#include "cfile/internal/table/part_cursor.h"
#include "encodings/core/assert.h"
#include "encodings/core/physical_type.h"
#include "encodings/core/status.h"

namespace cfile {

class CFILE_HIDDEN internal::TableLevels {
 public:
  TableLevels(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : num_rows_(table->num_rows()), cursor_(std::move(table), column) {}

  uint64_t record() const { return record_; }
  absl::Status Begin() { return cursor_.Begin(); }

  absl::Status SeekToRecord(uint64_t record) {
    CFILE_RETURN_IF_ERROR(cursor_.SeekTo(record));
    record_ = record;
    return absl::OkStatus();
  }

  absl::StatusOr<AnyLevelBatch> Next(size_t max_records) {
    if (record_ == num_rows_) return AnyLevelBatch{.first_record = record_};
    CFILE_ASSIGN_OR_RETURN(LevelFileCursor* const cursor, cursor_.At(record_));
    CFILE_ASSIGN_OR_RETURN(AnyLevelBatch batch, cursor->Next(max_records));
    batch.first_record += cursor_.first_ordinal();
    record_ += batch.num_records;
    return batch;
  }

 private:
  const uint64_t num_rows_;
  PartCursor<LevelFileCursor, TableReader::Impl> cursor_;
  uint64_t record_ = 0;
};

template <typename T>
absl::StatusOr<TableLevelCursor<T>> TableReader::NewLevelCursor(size_t column) const {
  CFILE_ASSERT(column < schema().columns.size());
  CFILE_RETURN_IF_ERROR(impl_->CheckHoldsType<T>(column));
  auto impl = std::make_unique<internal::TableLevels>(impl_, column);
  CFILE_RETURN_IF_ERROR(impl->Begin());
  return TableLevelCursor<T>(std::move(impl));
}

template <typename T>
TableLevelCursor<T>::TableLevelCursor(std::unique_ptr<internal::TableLevels> cursor)
    : impl_(std::move(cursor)) {}
template <typename T>
TableLevelCursor<T>::TableLevelCursor(TableLevelCursor&&) noexcept = default;
template <typename T>
TableLevelCursor<T>& TableLevelCursor<T>::operator=(TableLevelCursor&&) noexcept = default;
template <typename T>
TableLevelCursor<T>::~TableLevelCursor() = default;
template <typename T>
absl::Status TableLevelCursor<T>::SeekToRecord(uint64_t record) {
  return impl_->SeekToRecord(record);
}
template <typename T>
absl::StatusOr<LevelBatch<T>> TableLevelCursor<T>::Next(size_t max_records) {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyLevelBatch batch, impl_->Next(max_records));
  return batch.As<T>();
}
template <typename T>
uint64_t TableLevelCursor<T>::record() const {
  return impl_->record();
}

#define CFILE_INSTANTIATE(T)          \
  template class TableLevelCursor<T>; \
  template absl::StatusOr<TableLevelCursor<T>> TableReader::NewLevelCursor<T>(size_t) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
