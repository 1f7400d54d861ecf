#include "cfile/reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/block_cursor.h"
#include "cfile/internal/file_cursor.h"
#include "cfile/internal/file_reader.h"
#include "cfile/internal/index_tree.h"
#include "cfile/internal/key_codec.h"
#include "encodings/key_order.h"
#include "encodings/status.h"

namespace cfile {

using internal::FileReader;
using internal::IndexPath;

template <typename T>
class Cursor<T>::Impl : public internal::FileCursor<internal::BlockCursor<T>> {
  using Base = internal::FileCursor<internal::BlockCursor<T>>;

 public:
  Impl(std::shared_ptr<FileReader> file, std::shared_ptr<const encodings::Dictionary> dictionary)
      : Base(file, internal::BlockCursor<T>(file->info().type, std::move(dictionary))) {}

  absl::StatusOr<KeyPosition> SeekToKey(const T& key) {
    if (!encodings::IsKey(key)) return absl::InvalidArgumentError("NaN cannot be a key");
    search_key_.clear();
    internal::AppendKey(key, search_key_);
    IndexPath& path = this->paths_[1];
    if (absl::Status status = path.SeekToKey(search_key_); !status.ok()) {
      this->Unload();
      return status;
    }
    const uint64_t num_values = this->num_values();
    if (!path.valid()) {
      if (num_values > 0)
        return this->Damage("the value index is empty, the footer says ", num_values, " values");
      CFILE_RETURN_IF_ERROR(this->GoToEnd());
      return KeyPosition{};
    }
    if (this->file_->info().holds_bloom_filters()) {
      return absl::FailedPreconditionError(
          absl::StrCat(this->file_->source().name(), ": the file holds Bloom filters, not values"));
    }
    // The block that the cursor is in may be the one.
    if (!(this->loaded_ && this->path_ == &path && path.leaf_entry() == this->loaded_entry_)) {
      this->Unload();
      this->path_ = &path;
      CFILE_RETURN_IF_ERROR(this->LoadBlock());
    }
    while (true) {
      auto bound = this->block_.SeekToKey(key);
      if (!bound.ok()) return this->Failed(bound.status());
      if (bound->position < this->block_.num_rows()) {
        return KeyPosition{.ordinal = this->first_ordinal_ + bound->position,
                           .exact = bound->exact};
      }
      // All values of this block are less: the first greater one begins the next block, or there is
      // none.
      CFILE_ASSIGN_OR_RETURN(const bool more, this->NextBlock());
      if (!more) return KeyPosition{.ordinal = num_values, .exact = false};
    }
  }

  absl::StatusOr<Batch<T>> Next(size_t max_rows) {
    uint64_t first_ordinal = 0;
    auto batch = this->template NextBatch<Batch<T>>(max_rows, first_ordinal);
    if (batch.ok()) batch->first_ordinal = first_ordinal;
    return batch;
  }

  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal) {
    if (ordinal >= this->num_values()) return this->OutOfRange(ordinal);
    CFILE_RETURN_IF_ERROR(this->SeekToOrdinal(ordinal));
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, Next(1));
    return batch.IsValid(0) ? std::optional<T>(batch.values[0]) : std::nullopt;
  }

  absl::Status Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
    out.Reset(ordinals.size());
    for (size_t i = 0; i < ordinals.size(); ++i) {
      CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, Get(ordinals[i]));
      if (value) {
        out.Set(i, *value);
      } else {
        out.SetNull(i);
      }
    }
    return absl::OkStatus();
  }

 private:
  std::string search_key_;
};

template <typename T>
Cursor<T>::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
Cursor<T>::Cursor(Cursor&&) noexcept = default;
template <typename T>
Cursor<T>& Cursor<T>::operator=(Cursor&&) noexcept = default;
template <typename T>
Cursor<T>::~Cursor() = default;
template <typename T>
absl::Status Cursor<T>::SeekToOrdinal(uint64_t ordinal) {
  return impl_->SeekToOrdinal(ordinal);
}
template <typename T>
absl::StatusOr<KeyPosition> Cursor<T>::SeekToKey(const T& key) {
  return impl_->SeekToKey(key);
}
template <typename T>
absl::StatusOr<Batch<T>> Cursor<T>::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}
template <typename T>
absl::StatusOr<std::optional<T>> Cursor<T>::Get(uint64_t ordinal) {
  return impl_->Get(ordinal);
}
template <typename T>
absl::Status Cursor<T>::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
  return impl_->Take(ordinals, out);
}
template <typename T>
uint64_t Cursor<T>::ordinal() const {
  return impl_->ordinal();
}

Reader::Reader(std::shared_ptr<FileReader> file) : file_(std::move(file)) {}

absl::StatusOr<Reader> Reader::Open(const std::string& path, const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto source, options.access == ReaderOptions::Access::kMap
                                          ? OpenMappedSource(path)
                                          : OpenPreadSource(path));
  return Open(std::move(source), options);
}

absl::StatusOr<Reader> Reader::Open(std::shared_ptr<const Source> source,
                                    const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto file, FileReader::Open(std::move(source), options));
  return Reader(std::move(file));
}

const FileInfo& Reader::info() const { return file_->info(); }

absl::StatusOr<std::shared_ptr<const FileStatistics>> Reader::Statistics() const {
  return file_->Statistics();
}

template <typename T>
absl::StatusOr<Cursor<T>> Reader::NewCursor() const {
  const FileInfo& info = file_->info();
  if (info.has_levels()) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_->source().name(),
                     ": the rows of this file are records of any number of values: read it with a "
                     "LevelCursor"));
  }
  CFILE_ASSIGN_OR_RETURN(auto dictionary, internal::PrepareToRead<T>(*file_));
  return Cursor<T>(std::make_unique<typename Cursor<T>::Impl>(file_, std::move(dictionary)));
}

template <typename T>
absl::StatusOr<std::optional<Owned<T>>> Reader::Get(uint64_t ordinal) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, cursor.Get(ordinal));
  return value ? std::optional<Owned<T>>(*value) : std::nullopt;
}

template <typename T>
absl::Status Reader::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  return cursor.Take(ordinals, out);
}

#define CFILE_INSTANTIATE(T)                                                       \
  template class Cursor<T>;                                                        \
  template absl::StatusOr<Cursor<T>> Reader::NewCursor<T>() const;                 \
  template absl::StatusOr<std::optional<Owned<T>>> Reader::Get<T>(uint64_t) const; \
  template absl::Status Reader::Take<T>(std::span<const uint64_t>, OwnedBatch<T>&) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
