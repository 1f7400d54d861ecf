#include "tools/import/columnar_importer.h"

#include <memory>
#include <utility>

#include "cfile/parquet.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

class ParquetImporter final : public ColumnarImporter {
 public:
  // `source`: the input; null: options.files, or the directory options.input.
  ParquetImporter(const ImportOptions& options, std::shared_ptr<const Source> source,
                  Progress& progress)
      : ColumnarImporter(options, progress), source_(std::move(source)) {}

 private:
  // The options of an import without those of the table.
  ParquetImportOptions Reading() const {
    return {.files = options_.files,
            .columns = options_.columns,
            .reader = {.max_block_size_bytes = options_.max_block_size_bytes,
                       .max_metadata_size_bytes = options_.max_metadata_size_bytes,
                       .record_limits = options_.record_limits}};
  }

  absl::StatusOr<Schema> ReadSchema() override {
    return AsInputError(source_ == nullptr ? ParquetSchema(options_.input, Reading())
                                           : ParquetSchema(*source_, Reading()));
  }

  absl::StatusOr<ImportResult> ImportInto(const TableLocation& table, ParquetImportOptions chosen) {
    const uint64_t bytes = source_ == nullptr ? 0 : source_->size();
    progress_.Begin("importing", bytes);
    CFILE_RETURN_IF_ERROR(progress_.Update(0, 0));
    chosen.max_page_size_bytes = options_.max_page_size_bytes.value_or(chosen.max_page_size_bytes);
    chosen.progress = [&](uint64_t done, uint64_t rows) {
      const double part = rows == 0 ? 0 : static_cast<double>(done) / static_cast<double>(rows);
      return progress_.Update(static_cast<uint64_t>(part * static_cast<double>(bytes)), done).ok();
    };
    CFILE_ASSIGN_OR_RETURN(
        const ParquetReport report,
        AsInputError(source_ == nullptr ? ImportParquet(options_.input, table, chosen)
                                        : ImportParquet(source_, table, chosen)));
    return ImportResult{
        .rows = report.rows,
        .bytes_in = bytes > 0 ? bytes : report.bytes_in,
        .format = "Parquet",
        .records = schema_.tree.has_value(),
        .columns = ColumnsOf(schema_, [&](size_t column) { return report.columns[column]; }),
        .copied_pages = report.copied_pages,
        .recompressed_pages = report.recompressed_pages,
        .recoded_pages = report.recoded_pages};
  }

  absl::StatusOr<ImportResult> Write() override {
    ParquetImportOptions chosen = Reading();
    chosen.append = options_.append;
    chosen.part_per_row_group = options_.part_per_row_group;
    chosen.copy_pages = !options_.goal_given;
    chosen.writer = column_options_;
    if (!options_.append) chosen.schema = schema_;
    return ImportInto(options_.table, std::move(chosen));
  }

  absl::StatusOr<ImportResult> WriteCopy(const UnsortedTable& copy) override {
    ParquetImportOptions chosen = Reading();
    chosen.schema = schema_;
    chosen.schema->key_columns.clear();
    chosen.schema->nulls_last.clear();
    chosen.schema->merge_rule.reset();
    chosen.writer = {{.max_block_size_bytes = options_.max_block_size_bytes}};
    return ImportInto(copy.path(), std::move(chosen));
  }

  // A new table gets the metadata of the file.
  absl::StatusOr<TableWriter> NewWriter() const override {
    if (options_.append) return TableWriter::Open(options_.table, column_options_);
    ParquetImportOptions chosen = Reading();
    chosen.schema = schema_;
    chosen.writer = column_options_;
    CFILE_ASSIGN_OR_RETURN(
        const std::vector<WriterOptions> options,
        AsInputError(source_ == nullptr ? ParquetWriterOptions(options_.input, chosen)
                                        : ParquetWriterOptions(*source_, chosen)));
    return TableWriter::Create(options_.table, schema_, options);
  }

  const std::shared_ptr<const Source> source_;
};

}  // namespace

absl::StatusOr<ImportResult> ImportParquetFiles(const ImportOptions& options, const InputFile& file,
                                                Progress& progress) {
  CFILE_RETURN_IF_ERROR(RefuseCsvOptions(options, "as Parquet"));
  for (const auto& [column, type] : options.types) {
    if (type.type == ColumnType::Binary() || type.type == ColumnType::Int96() ||
        type.type == ColumnType::Timestamp(TimeUnit::kMicros, "")) {
      continue;
    }
    return absl::InvalidArgumentError(
        StrCat("--type ", column,
               ": the types are those of the Parquet file; only a string may become "
               "binary, and INT96, which becomes timestamp(ns), may be timestamp(us) or int96"));
  }
  return ImportWithFewestNulls(options, [&](const ImportOptions& chosen) {
    return ParquetImporter(chosen, file.source, progress).Run();
  });
}

}  // namespace cfile::tools
