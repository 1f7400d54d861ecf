// cfile-dump rows --format parquet: blocks become pages without being encoded again, if possible.

#include "tools/dump/row_text.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "cfile/parquet.h"
#include "tools/columns/copy.h"
#include "tools/temporary_folder.h"

namespace cfile::tools {
namespace {

// Appends some rows of a batch to a column.
template <typename T>
absl::Status AppendFlat(const Batch<T>& batch, const BatchRows& rows, size_t column,
                        TableWriter& writer) {
  const std::span<const T> values = batch.values.subspan(rows.begin, rows.end - rows.begin);
  if (batch.validity == nullptr) return writer.Append<T>(column, values);
  std::vector<uint8_t> validity((values.size() + 7) / 8);
  for (size_t i = 0; i < values.size(); ++i) {
    validity[i / 8] |= static_cast<uint8_t>(batch.IsValid(rows.begin + i) ? 1 << (i % 8) : 0);
  }
  return writer.Append<T>(column, values, validity);
}

template <typename T>
absl::Status AppendLevels(const LevelBatch<T>& batch, const LevelLimits& limits,
                          const BatchRows& rows, size_t column, TableWriter& writer) {
  // The first entry and the first value of the row `rows.begin`, and of the row `rows.end`.
  size_t entry = 0, value = 0, first_entry = 0, first_value = 0;
  for (size_t row = 0; entry <= batch.num_entries; ++entry) {
    const bool begins =
        entry == batch.num_entries || batch.repetition.empty() || batch.repetition[entry] == 0;
    if (begins && row++ == rows.begin) {
      first_entry = entry;
      first_value = value;
    }
    if (begins && row == rows.end + 1) break;
    value += batch.definition.empty() || batch.definition[entry] == limits.max_definition;
  }
  const auto part = [&](const std::span<const uint16_t>& levels) {
    return levels.empty() ? levels : levels.subspan(first_entry, entry - first_entry);
  };
  return writer.AppendLevels<T>(column, part(batch.repetition), part(batch.definition),
                                batch.values.subspan(first_value, value - first_value));
}

// Rows that are appended to a table, and have no text.
class CopiedRows final : public ScannedRows {
 public:
  CopiedRows(const Input& input, const RowSelection& selection, RowRanges ranges,
             TableWriter& writer)
      : ScannedRows(input, selection, std::move(ranges)), writer_(writer) {}

  absl::StatusOr<bool> Append(std::string&) override {
    CFILE_ASSIGN_OR_RETURN(const bool more, Read());
    if (!more) return false;
    const Schema& schema = writer_.schema();
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      const ColumnSchema& column = schema.columns[i];
      CFILE_RETURN_IF_ERROR(VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
        return column.has_levels()
                   ? AppendLevels<T>(rows_.batch->levels<T>(i), column.levels, rows_, i, writer_)
                   : AppendFlat<T>(rows_.batch->column<T>(i), rows_, i, writer_);
      }));
    }
    return true;
  }

 private:
  TableWriter& writer_;
};

// What the files of a new table keep of the files of `input`.
absl::StatusOr<std::vector<WriterOptions>> OptionsOfCopy(const Input& input, const Schema& schema,
                                                         const CommonOptions& common) {
  std::vector<WriterOptions> options;
  for (const ColumnSchema& column : schema.columns) {
    std::optional<Reader> file = input.file;
    for (size_t part = 0; !file && part < input.table->num_parts(); ++part) {
      const size_t index = *input.table->schema().Find(column.name);
      CFILE_ASSIGN_OR_RETURN(const std::string path, input.table->part_file(part, index));
      if (path.empty()) continue;
      // A damaged or lost file is an error of its rows.
      if (auto opened = input.table->OpenColumn(part, index); opened.ok()) file = *opened;
    }
    WriterOptions& chosen = options.emplace_back();
    if (file) {
      CFILE_ASSIGN_OR_RETURN(chosen, OptionsLike(*file, {}, column.name));
    }
    chosen.value_index = false;  // rows of several parts may be in any order
    chosen.positional_index = true;
    SetWriterLimits(common, chosen);
  }
  if (!input.table || options.empty()) return options;
  const auto of_table = input.table->metadata();
  auto& metadata = options[0].metadata;
  for (const auto& pair : of_table.value_or(WriterOptions().metadata)) {
    if (std::ranges::find(metadata, pair) == metadata.end()) metadata.push_back(pair);
  }
  return options;
}

// Writes the chosen rows to a new table at `to`.
absl::Status CopyRows(const Input& input, const ParquetRows& rows, const CommonOptions& common,
                      const std::string& to, Progress& progress) {
  RowSelection selection;
  Schema schema;
  if (input.table && !IsFlat(input.table->schema())) {
    // ExportParquet chooses from the columns of nested rows.
    schema = input.table->schema();
    selection.columns = schema.columns;
    CFILE_ASSIGN_OR_RETURN(selection.options.where, FilterOf(rows.choice, schema));
  } else {
    CFILE_ASSIGN_OR_RETURN(selection, SelectRows(input, rows.choice));
    schema.columns = selection.columns;
    if (input.file) schema.columns[0].nullable = input.file->info().nullable;
  }
  schema.key_columns.clear();
  schema.nulls_last.clear();
  schema.merge_rule.reset();
  selection.options.cancelled = &Progress::cancelled();
  CFILE_ASSIGN_OR_RETURN(const auto options, OptionsOfCopy(input, schema, common));
  RowPlan plan{.one_thread = true};
  CFILE_ASSIGN_OR_RETURN(plan.ranges, ChooseRows(input, common, rows.range, selection));
  if (input.table) plan.columns = ColumnsToRead(selection);
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Create(to, schema, options));
  plan.open = [&](RowRanges ranges, const FlushText&) -> absl::StatusOr<std::unique_ptr<RowText>> {
    return std::make_unique<CopiedRows>(input, selection, std::move(ranges), writer);
  };
  if (rows.lost != nullptr) plan = SkippingDamage(input, std::move(plan), *rows.lost);
  std::vector<uint8_t> no_text;
  CFILE_RETURN_IF_ERROR(WriteRows(plan, 1, *NewMemorySink(&no_text), progress));
  return writer.Finish();
}

}  // namespace

absl::StatusOr<std::string> WriteParquet(const Input& input, const ParquetRows& rows,
                                         const CommonOptions& common, ParquetExportOptions parquet,
                                         std::unique_ptr<Sink> sink, Progress& progress) {
  if (!input.table && !rows.choice.columns.empty()) {
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  }
  parquet.columns = rows.choice.columns;
  parquet.progress = [&](uint64_t done, uint64_t) { return progress.Update(0, done).ok(); };
  Input from = input;
  std::optional<TemporaryFolder> folder;
  if (!rows.all) {
    CancelOnSignals();  // so that the folder is removed
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error) {
      return absl::UnavailableError(
          absl::StrCat("no directory for temporary files (TMPDIR): ", error.message()));
    }
    CFILE_ASSIGN_OR_RETURN(folder, TemporaryFolder::Create(parent.string()));
    CFILE_RETURN_IF_ERROR(CopyRows(input, rows, common, folder->Path("rows"), progress));
    from = {};
    ReaderOptions reading = OptionsOf(common);
    reading.verify_checksums = true;
    reading.max_block_size_bytes = kMaxBytes;
    CFILE_ASSIGN_OR_RETURN(from.table, TableReader::Open(folder->Path("rows"), reading));
  }
  CFILE_ASSIGN_OR_RETURN(const ParquetReport report,
                         from.table ? ExportParquet(*from.table, std::move(sink), parquet)
                                    : ExportParquet(*from.file, std::move(sink), parquet));
  return absl::StrCat(
      WithCommas(report.rows), report.rows == 1 ? " row in " : " rows in ",
      Plural(report.row_groups, "row group"), ", ", WithCommas(report.bytes_in), " -> ",
      WithCommas(report.bytes_out), " bytes\n",
      PagesText(report.copied_pages, report.recompressed_pages, report.recoded_pages), "\n");
}

}  // namespace cfile::tools
