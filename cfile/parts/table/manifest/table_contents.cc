#include "cfile/parts/table/manifest/table_contents.h"

#include "cfile/core/io/file_system.h"

namespace cfile::internal {

constexpr std::string_view kChunkPrefix = "chunk-";
constexpr std::string_view kChunkSuffix = ".cft";

std::vector<ColumnSchema> StoredColumns(const Schema& schema) {
  std::vector<ColumnSchema> columns = schema.columns;
  if (schema.key_index()) columns.push_back({.name = "key index", .type = ColumnType::Binary()});
  return columns;
}

absl::StatusOr<std::string> NewChunkName() { return RandomName(kChunkPrefix, kChunkSuffix); }

bool IsChunkName(std::string_view name) { return IsRandomName(name, kChunkPrefix, kChunkSuffix); }

}  // namespace cfile::internal
