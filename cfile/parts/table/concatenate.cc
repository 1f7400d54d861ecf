#include "cfile/concatenate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/read/level_file_cursor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/core/read/value_cursor.h"
#include "cfile/parts/table/block_copier.h"
#include "cfile/schema.h"
#include "cfile/untyped.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using Progress = std::function<absl::Status(uint64_t rows)>;

// Appends all rows of `file` to `to`. `cursor`: a cursor at the first row of `file`. `column`,
// `needs_keys` and `copied`: see BlockCopier::Create.
template <typename C>
absl::Status AppendFile(const Reader& file, C& cursor, const ColumnSchema& column, bool needs_keys,
                        internal::AnyWriter& to, internal::CopyTotals& copied,
                        const Progress& progress) {
  CFILE_ASSIGN_OR_RETURN(const auto copier,
                         internal::BlockCopier::Create(file, column, needs_keys, to, copied));
  const auto report = [&](uint64_t rows) {
    return progress != nullptr && rows > 0 ? progress(rows) : absl::OkStatus();
  };
  for (uint64_t row = 0; row < file.num_rows();) {
    CFILE_ASSIGN_OR_RETURN(const auto result, copier->Copy(row, file.num_rows()));
    CFILE_RETURN_IF_ERROR(report(result.copied_rows));
    row += result.copied_rows;
    const uint64_t end = row + result.rows_to_write;
    // The cursor is elsewhere only if blocks were copied. Only files with a positional index have
    // copied blocks, so the seek is possible.
    if (row < end && cursor.ordinal() != row) CFILE_RETURN_IF_ERROR(cursor.SeekToOrdinal(row));
    while (row < end) {
      CFILE_ASSIGN_OR_RETURN(const auto batch,
                             cursor.Next(std::min<uint64_t>(end - row, kMaxBatchRows)));
      CFILE_RETURN_IF_ERROR(to.Append(batch));
      CFILE_RETURN_IF_ERROR(report(cursor.ordinal() - row));
      row = cursor.ordinal();
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConcatenateReport> Concatenate(
    std::span<const Reader> files, std::unique_ptr<Sink> sink, const WriterOptions& options,
    const std::function<absl::Status(uint64_t rows)>& progress) {
  const FileInfo& first = files[0].info();
  ColumnSchema column{.type = first.type};
  if (first.has_levels()) column.levels = first.levels;
  for (const Reader& file : files) {
    const FileInfo& info = file.info();
    if (!(info.type == first.type) || info.has_levels() != first.has_levels() ||
        (info.has_levels() && !(info.levels == first.levels))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the files have different types: ", first.type.ToString(), " and ", info.type.ToString(),
          info.has_levels() || first.has_levels() ? ", with levels" : ""));
    }
    column.nullable |= info.nullable;
  }
  WriterOptions with_nulls = options;
  with_nulls.nullable = column.nullable;
  // A file may have blocks with levels although the maxima of its levels are 0.
  CFILE_ASSIGN_OR_RETURN(
      const auto to,
      first.has_levels()
          ? internal::NewEntryWriter(std::move(sink), first.type, first.levels, with_nulls)
          : internal::NewValueWriter(std::move(sink), first.type, with_nulls));
  internal::CopyTotals copied;
  for (const Reader& file : files) {
    const auto& opened = internal::ReaderAccess::File(file);
    if (first.has_levels()) {
      CFILE_ASSIGN_OR_RETURN(const auto cursor, internal::NewLevelFileCursor(opened));
      CFILE_RETURN_IF_ERROR(AppendFile(file, *cursor, column, false, *to, copied, progress));
    } else {
      CFILE_ASSIGN_OR_RETURN(const auto cursor, internal::NewValueCursor(opened));
      CFILE_RETURN_IF_ERROR(
          AppendFile(file, *cursor, column, options.value_index, *to, copied, progress));
    }
  }
  for (const auto& [key, value] : files[0].info().footer_metadata) {
    if (key.starts_with(internal::kReservedKeyPrefix)) continue;
    CFILE_RETURN_IF_ERROR(to->AddMetadata(key, value));
  }
  CFILE_RETURN_IF_ERROR(to->Finish());
  return ConcatenateReport{to->totals(), copied.blocks, copied.bytes};
}

}  // namespace cfile
