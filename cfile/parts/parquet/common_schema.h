// The schema of a table that takes the rows of several Parquet files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/options.h"
#include "cfile/parts/parquet/file_import.h"
#include "cfile/schema.h"

namespace cfile::internal {

class CommonSchema {
 public:
  explicit CommonSchema(const RecordLimits& limits) : limits_(limits) {}

  // Adds the columns of a file, which `path` names in errors. A column gets a type that holds the
  // values of all files (common_type.h). A column that a file lacks becomes nullable.
  // kInvalidArgument: there is no such type, or the files have other groups.
  absl::Status Add(const ParquetFileImport& file, const std::string& path);

  // Adds the columns that the names of folders in `directory` give. kInvalidArgument: a file has a
  // column of the same name.
  absl::Status AddFolders(std::span<const ColumnSchema> columns, const std::string& directory);

  const Schema& schema() const { return schema_; }

 private:
  // How the type of a column was found.
  struct FoundType {
    bool only_nulls = false;  // no file has a value
    std::string path;         // of the file that has, or needs, this type
  };

  absl::Status Widen(const ParquetFileImport& file, const std::string& path, size_t column,
                     size_t known);
  template <typename Change>
  absl::Status ChangeLeaf(size_t column, Change change);
  bool HasSameGroups(const Schema& schema) const;

  RecordLimits limits_;
  std::string first_path_;  // empty: there was no file
  Schema schema_;
  std::vector<FoundType> types_;  // of the columns of schema_
};

}  // namespace cfile::internal
