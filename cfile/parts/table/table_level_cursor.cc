#include "cfile/table.h"

#include <utility>

#include "cfile/parts/table/open_table.h"
#include "cfile/parts/table/part_cursor.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {

class CFILE_HIDDEN internal::TableLevels final : public AnyLevelCursor {
 public:
  TableLevels(std::shared_ptr<const TableReader::Impl> table, size_t column)
      : num_rows_(table->num_rows()), cursor_(table, column) {
    const ColumnSchema& schema = table->columns()[column];
    limits_ = schema.has_levels() ? schema.levels : LevelLimits{.max_definition = schema.nullable};
  }

  const LevelLimits& limits() const override { return limits_; }
  uint64_t num_records() const override { return num_rows_; }
  uint64_t ordinal() const override { return record_; }
  absl::Status Begin() { return cursor_.Begin(); }

  absl::Status SeekToOrdinal(uint64_t record) override {
    CFILE_RETURN_IF_ERROR(cursor_.SeekTo(record));
    record_ = record;
    return absl::OkStatus();
  }

  absl::StatusOr<AnyLevelBatch> Next(size_t max_records) override {
    if (record_ == num_rows_) return AnyLevelBatch{.first_record = record_};
    CFILE_ASSIGN_OR_RETURN(LevelFileCursor* const cursor, cursor_.At(record_));
    CFILE_ASSIGN_OR_RETURN(AnyLevelBatch batch, cursor->Next(max_records));
    batch.first_record += cursor_.first_ordinal();
    record_ += batch.num_records;
    return batch;
  }

 private:
  const uint64_t num_rows_;
  LevelLimits limits_;
  PartCursor<LevelFileCursor, TableReader::Impl> cursor_;
  uint64_t record_ = 0;
};

absl::StatusOr<std::unique_ptr<internal::AnyLevelCursor>> TableReader::NewAnyLevelCursor(
    size_t column, internal::HoldsFunction* holds) const {
  CFILE_ASSERT(column < schema().columns.size());
  CFILE_RETURN_IF_ERROR(internal::CheckRowNumbers(*impl_, "a TableLevelCursor"));
  CFILE_RETURN_IF_ERROR(impl_->CheckHoldsType(column, holds));
  auto cursor = std::make_unique<internal::TableLevels>(impl_, column);
  CFILE_RETURN_IF_ERROR(cursor->Begin());
  return cursor;
}

}  // namespace cfile
