#include "cfile/concatenate.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/format/metadata_keys.h"
#include "cfile/internal/table/block_copier.h"
#include "cfile/internal/table/column_writer.h"
#include "cfile/internal/table/part_cursor.h"
#include "cfile/levels.h"
#include "cfile/schema.h"
#include "cfile/writer.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using Progress = std::function<absl::Status(uint64_t rows)>;

template <typename T>
absl::Status AppendSome(Cursor<T>& from, uint64_t rows, Writer<T>& to) {
  CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, from.Next(std::min<uint64_t>(rows, kMaxBatchRows)));
  return to.Append(batch);
}
template <typename T>
absl::Status AppendSome(LevelCursor<T>& from, uint64_t records, LevelWriter<T>& to) {
  CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> batch,
                         from.Next(std::min<uint64_t>(records, kMaxBatchRows)));
  return to.Append(batch.repetition, batch.definition, batch.values);
}

// Appends all rows of `file` to `to`. `cursor`: a cursor at the first row of `file`. `column`,
// `needs_keys` and `copied`: see BlockCopier::Create.
template <typename C, typename W>
absl::Status AppendFile(const Reader& file, C cursor, const ColumnSchema& column, bool needs_keys,
                        internal::TypedColumnWriter<W>& to, internal::CopyTotals& copied,
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
    // The cursor is not at `row` only if blocks were copied. Blocks are copied only from files that
    // have a positional index, so the seek is possible.
    if (row < end && internal::RowOf(cursor) != row) {
      CFILE_RETURN_IF_ERROR(internal::SeekToRow(cursor, row));
    }
    while (row < end) {
      CFILE_RETURN_IF_ERROR(AppendSome(cursor, end - row, to.writer()));
      CFILE_RETURN_IF_ERROR(report(internal::RowOf(cursor) - row));
      row = internal::RowOf(cursor);
    }
  }
  return absl::OkStatus();
}

// Implements Concatenate for a type of values. `new_cursor` returns a cursor at the first row of a
// file.
template <typename W, typename NewCursor>
absl::StatusOr<ConcatenateReport> AppendFiles(std::span<const Reader> files,
                                              const ColumnSchema& column, bool needs_keys,
                                              NewCursor new_cursor, absl::StatusOr<W> writer,
                                              const Progress& progress) {
  CFILE_RETURN_IF_ERROR(writer.status());
  internal::TypedColumnWriter<W> to(*std::move(writer), "");
  internal::CopyTotals copied;
  for (const Reader& file : files) {
    CFILE_ASSIGN_OR_RETURN(auto cursor, new_cursor(file));
    CFILE_RETURN_IF_ERROR(
        AppendFile(file, std::move(cursor), column, needs_keys, to, copied, progress));
  }
  for (const auto& [key, value] : files[0].info().footer_metadata) {
    if (key.starts_with(internal::kReservedKeyPrefix)) continue;
    CFILE_RETURN_IF_ERROR(to.writer().AddMetadata(key, value));
  }
  CFILE_RETURN_IF_ERROR(to.writer().Finish());
  return ConcatenateReport{to.totals(), copied.blocks, copied.bytes};
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
  return VisitType(
      first.type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<ConcatenateReport> {
        if (first.has_levels()) {
          return AppendFiles(
              files, column, false, [](const Reader& file) { return file.NewLevelCursor<T>(); },
              LevelWriter<T>::Create(std::move(sink), first.type, first.levels, with_nulls),
              progress);
        }
        return AppendFiles(
            files, column, options.value_index,
            [](const Reader& file) { return file.NewCursor<T>(); },
            Writer<T>::Create(std::move(sink), first.type, with_nulls), progress);
      });
}

}  // namespace cfile
