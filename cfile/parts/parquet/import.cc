#include "cfile/parquet.h"

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cfile/core/format/file_policy.h"
#include "cfile/filter.h"
#include "cfile/parts/parquet/common_schema.h"
#include "cfile/parts/parquet/file_import.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "cfile/parts/parquet/partitioned_files.h"
#include "cfile/parts/table/column_writer.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::StrCat;
using internal::CommonSchema;
using internal::MetadataPairs;
using internal::ParquetFileImport;
using internal::PartitionedFile;
using internal::PartitionedFiles;
using internal::TableWriterAccess;

constexpr size_t kBatchRows = 4096;

absl::StatusOr<std::shared_ptr<const Source>> OpenFile(const std::string& path,
                                                       ReaderOptions::Access access) {
  return access == ReaderOptions::Access::kMap ? OpenMappedSource(path) : OpenPreadSource(path);
}

// Appends `count` rows with the same value. `text`: see PartitionedFile.
template <typename T>
absl::Status AppendPartition(const PartitionedFile& file, const std::optional<std::string>& text,
                             size_t column, uint64_t count, TableWriter& writer) {
  const ColumnSchema& schema = writer.schema().columns[column];
  std::optional<T> value;
  if (text) {
    value = internal::PartitionValue<T>(*text, schema.type);
    if (!value) {
      return absl::InvalidArgumentError(StrCat(file.path, ": ", schema.name, "=", *text,
                                               " is not a value of the column's type, ",
                                               schema.type.ToString()));
    }
  }
  const std::unique_ptr<T[]> rows(new T[kBatchRows]);
  std::fill_n(rows.get(), kBatchRows, value.value_or(T{}));
  const std::vector<uint8_t> validity(kBatchRows / 8, value ? 0xff : 0);
  while (count > 0) {
    const std::span<const T> some(rows.get(), std::min<uint64_t>(count, kBatchRows));
    CFILE_RETURN_IF_ERROR(writer.Append<T>(column, some, validity));
    count -= some.size();
  }
  return absl::OkStatus();
}

// Adds the totals of the file of one part.
void Add(const ColumnTotals& part, ColumnTotals& sum) {
  sum.num_rows += part.num_rows;
  sum.num_entries += part.num_entries;
  sum.num_present += part.num_present;
  sum.bytes_written += part.bytes_written;
  sum.encoding = part.encoding;
  sum.compression = part.compression;
  for (const EncodingTotals& each : part.encodings) {
    auto found = std::find_if(sum.encodings.begin(), sum.encodings.end(),
                              [&](const auto& known) { return known.encoding == each.encoding; });
    if (found == sum.encodings.end())
      found = sum.encodings.insert(found, {.encoding = each.encoding});
    found->blocks += each.blocks;
    found->compressed_blocks += each.compressed_blocks;
    found->stored_bytes += each.stored_bytes;
  }
}

// True if the input is a list of files or a directory.
bool HasSeveralFiles(const std::string& path, const ParquetImportOptions& options) {
  struct stat status;
  return !options.files.empty() || (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode));
}

// Imports one file, or all files of a directory.
class Import {
 public:
  explicit Import(const ParquetImportOptions& options)
      : options_(options), columns_(options.reader.record_limits) {}

  absl::StatusOr<ParquetReport> Run(std::shared_ptr<const Source> source,
                                    const TableLocation& table) {
    CFILE_ASSIGN_OR_RETURN(
        const ParquetFileImport file,
        ParquetFileImport::Open(std::move(source), options_.columns, options_.reader));
    CFILE_RETURN_IF_ERROR(Survey(file));
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, Begin(file.source().name(), table));
    CFILE_RETURN_IF_ERROR(CheckColumns(file.source().name(), writer.schema()));
    CFILE_RETURN_IF_ERROR(Write(file, writer));
    return Finish(writer);
  }

  absl::StatusOr<ParquetReport> Run(const std::string& directory, const TableLocation& table) {
    CFILE_RETURN_IF_ERROR(SchemaOf(directory).status());
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, Begin(directory, table));
    CFILE_RETURN_IF_ERROR(CheckColumns(directory, writer.schema()));
    for (const PartitionedFile& file : files_.files) {
      CFILE_ASSIGN_OR_RETURN(const ParquetFileImport import, Open(file));
      if (options_.part_per_row_group && &file != &files_.files[0])
        CFILE_RETURN_IF_ERROR(TableWriterAccess::NextPart(writer));
      CFILE_RETURN_IF_ERROR(Write(import, writer));
      CFILE_RETURN_IF_ERROR(WriteMissing(file, import, writer));
    }
    return Finish(writer);
  }

  // Reads what a new table takes from the metadata of a file.
  absl::Status Survey(const ParquetFileImport& file) {
    kept_ = PairsToKeep(file);
    annotations_ = file.Annotations();
    total_rows_ += file.num_rows();
    return columns_.Add(file, file.source().name());
  }

  // Returns the options of the files of a new table, without the order of the rows.
  std::vector<WriterOptions> OptionsForAnyOrder() {
    internal::RemoveOrderOfRows(kept_);
    writer_options_ = options_.writer;
    KeepMetadata();
    return writer_options_;
  }

  // Returns the schema of a new table, after comparing the schemas of all files in a directory.
  absl::StatusOr<Schema> SchemaOf(const std::string& directory) {
    for (const std::string& path : options_.files) files_.files.push_back({.path = path});
    if (options_.files.empty()) {
      CFILE_ASSIGN_OR_RETURN(files_, internal::FindPartitionedFiles(directory));
    }
    std::set<std::string> known;
    for (const PartitionedFile& file : files_.files) CFILE_RETURN_IF_ERROR(Survey(file, known));
    std::vector<ColumnSchema> folders;
    for (const ColumnSchema& column : files_.columns) {
      known.insert(column.name);
      if (Takes(column.name)) folders.push_back(column);
    }
    for (const std::string& name : options_.columns) {
      if (known.contains(name)) continue;
      return absl::InvalidArgumentError(StrCat(directory, ": there is no column ", name,
                                               Suggestion(name, {known.begin(), known.end()})));
    }
    CFILE_RETURN_IF_ERROR(columns_.AddFolders(folders, directory));
    return columns_.schema();
  }

 private:
  bool Takes(const std::string& column) const {
    return options_.columns.empty() ||
           std::count(options_.columns.begin(), options_.columns.end(), column) > 0;
  }

  absl::StatusOr<ParquetFileImport> Open(const PartitionedFile& file) const {
    CFILE_ASSIGN_OR_RETURN(auto source, OpenFile(file.path, options_.reader.access));
    std::vector<std::string> columns = options_.columns;
    std::erase_if(columns, [&](const std::string& name) {
      return std::ranges::count(files_.columns, name, &ColumnSchema::name) > 0;
    });
    // An empty list would mean all columns of the file.
    return ParquetFileImport::Open(std::move(source), columns.empty() ? options_.columns : columns,
                                   options_.reader, /*may_lack=*/true);
  }

  // Reads what a new table takes from the metadata of a file of the directory. `known` gets the
  // names of its columns.
  absl::Status Survey(const PartitionedFile& file, std::set<std::string>& known) {
    CFILE_ASSIGN_OR_RETURN(const ParquetFileImport import, Open(file));
    known.insert(import.column_names().begin(), import.column_names().end());
    if (&file == &files_.files[0]) return Survey(import);
    total_rows_ += import.num_rows();
    internal::KeepAgreedPairs(PairsToKeep(import), kept_);
    internal::RemoveOrderOfRows(kept_);
    const MetadataPairs annotations = import.Annotations();
    std::erase_if(annotations_, [&](const auto& pair) {
      return std::find(annotations.begin(), annotations.end(), pair) == annotations.end();
    });
    return columns_.Add(import, file.path);
  }

  absl::StatusOr<TableWriter> Begin(const std::string& name, const TableLocation& table) {
    writer_options_ = options_.writer;
    if (!options_.append) KeepMetadata();
    if (options_.append) return TableWriter::Open(table, writer_options_);
    Schema schema = options_.schema ? *options_.schema : columns_.schema();
    for (const std::string& column : options_.sorted_by) {
      const std::optional<size_t> found = schema.Find(column);
      if (!found) {
        return absl::InvalidArgumentError(
            StrCat(name, ": there is no column ", column, " to sort by"));
      }
      schema.key_columns.push_back(*found);
    }
    // A single column without nulls gets a value index. Otherwise the table has compound keys.
    if (!options_.sorted_by.empty() && schema.key_columns.size() == 1) {
      const size_t key = schema.key_columns[0];
      if (!schema.columns[key].nullable && !schema.columns[key].has_levels()) {
        if (writer_options_.empty()) writer_options_.emplace_back();
        if (writer_options_.size() == 1)
          writer_options_.resize(schema.columns.size(), WriterOptions(writer_options_[0]));
        if (key < writer_options_.size()) writer_options_[key].value_index = true;
        schema.key_columns.clear();
      }
    }
    return TableWriter::Create(table, schema, writer_options_);
  }

  WriterOptions FirstOptions() const {
    return options_.writer.empty() ? WriterOptions() : options_.writer[0];
  }

  MetadataPairs PairsToKeep(const ParquetFileImport& file) const {
    if (options_.append) return {};
    return internal::MetadataToKeep(file.metadata(), file.ReadCategories(options_.reader),
                                    FirstOptions());
  }

  // Adds the metadata that a new table keeps to writer_options_: key-value metadata to those of the
  // first column, annotations to those of their columns.
  void KeepMetadata() {
    const WriterOptions first = FirstOptions();
    const bool annotates = !annotations_.empty() && internal::PolicyOf(first).extensions;
    if (kept_.empty() && !annotates) return;
    const Schema& schema = options_.schema ? *options_.schema : columns_.schema();
    if (writer_options_.size() <= 1) writer_options_.resize(schema.columns.size(), first);
    MetadataPairs& kept = writer_options_[0].metadata;
    kept.insert(kept.end(), kept_.begin(), kept_.end());
    if (!annotates) return;
    for (const auto& [column, annotation] : annotations_) {
      const std::optional<size_t> found = schema.Find(column);
      if (found && *found < writer_options_.size() &&
          annotation.size() <= internal::MaxKeptBytes(writer_options_[*found]) / 2) {
        writer_options_[*found].metadata.emplace_back(internal::kAnnotationKey, annotation);
      }
    }
  }

  // Each column of the table must get values.
  absl::Status CheckColumns(const std::string& name, const Schema& table) const {
    for (const ColumnSchema& column : table.columns) {
      if (columns_.schema().Find(column.name)) continue;
      return UnfitRows(absl::InvalidArgumentError(
          StrCat(name, ": there is no column ", column.name, ", which the table has")));
    }
    for (const ColumnSchema& column : columns_.schema().columns) {
      if (table.Find(column.name)) continue;
      return UnfitRows(
          absl::InvalidArgumentError(StrCat(name, ": the table has no column ", column.name)));
    }
    return absl::OkStatus();
  }

  absl::Status Write(const ParquetFileImport& file, TableWriter& writer) {
    // All columns have the same number of rows, so each contributes its part of the progress.
    const size_t num_columns = file.schema().columns.size();
    uint64_t rows_of_columns = 0;
    CFILE_RETURN_IF_ERROR(file.Write(
        writer_options_, options_,
        [&](uint64_t rows) {
          rows_of_columns += rows;
          return Report(file.source().name(), rows_done_ + rows_of_columns / num_columns);
        },
        writer, report_));
    rows_done_ += file.num_rows();
    return absl::OkStatus();
  }

  absl::Status Report(const std::string& name, uint64_t rows) const {
    if (options_.progress == nullptr || options_.progress(rows, total_rows_))
      return absl::OkStatus();
    return absl::CancelledError(StrCat(name, ": the import was cancelled"));
  }

  // Appends to the columns that the file lacks: the values of its folders, and nulls to columns
  // that only other files have.
  absl::Status WriteMissing(const PartitionedFile& file, const ParquetFileImport& import,
                            TableWriter& writer) const {
    if (import.num_rows() == 0) return absl::OkStatus();
    for (const ColumnSchema& column : columns_.schema().columns) {
      if (import.schema().Find(column.name)) continue;
      std::optional<std::string> text;
      for (size_t i = 0; i < files_.columns.size(); ++i) {
        if (files_.columns[i].name == column.name) text = file.values[i];
      }
      const size_t number = *writer.schema().Find(column.name);
      CFILE_RETURN_IF_ERROR(
          VisitType(writer.schema().columns[number].type, [&]<typename T>(std::type_identity<T>) {
            return AppendPartition<T>(file, text, number, import.num_rows(), writer);
          }));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ParquetReport> Finish(TableWriter& writer) {
    CFILE_RETURN_IF_ERROR(writer.Finish());
    const Schema& schema = writer.schema();
    const size_t num_files = schema.columns.size() + schema.key_index().has_value();
    const std::span<const ColumnTotals> parts = TableWriterAccess::CompleteTotals(writer);
    report_.columns.resize(schema.columns.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      report_.bytes_out += parts[i].bytes_written;
      if (i % num_files < report_.columns.size()) Add(parts[i], report_.columns[i % num_files]);
    }
    return report_;
  }

  const ParquetImportOptions& options_;
  PartitionedFiles files_;
  CommonSchema columns_;       // of a new table
  MetadataPairs kept_;         // of a new table: the key-value metadata
  MetadataPairs annotations_;  // of a new table: the names of columns, and their annotations
  std::vector<WriterOptions> writer_options_;
  uint64_t total_rows_ = 0;
  uint64_t rows_done_ = 0;
  ParquetReport report_;
};

}  // namespace

absl::StatusOr<Schema> ParquetSchema(const Source& source, const ParquetImportOptions& options) {
  // The source need not live longer than this call.
  const std::shared_ptr<const Source> view(std::shared_ptr<void>(), &source);
  CFILE_ASSIGN_OR_RETURN(const ParquetFileImport file,
                         ParquetFileImport::Open(view, options.columns, options.reader));
  return file.schema();
}

absl::StatusOr<Schema> ParquetSchema(const std::string& path, const ParquetImportOptions& options) {
  if (HasSeveralFiles(path, options)) return Import(options).SchemaOf(path);
  CFILE_ASSIGN_OR_RETURN(const auto source, OpenFile(path, options.reader.access));
  return ParquetSchema(*source, options);
}

absl::StatusOr<std::vector<WriterOptions>> ParquetWriterOptions(
    const Source& source, const ParquetImportOptions& options) {
  const std::shared_ptr<const Source> view(std::shared_ptr<void>(), &source);
  CFILE_ASSIGN_OR_RETURN(const ParquetFileImport file,
                         ParquetFileImport::Open(view, options.columns, options.reader));
  Import import(options);
  CFILE_RETURN_IF_ERROR(import.Survey(file));
  return import.OptionsForAnyOrder();
}

absl::StatusOr<std::vector<WriterOptions>> ParquetWriterOptions(
    const std::string& path, const ParquetImportOptions& options) {
  if (HasSeveralFiles(path, options)) {
    Import import(options);
    CFILE_RETURN_IF_ERROR(import.SchemaOf(path).status());
    return import.OptionsForAnyOrder();
  }
  CFILE_ASSIGN_OR_RETURN(const auto source, OpenFile(path, options.reader.access));
  return ParquetWriterOptions(*source, options);
}

absl::StatusOr<ParquetReport> ImportParquet(std::shared_ptr<const Source> source,
                                            const TableLocation& table,
                                            const ParquetImportOptions& options) {
  return Import(options).Run(std::move(source), table);
}

absl::StatusOr<ParquetReport> ImportParquet(const std::string& path, const TableLocation& table,
                                            const ParquetImportOptions& options) {
  if (HasSeveralFiles(path, options)) return Import(options).Run(path, table);
  CFILE_ASSIGN_OR_RETURN(auto source, OpenFile(path, options.reader.access));
  return ImportParquet(std::move(source), table, options);
}

}  // namespace cfile
