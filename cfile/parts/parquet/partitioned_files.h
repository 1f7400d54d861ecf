// The Parquet files of a directory, and the columns that the names of its folders hold ("hive
// partitions"): the rows of the file year=2024/month=2/x.parquet have the year 2024 and the month
// 2.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/schema.h"
#include "cfile/types.h"

namespace cfile::internal {

struct PartitionedFile {
  std::string path;
  // One value for each partition column, in the order of the folders; nullopt: null. Decoded:
  // "%2F" in the name of a folder is "/".
  std::vector<std::optional<std::string>> values = {};
};

struct PartitionedFiles {
  std::vector<PartitionedFile> files;  // sorted by path
  // The partition columns. A column is int64 or date if all its values have this form, otherwise
  // string. It is nullable if it has nulls (folders named COLUMN=__HIVE_DEFAULT_PARTITION__).
  std::vector<ColumnSchema> columns;
};

// Finds all files in `directory` and its folders, except files and folders whose names begin with a
// dot or with _. kInvalidArgument: there is no file; a file or folder is a symbolic link, a device
// or the like; the folders of two files name other columns; a folder has no column name before its
// =, or bytes after a % that are not two hexadecimal digits. kNotFound and other codes: errors of
// the file system. All errors name the path.
absl::StatusOr<PartitionedFiles> FindPartitionedFiles(const std::string& directory);

// Converts the text of a partition to a value of T, the C++ type of `type`. nullopt: the text is
// not a value of the type, or the type is not int64, date, string, or int32.
template <typename T>
std::optional<T> PartitionValue(const std::string& text, const ColumnType& type);

}  // namespace cfile::internal
