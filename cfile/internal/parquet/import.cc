#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/internal/io/named_status.h"
#include "cfile/internal/parquet/column_import.h"
#include "cfile/internal/parquet/metadata/file_metadata.h"
#include "cfile/internal/parquet/parquet_schema.h"
#include "cfile/parquet.h"
#include "cfile/table.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using encodings::DataLoss;
using encodings::StrCat;
using internal::ColumnImport;
using internal::ColumnImportPlan;
using internal::ParquetLeaf;
using internal::SchemaOfParquet;
using internal::parquet::ParquetMetadata;
using internal::parquet::RowGroup;

// Checks the counts of the row groups.
absl::Status CheckRowGroups(const internal::parquet::FileMetaData& file) {
  size_t num_leaves = 0;
  for (const internal::parquet::SchemaElement& element : file.schema)
    num_leaves += element.type.has_value();
  uint64_t num_rows = 0;
  for (size_t i = 0; i < file.row_groups.size(); ++i) {
    const RowGroup& group = file.row_groups[i];
    if (group.columns.size() != num_leaves) {
      return DataLoss("row group ", i, " has ", group.columns.size(), " columns, the schema ",
                      num_leaves);
    }
    if (group.num_rows < 0) return DataLoss("row group ", i, " has ", group.num_rows, " rows");
    num_rows += static_cast<uint64_t>(group.num_rows);
  }
  if (file.num_rows >= 0 && num_rows == static_cast<uint64_t>(file.num_rows))
    return absl::OkStatus();
  return DataLoss("the row groups have ", num_rows, " rows, the file ", file.num_rows);
}

absl::StatusOr<std::shared_ptr<const Source>> OpenFile(const std::string& path,
                                                       ReaderOptions::Access access) {
  return access == ReaderOptions::Access::kMap ? OpenMappedSource(path) : OpenPreadSource(path);
}

// Imports one file.
class Import {
 public:
  Import(std::shared_ptr<const Source> source, const ParquetImportOptions& options)
      : source_(std::move(source)), options_(options) {}

  absl::Status Open() {
    CFILE_ASSIGN_OR_RETURN(metadata_, internal::parquet::ReadParquetMetadata(
                                          *source_, options_.reader.max_metadata_size_bytes));
    CFILE_ASSIGN_OR_RETURN(
        from_, internal::Named(internal::SchemaFromParquet(metadata_.file, options_.columns,
                                                           options_.reader.record_limits),
                               source_->name()));
    return internal::Named(CheckRowGroups(metadata_.file), source_->name());
  }

  // The schema of a new table.
  absl::StatusOr<Schema> NewSchema() const {
    Schema schema = from_.schema;
    for (const std::string& name : options_.sorted_by) {
      const std::optional<size_t> column = schema.Find(name);
      if (!column) return NoColumn(name);
      schema.key_columns.push_back(*column);
    }
    return schema;
  }

  absl::StatusOr<TableWriter> Begin(const TableLocation& table) {
    if (options_.append) return TableWriter::Append(table, options_.writer);
    CFILE_ASSIGN_OR_RETURN(const Schema schema, NewSchema());
    return TableWriter::Create(table, schema, options_.writer);
  }

  // Appends all rows to `writer`.
  absl::Status Write(TableWriter& writer, ParquetReport& report) {
    CFILE_RETURN_IF_ERROR(internal::Named(Plan(writer.schema()), source_->name()));
    for (size_t i = 0; i < columns_.size(); ++i) {
      for (const RowGroup& group : metadata_.file.row_groups) {
        const auto num_rows = static_cast<uint64_t>(group.num_rows);
        CFILE_RETURN_IF_ERROR(
            columns_[i]->Import(group.columns[plans_[i].leaf.chunk], num_rows, writer, report));
        CFILE_RETURN_IF_ERROR(Report(i, report));
      }
    }
    report.rows += static_cast<uint64_t>(metadata_.file.num_rows);
    report.row_groups += metadata_.file.row_groups.size();
    return absl::OkStatus();
  }

 private:
  absl::Status NoColumn(const std::string& name) const {
    return absl::InvalidArgumentError(StrCat(source_->name(), ": there is no column ", name));
  }

  // Tells the caller how far the import is.
  absl::Status Report(size_t /*column*/, const ParquetReport& /*report*/) {
    return absl::OkStatus();
  }

  // Makes columns_: one for each column of the table.
  absl::Status Plan(const Schema& schema) {
    if (schema.tree != from_.schema.tree)
      return absl::InvalidArgumentError("the table has another schema than the file");
    for (const ParquetLeaf& leaf : from_.leaves) {
      const ColumnSchema& column = from_.schema.columns[leaf.column];
      const std::optional<size_t> found = schema.Find(column.name);
      if (!found) return absl::InvalidArgumentError(StrCat("the table has no column ", column.name));
      const ColumnSchema& to = schema.columns[*found];
      if (to.type != column.type || to.levels != column.levels) {
        return absl::InvalidArgumentError(StrCat("column ", column.name, " is ",
                                                 column.type.ToString(), " in the file, but ",
                                                 to.type.ToString(), " in the table"));
      }
      const std::vector<WriterOptions>& writer = options_.writer;
      plans_.push_back({.source = source_.get(),
                        .metadata = &metadata_,
                        .leaf = leaf,
                        .name = column.name,
                        .reader = options_.reader,
                        .column = to,
                        .table_column = *found,
                        .writer = writer.empty()       ? WriterOptions{}
                                  : writer.size() == 1 ? writer[0]
                                                       : writer[*found],
                        .copies_pages = options_.copy_pages});
    }
    for (const ColumnSchema& column : schema.columns) {
      if (!from_.schema.Find(column.name))
        return absl::InvalidArgumentError(
            StrCat("there is no column ", column.name, ", which the table has"));
    }
    for (const ColumnImportPlan& plan : plans_) columns_.push_back(NewColumnImport(plan));
    return absl::OkStatus();
  }

  const std::shared_ptr<const Source> source_;
  const ParquetImportOptions& options_;
  ParquetMetadata metadata_;
  SchemaOfParquet from_;
  std::vector<ColumnImportPlan> plans_;
  std::vector<std::unique_ptr<ColumnImport>> columns_;
};

}  // namespace

absl::StatusOr<Schema> ParquetSchema(const Source& source, const ReaderOptions& options) {
  CFILE_ASSIGN_OR_RETURN(
      const ParquetMetadata metadata,
      internal::parquet::ReadParquetMetadata(source, options.max_metadata_size_bytes));
  CFILE_ASSIGN_OR_RETURN(
      SchemaOfParquet from,
      internal::Named(internal::SchemaFromParquet(metadata.file, {}, options.record_limits),
                      source.name()));
  return std::move(from.schema);
}

absl::StatusOr<ParquetReport> ImportParquet(std::shared_ptr<const Source> source,
                                            const TableLocation& table,
                                            const ParquetImportOptions& options) {
  Import import(std::move(source), options);
  CFILE_RETURN_IF_ERROR(import.Open());
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, import.Begin(table));
  ParquetReport report;
  CFILE_RETURN_IF_ERROR(import.Write(writer, report));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  for (size_t i = 0; i < writer.schema().columns.size(); ++i)
    report.bytes_out += writer.totals(i).bytes_written;
  return report;
}

absl::StatusOr<ParquetReport> ImportParquet(const std::string& path, const TableLocation& table,
                                            const ParquetImportOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto source, OpenFile(path, options.reader.access));
  return ImportParquet(std::move(source), table, options);
}

}  // namespace cfile
