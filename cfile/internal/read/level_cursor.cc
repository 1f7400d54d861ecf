#include "cfile/levels.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/level_file_cursor.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::FileReader;

internal::LevelFileCursor::LevelFileCursor(std::shared_ptr<FileReader> file,
                                           std::shared_ptr<const encodings::Dictionary> dictionary)
    : FileCursor(file, block_), block_(file->info().type, std::move(dictionary)) {}

internal::LevelFileCursor::~LevelFileCursor() = default;

absl::StatusOr<internal::AnyLevelBatch> internal::LevelFileCursor::Next(size_t max_records) {
  uint64_t first_record = 0;
  CFILE_ASSIGN_OR_RETURN(const bool more, GoToNextRow(first_record));
  auto batch = more ? block_.Next(max_records) : AnyLevelBatch();
  if (!batch.ok()) return KeepFailed(batch.status());
  batch->first_record = first_record;
  return batch;
}

absl::StatusOr<std::unique_ptr<internal::LevelFileCursor>> internal::NewLevelFileCursor(
    const std::shared_ptr<FileReader>& file, bool holds_type) {
  if (!file->info().positional_index_root) {
    return absl::FailedPreconditionError(
        absl::StrCat(file->source().name(), ": the file has no positional index"));
  }
  CFILE_ASSIGN_OR_RETURN(auto dictionary, PrepareToRead(*file, holds_type));
  return std::make_unique<LevelFileCursor>(file, std::move(dictionary));
}

template <typename T>
absl::StatusOr<LevelCursor<T>> Reader::NewLevelCursor() const {
  CFILE_ASSIGN_OR_RETURN(auto cursor,
                         internal::NewLevelFileCursor(file_, HoldsType<T>(info().type)));
  return LevelCursor<T>(std::move(cursor));
}

template <typename T>
LevelCursor<T>::LevelCursor(std::unique_ptr<internal::LevelFileCursor> cursor)
    : impl_(std::move(cursor)) {}
template <typename T>
LevelCursor<T>::LevelCursor(LevelCursor&&) noexcept = default;
template <typename T>
LevelCursor<T>& LevelCursor<T>::operator=(LevelCursor&&) noexcept = default;
template <typename T>
LevelCursor<T>::~LevelCursor() = default;
template <typename T>
const LevelLimits& LevelCursor<T>::limits() const {
  return impl_->file().info().levels;
}
template <typename T>
uint64_t LevelCursor<T>::num_records() const {
  return impl_->file().info().num_rows;
}
template <typename T>
absl::Status LevelCursor<T>::SeekToRecord(uint64_t record) {
  return impl_->SeekToOrdinal(record);
}
template <typename T>
absl::StatusOr<LevelBatch<T>> LevelCursor<T>::Next(size_t max_records) {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyLevelBatch batch, impl_->Next(max_records));
  return batch.As<T>();
}
template <typename T>
uint64_t LevelCursor<T>::record() const {
  return impl_->ordinal();
}

#define CFILE_INSTANTIATE(T)     \
  template class LevelCursor<T>; \
  template absl::StatusOr<LevelCursor<T>> Reader::NewLevelCursor<T>() const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
