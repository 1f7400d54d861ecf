// Imports one Parquet file into a part of a table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parquet_options.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/schema.h"
#include "cfile/table.h"

namespace cfile::internal {

// The groups around a column, from the outermost one on: for example "optional a, repeated list".
// Empty if it is in no group.
std::string GroupsAround(const Schema& schema, size_t column);

// Thread-compatible.
class ParquetFileImport {
 public:
  // Reads the metadata of `source`. `columns` and `may_lack`: see SchemaFromParquet. Errors name
  // the file.
  static absl::StatusOr<ParquetFileImport> Open(std::shared_ptr<const Source> source,
                                                std::span<const std::string> columns,
                                                const ReaderOptions& options,
                                                bool may_lack = false);

  const Source& source() const { return *source_; }
  // The schema of the table that has the columns of the file.
  const Schema& schema() const { return from_.schema; }
  const std::vector<std::string>& column_names() const { return from_.names; }
  const parquet::FileMetaData& metadata() const { return metadata_.file; }
  // The names of the columns whose leaf has an annotation to keep (annotation.h), with its text.
  MetadataPairs Annotations() const;
  // True if the metadata say that a column of schema() has no values.
  bool HasOnlyNulls(size_t column) const;
  // Returns the categories of the columns that libraries of Arrow read as dictionaries of strings:
  // the values of their dictionary pages. Leaves out a column if it is in a group, if its row
  // groups have different dictionaries, or if its pages cannot be read.
  Categories ReadCategories(const ReaderOptions& options) const;
  uint64_t num_rows() const { return static_cast<uint64_t>(metadata_.file.num_rows); }

  // Called after each column chunk with its number of rows. An error ends the import.
  using Progress = std::function<absl::Status(uint64_t rows)>;

  // Appends all rows to the columns of `writer` that the file has. `writer_options`: the options
  // with which `writer` was made. kInvalidArgument: the table has no such column, or a column of
  // a type that does not hold the values. Other errors: those of ImportParquet.
  absl::Status Write(std::span<const WriterOptions> writer_options,
                     const ParquetImportOptions& options, const Progress& progress,
                     TableWriter& writer, ParquetReport& report) const;

 private:
  ParquetFileImport() = default;

  std::shared_ptr<const Source> source_;
  parquet::ParquetMetadata metadata_;
  SchemaOfParquet from_;
};

}  // namespace cfile::internal
