#include "cfile/parts/table/sort_column.h"

#include <algorithm>

#include "cfile/core/format/metadata_keys.h"
#include "encodings/core/status.h"

namespace cfile::internal {

absl::StatusOr<std::optional<size_t>> SortColumn(const TableReader& table,
                                                 std::span<const PartInfo> parts) {
  if (const std::optional<size_t> key_index = table.schema().key_index()) return key_index;
  const bool has_rows = std::any_of(parts.begin(), parts.end(),
                                    [](const PartInfo& part) { return part.num_rows > 0; });
  for (size_t column = 0; column < table.schema().columns.size(); ++column) {
    bool all = true;
    for (size_t part = 0; part < parts.size() && has_rows && all; ++part) {
      if (parts[part].num_rows == 0) continue;
      CFILE_ASSIGN_OR_RETURN(const BlockStatistics bounds, table.part_bounds(part, column));
      all = bounds.min_key.has_value() && bounds.min_exact;
    }
    if (!has_rows) {
      CFILE_ASSIGN_OR_RETURN(all, table.has_value_index(column));
    }
    if (all) return column;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<WriterOptions>> OptionsOfNewPart(
    const TableReader& table, const std::vector<bool>& chosen, std::optional<size_t> sort_column,
    std::span<const WriterOptions> options) {
  std::vector<WriterOptions> each(options.begin(), options.end());
  const size_t num_columns = table.schema().columns.size();
  if (each.empty()) each.resize(num_columns);
  if (each.size() == 1) each.resize(num_columns, each[0]);
  const auto found = std::find(chosen.begin(), chosen.end(), true);
  const auto first = static_cast<size_t>(found - chosen.begin());
  for (size_t column = 0; column < each.size(); ++column) {
    each[column].value_index = column == sort_column;
    if (!each[column].metadata.empty() || column >= num_columns) continue;
    CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(first, column));
    for (const auto& pair : file.info().header_metadata) {
      if (!pair.first.starts_with(kReservedKeyPrefix)) each[column].metadata.push_back(pair);
    }
  }
  return each;
}

}  // namespace cfile::internal
