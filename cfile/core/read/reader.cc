#include "cfile/reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/core/read/file_reader.h"
#include "cfile/core/read/index_walk.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/split_rows.h"
#include "cfile/core/read/value_cursor.h"
#include "encodings/core/status.h"

namespace cfile {

using internal::FileReader;
using internal::IndexWalk;

const std::shared_ptr<FileReader>& internal::ReaderAccess::FileOf(const UntypedCursor& cursor) {
  return cursor.impl_->shared_file();
}
OrdinalRange internal::ReaderAccess::RestOf(const UntypedCursor& cursor) {
  const uint64_t end = cursor.impl_->range_end();
  return {std::min(cursor.ordinal(), end), end};
}

UntypedCursor::UntypedCursor(std::unique_ptr<internal::ValueCursor> impl)
    : impl_(std::move(impl)) {}
UntypedCursor::UntypedCursor(UntypedCursor&&) noexcept = default;
UntypedCursor& UntypedCursor::operator=(UntypedCursor&&) noexcept = default;
UntypedCursor::~UntypedCursor() = default;
absl::Status UntypedCursor::SeekToOrdinal(uint64_t ordinal) {
  return impl_->SeekToOrdinal(ordinal);
}
absl::StatusOr<KeyPosition> UntypedCursor::SeekToKey(const void* key) {
  return impl_->SeekToKey(key);
}
absl::Status UntypedCursor::SeekMany(encodings::ValueSpan keys, std::span<KeyPosition> positions) {
  return impl_->SeekMany(keys, positions);
}
absl::Status UntypedCursor::SeekToRange(const OrdinalRange& range) {
  return impl_->SeekToRange(range);
}
absl::StatusOr<OrdinalRange> UntypedCursor::SeekToKeyRange(const void* low, const void* high) {
  return impl_->SeekToKeyRange(low, high);
}
absl::StatusOr<internal::AnyBatch> UntypedCursor::Next(size_t max_rows) {
  return impl_->Next(max_rows);
}
absl::StatusOr<internal::AnyBatch> UntypedCursor::Previous(size_t max_rows) {
  return impl_->Previous(max_rows);
}
absl::StatusOr<internal::AnyBatch> UntypedCursor::Get(uint64_t ordinal) {
  return impl_->Get(ordinal);
}
absl::Status UntypedCursor::Take(std::span<const uint64_t> ordinals, internal::OwnedValues& out) {
  return impl_->Take(ordinals, out);
}
uint64_t UntypedCursor::ordinal() const { return impl_->ordinal(); }
absl::StatusOr<UntypedCursor> UntypedCursor::Clone() const {
  return internal::Wrap<UntypedCursor>(impl_->Clone());
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
  return DataLoss(file_->source().name(), ": the positional index begins the block of ordinal ",
                  ordinal, " at ordinal ", begin);
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
    return absl::FailedPreconditionError(
        StrCat(file->source().name(),
               ": the rows of this file are records with any number of values: read it with a "
               "LevelCursor"));
  }
  CFILE_ASSIGN_OR_RETURN(auto decoding, PrepareToRead(*file, make_decoder));
  return std::make_unique<ValueCursor>(file, std::move(decoding));
}

absl::StatusOr<UntypedCursor> Reader::NewUntypedCursor(
    encodings::DecoderMaker* make_decoder) const {
  return internal::Wrap<UntypedCursor>(internal::NewValueCursor(file_, make_decoder));
}

absl::Status Reader::ReadRows(encodings::DecoderMaker* make_decoder, const OrdinalRange& range,
                              internal::OwnedValues& rows) const {
  CFILE_ASSIGN_OR_RETURN(const auto cursor, internal::NewValueCursor(file_, make_decoder));
  const uint64_t end = std::min(range.end, num_rows());
  CFILE_RETURN_IF_ERROR(cursor->SeekToRange({.begin = std::min(range.begin, end), .end = end}));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const internal::AnyBatch batch, cursor->Next(kMaxBatchRows));
    if (batch.empty()) return absl::OkStatus();
    rows.Append(batch);
  }
}

}  // namespace cfile
