#include "cfile/internal/manifest/table_contents.h"

#include "absl/strings/str_cat.h"
#include "cfile/internal/io/file_system.h"
#include "encodings/core/status.h"

namespace cfile::internal {

constexpr std::string_view kChunkPrefix = "chunk-";
constexpr std::string_view kChunkSuffix = ".cft";

std::vector<ColumnSchema> StoredColumns(const Schema& schema) {
  std::vector<ColumnSchema> columns = schema.columns;
  if (schema.key_index()) columns.push_back({.name = "key index", .type = ColumnType::Binary()});
  return columns;
}

absl::StatusOr<std::string> NewChunkName() {
  CFILE_ASSIGN_OR_RETURN(const std::string random, RandomName());
  return encodings::StrCat(kChunkPrefix, random, kChunkSuffix);
}

bool IsChunkName(std::string_view name) {
  if (!name.starts_with(kChunkPrefix) || !name.ends_with(kChunkSuffix)) return false;
  name.remove_prefix(kChunkPrefix.size());
  return name.size() > kChunkSuffix.size() &&
         IsRandomName(name.substr(0, name.size() - kChunkSuffix.size()));
}

}  // namespace cfile::internal
