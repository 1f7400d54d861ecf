#include "tools/import/parquet_importer.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/status.h"
#include "tools/import/column_options.h"
#include "tools/import/table_sorter.h"

namespace cfile::tools {
namespace {

// Damage of the input is an error in the input, as in CSV. kDataLoss would mean a damaged table.
template <typename T>
absl::StatusOr<T> AsInputError(absl::StatusOr<T> result) {
  if (!absl::IsDataLoss(result.status())) return result;
  return absl::InvalidArgumentError(result.status().message());
}

class ParquetImporter {
 public:
  // `source`: the input; null: options.input is a directory.
  ParquetImporter(const ImportOptions& options, std::shared_ptr<const Source> source,
                  Progress& progress)
      : options_(options), source_(std::move(source)), progress_(progress) {}

  absl::StatusOr<ImportResult> Run() {
    CFILE_RETURN_IF_ERROR(options_.append ? TakeSchemaOfTable(options_, schema_, sorted_by_)
                                          : MakeSchema());
    column_options_ = OptionsOfColumns(options_, schema_, sorted_by_);
    absl::StatusOr<ParquetReport> report = Write();
    // The rows may have another order. If the error is another one, the second attempt finds it
    // again.
    if (!sorted_by_.empty() && absl::IsInvalidArgument(report.status())) {
      absl::StatusOr<ImportResult> sorted = WriteSorted();
      if (!sorted.ok()) return sorted;
      return Complete(*std::move(sorted));
    }
    if (!report.ok()) return report.status();
    return Complete(Describe(*report, report->columns));
  }

 private:
  ReaderOptions Limits() const {
    return {.max_block_size_bytes = options_.max_block_size_bytes,
            .max_metadata_size_bytes = options_.max_metadata_size_bytes,
            .record_limits = options_.record_limits};
  }

  absl::Status MakeSchema() {
    const ParquetImportOptions import{.columns = options_.columns, .reader = Limits()};
    CFILE_ASSIGN_OR_RETURN(Schema schema,
                           AsInputError(source_ == nullptr ? ParquetSchema(options_.input, import)
                                                           : ParquetSchema(*source_, import)));
    CFILE_ASSIGN_OR_RETURN(schema_, ApplyOptions(options_, std::move(schema)));
    sorted_by_ = options_.sorted_by;
    return absl::OkStatus();
  }

  uint64_t InputBytes() const { return source_ == nullptr ? 0 : source_->size(); }

  absl::StatusOr<ParquetReport> ImportInto(const TableLocation& table,
                                           ParquetImportOptions import) {
    const uint64_t bytes = InputBytes();
    progress_.Begin("importing", bytes);
    CFILE_RETURN_IF_ERROR(progress_.Update(0, 0));
    import.columns = options_.columns;
    import.reader = Limits();
    import.max_page_size_bytes = options_.max_page_size_bytes.value_or(import.max_page_size_bytes);
    import.progress = [&](uint64_t done, uint64_t rows) {
      const double part = rows == 0 ? 0 : static_cast<double>(done) / static_cast<double>(rows);
    return progress_.Update(static_cast<uint64_t>(part * static_cast<double>(bytes)), done).ok();
  };
  return AsInputError(source_ == nullptr ? ImportParquet(options_.input, table, import)
                                         : ImportParquet(source_, table, import));
}

absl::StatusOr<ParquetReport>
Write() {
  ParquetImportOptions import{.append = options_.append,
                              .part_per_row_group = options_.part_per_row_group,
                              .copy_pages = !options_.goal_given,
                              .writer = column_options_};
  if (!options_.append) import.schema = schema_;
  return ImportInto(options_.table, std::move(import));
}

// The options of a new table with the metadata of the file.
absl::StatusOr<std::vector<WriterOptions>> OptionsWithMetadata() const {
  const ParquetImportOptions import{.columns = options_.columns,
                                    .schema = schema_,
                                    .writer = column_options_,
                                    .reader = Limits()};
  return AsInputError(source_ == nullptr ? ParquetWriterOptions(options_.input, import)
                                         : ParquetWriterOptions(*source_, import));
}

absl::StatusOr<TableWriter> NewWriter() const {
  if (options_.append) return TableWriter::Append(options_.table, column_options_);
  CFILE_ASSIGN_OR_RETURN(const std::vector<WriterOptions> options, OptionsWithMetadata());
  return TableWriter::Create(options_.table, schema_, options);
}

absl::StatusOr<ImportResult> WriteSorted() {
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewWriter());
  CFILE_ASSIGN_OR_RETURN(
      const UnsortedTable unsorted,
      UnsortedTable::Create(options_.temporary_directory, schema_, column_options_));
  Schema copy = schema_;
  copy.key_columns.clear();
  copy.nulls_last.clear();
  CFILE_ASSIGN_OR_RETURN(
      const ParquetReport report,
      ImportInto(
          unsorted.path(),
          {.schema = copy, .writer = {{.max_block_size_bytes = options_.max_block_size_bytes}}}));
  CFILE_ASSIGN_OR_RETURN(const bool reordered,
                         unsorted.AppendSortedTo(writer, options_.input, sorted_by_,
                                                 options_.memory_bytes, progress_));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  std::vector<ColumnTotals> totals;
  for (size_t i = 0; i < schema_.columns.size(); ++i) totals.push_back(writer.totals(i));
  ImportResult result = Describe(report, totals);
  result.reordered = reordered;
  // Sorting has encoded all values again.
  if (reordered) {
    result.recoded_pages += result.copied_pages + result.recompressed_pages;
    result.copied_pages = result.recompressed_pages = 0;
  }
  return result;
}

ImportResult Describe(const ParquetReport& report, const std::vector<ColumnTotals>& totals) const {
  ImportResult result{.rows = report.rows,
                      .records = schema_.tree.has_value(),
                      .copied_pages = report.copied_pages,
                      .recompressed_pages = report.recompressed_pages,
                      .recoded_pages = report.recoded_pages};
  for (size_t i = 0; i < schema_.columns.size(); ++i) {
    result.columns.push_back({.schema = schema_.columns[i], .totals = totals[i]});
    ColumnSchema& column = result.columns.back().schema;
    column.nullable = column.nullable || column.has_levels();
  }
  result.bytes_in = InputBytes() > 0 ? InputBytes() : report.bytes_in;
  return result;
}

ImportResult Complete(ImportResult result) const {
  result.sorted_by = sorted_by_;
  result.format = "Parquet";
  return result;
}

const ImportOptions& options_;
const std::shared_ptr<const Source> source_;
Progress& progress_;
Schema schema_;
std::vector<std::string> sorted_by_;
std::vector<WriterOptions> column_options_;
};  // namespace

}  // namespace cfile::tools

absl::StatusOr<ImportResult> ImportParquetFiles(const ImportOptions& options, const InputFile& file,
                                                Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  CFILE_RETURN_IF_ERROR(RefuseCsvOptions(options, "as Parquet"));
  for (const auto& [column, type] : options.types) {
    if (type.type == ColumnType::Binary() || type.type == ColumnType::Int96()) continue;
    return absl::InvalidArgumentError(
        StrCat("--type ", column,
               ": the types are those of the Parquet file; only a string may become "
               "binary, and INT96, which becomes timestamp(ns), may be kept as int96"));
  }
  auto result = ImportWithFewestNulls(options, [&](const ImportOptions& chosen) {
    return ParquetImporter(chosen, file.source, progress).Run();
  });
  if (!result.ok()) return result.status();
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cfile::tools
