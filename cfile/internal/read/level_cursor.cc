#include "cfile/levels.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/read/file_cursor.h"
#include "cfile/internal/read/level_block_cursor.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::FileReader;

template <typename T>
class LevelCursor<T>::Impl : public internal::TypedFileCursor<internal::LevelBlockCursor<T>> {
  using Base = internal::TypedFileCursor<internal::LevelBlockCursor<T>>;

 public:
  Impl(std::shared_ptr<FileReader> file, std::shared_ptr<const encodings::Dictionary> dictionary)
      : Base(file, internal::LevelBlockCursor<T>(file->info().type, std::move(dictionary))) {}

  absl::StatusOr<LevelBatch<T>> Next(size_t max_records) {
    uint64_t first_record = 0;
    auto batch = this->template NextBatch<LevelBatch<T>>(max_records, first_record);
    if (batch.ok()) batch->first_record = first_record;
    return batch;
  }
};

template <typename T>
absl::StatusOr<LevelCursor<T>> Reader::NewLevelCursor() const {
  if (!info().positional_index_root) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_->source().name(), ": the file has no positional index"));
  }
  CFILE_ASSIGN_OR_RETURN(auto dictionary, internal::PrepareToRead<T>(*file_));
  return LevelCursor<T>(
      std::make_unique<typename LevelCursor<T>::Impl>(file_, std::move(dictionary)));
}

template <typename T>
LevelCursor<T>::LevelCursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
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
  return impl_->Next(max_records);
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
