#include "cfile/parts/table/manifest/table_contents.h"

#include <algorithm>

#include "cfile/core/io/file_system.h"
#include "cfile/packed_file.h"

namespace cfile::internal {

constexpr std::string_view kChunkPrefix = "chunk-";
constexpr std::string_view kChunkSuffix = ".cft";

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
}

std::string TablePartColumn::stored_in() const {
  return is_packed() ? std::string(kPackedFileName) : file_name;
}

bool TablePart::is_packed() const {
  return std::any_of(columns.begin(), columns.end(),
                     [](const TablePartColumn& column) { return column.is_packed(); });
}

std::vector<ColumnSchema> StoredColumns(const Schema& schema) {
  std::vector<ColumnSchema> columns = schema.columns;
  if (schema.key_index()) columns.push_back({.name = "key index", .type = ColumnType::Binary()});
  return columns;
}

absl::StatusOr<std::string> NewChunkName() { return RandomName(kChunkPrefix, kChunkSuffix); }

bool IsChunkName(std::string_view name) { return IsRandomName(name, kChunkPrefix, kChunkSuffix); }

}  // namespace cfile::internal
