#include "cfile/reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/split_rows.h"
#include "cfile/core/read/value_cursor.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::FileReader;
using internal::IndexWalk;

const std::shared_ptr<FileReader>& internal::ReaderAccess::FileOf(const ValueCursor& cursor) {
  return cursor.shared_file();
}
OrdinalRange internal::ReaderAccess::RestOf(const ValueCursor& cursor) {
  return {std::min(cursor.ordinal(), cursor.range_end()), cursor.range_end()};
}

template <typename T>
Cursor<T>::Cursor(std::unique_ptr<internal::ValueCursor> cursor) : impl_(std::move(cursor)) {}
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
  const T copy = key;  // `key` may lie in the last batch, whose memory the search uses
  return impl_->SeekToKey(&copy);
}
template <typename T>
absl::Status Cursor<T>::SeekMany(std::span<const T> keys, std::span<KeyPosition> positions) {
  return impl_->SeekMany(keys, positions);
}
template <typename T>
absl::Status Cursor<T>::SeekToRange(const OrdinalRange& range) {
  return impl_->SeekToRange(range);
}
template <typename T>
absl::StatusOr<OrdinalRange> Cursor<T>::SeekToKeyRange(const std::optional<T>& low,
                                                       const std::optional<T>& high) {
  return impl_->SeekToKeyRange(low ? &*low : nullptr, high ? &*high : nullptr);
}
template <typename T>
absl::StatusOr<Batch<T>> Cursor<T>::Next(size_t max_rows) {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, impl_->Next(max_rows));
  return batch.As<T>();
}
template <typename T>
absl::StatusOr<Batch<T>> Cursor<T>::Previous(size_t max_rows) {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, impl_->Previous(max_rows));
  return batch.As<T>();
}
template <typename T>
absl::StatusOr<std::optional<T>> Cursor<T>::Get(uint64_t ordinal) {
  CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, impl_->Get(ordinal));
  return batch.IsValid(0) ? std::optional<T>(*static_cast<const T*>(batch.values)) : std::nullopt;
}
template <typename T>
absl::Status Cursor<T>::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) {
  return impl_->Take(ordinals, out.untyped());
}
template <typename T>
uint64_t Cursor<T>::ordinal() const {
  return impl_->ordinal();
}
template <typename T>
absl::StatusOr<Cursor<T>> Cursor<T>::Clone() const {
  CFILE_ASSIGN_OR_RETURN(auto clone, impl_->Clone());
  return Cursor(std::move(clone));
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
ReaderCounters Reader::counters() const { return file_->counters(); }
size_t Reader::memory_usage_bytes() const { return file_->memory_usage_bytes(); }

absl::StatusOr<uint64_t> Reader::BlockBegin(uint64_t ordinal) const {
  if (ordinal >= num_rows()) return num_rows();
  IndexWalk path(file_.get(), IndexKind::kPositional);
  CFILE_RETURN_IF_ERROR(path.SeekToOrdinal(ordinal));
  const uint64_t begin = path.valid() ? path.leaf().ordinal(path.entry()) : 0;
  if (begin <= ordinal) return begin;
  return encodings::DataLoss(file_->source().name(), ": the positional index begins the block of ",
                             "ordinal ", ordinal, " at ordinal ", begin);
}

absl::StatusOr<std::vector<OrdinalRange>> Reader::Split(size_t max_ranges) const {
  return internal::SplitRows(num_rows(), max_ranges,
                             [this](uint64_t ordinal) { return BlockBegin(ordinal); });
}

absl::StatusOr<std::shared_ptr<const FileStatistics>> Reader::Statistics() const {
  return file_->Statistics();
}

absl::StatusOr<std::unique_ptr<internal::ValueCursor>> internal::NewValueCursor(
    const std::shared_ptr<FileReader>& file, encodings::DecoderMaker* make_decoder) {
  if (file->info().has_levels()) {
    return absl::FailedPreconditionError(absl::StrCat(
        file->source().name(),
        ": the rows of this file are records with any number of values: read it with a "
        "LevelCursor"));
  }
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  return std::make_unique<ValueCursor>(file, std::move(decoding));
}

template <typename T>
absl::StatusOr<Cursor<T>> Reader::NewCursor() const {
  CFILE_ASSIGN_OR_RETURN(auto cursor,
                         internal::NewValueCursor(file_, internal::DecoderMakerFor<T>(*file_)));
  return Cursor<T>(std::move(cursor));
}

template <typename T, typename>
absl::StatusOr<std::optional<Owned<T>>> Reader::Get(uint64_t ordinal) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  CFILE_ASSIGN_OR_RETURN(const std::optional<T> value, cursor.Get(ordinal));
  return value ? std::optional<Owned<T>>(*value) : std::nullopt;
}

template <typename T, typename>
absl::Status Reader::Take(std::span<const uint64_t> ordinals, OwnedBatch<T>& out) const {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, NewCursor<T>());
  return cursor.Take(ordinals, out);
}

static absl::Status ReadRows(internal::ValueCursor& cursor, const OrdinalRange& range,
                             internal::OwnedValues& rows) {
  const uint64_t end = std::min(range.end, cursor.file().info().num_rows);
  const uint64_t begin = std::min(range.begin, end);
  CFILE_RETURN_IF_ERROR(cursor.SeekToRange({.begin = begin, .end = end}));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, cursor.Next(kMaxBatchRows));
    if (batch.empty()) return absl::OkStatus();
    rows.Append(batch);
  }
}

template <typename T, typename>
absl::StatusOr<OwnedBatch<T>> Reader::Read(const OrdinalRange& range) const {
  CFILE_ASSIGN_OR_RETURN(auto cursor,
                         internal::NewValueCursor(file_, internal::DecoderMakerFor<T>(*file_)));
  OwnedBatch<T> rows;
  CFILE_RETURN_IF_ERROR(ReadRows(*cursor, range, rows.untyped()));
  return rows;
}

#define CFILE_INSTANTIATE(T)                                                              \
  template class Cursor<T>;                                                               \
  template absl::StatusOr<Cursor<T>> Reader::NewCursor<T>() const;                        \
  template absl::StatusOr<std::optional<Owned<T>>> Reader::Get<T>(uint64_t) const;        \
  template absl::Status Reader::Take<T>(std::span<const uint64_t>, OwnedBatch<T>&) const; \
  template absl::StatusOr<OwnedBatch<T>> Reader::Read<T>(const OrdinalRange&) const;
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile
