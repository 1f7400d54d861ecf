#include "cfile/parts/table/sort_column.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/key_codec.h"
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

static absl::Status CheckHasKeys(const TableReader& table, std::optional<size_t> sort_column) {
  if (sort_column) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      table.directory(),
      ": the table has neither key columns nor a column with a value index in each part"));
}

absl::StatusOr<size_t> KeyColumn(const TableReader& table) {
  std::vector<PartInfo> parts;
  for (size_t i = 0; i < table.num_parts(); ++i) {
    CFILE_ASSIGN_OR_RETURN(parts.emplace_back(), table.part(i));
  }
  CFILE_ASSIGN_OR_RETURN(const auto column, SortColumn(table, parts));
  CFILE_RETURN_IF_ERROR(CheckHasKeys(table, column));
  return *column;
}

absl::Status CheckEqualKeysAreAdjacent(const TableReader& table, std::optional<size_t> column) {
  CFILE_RETURN_IF_ERROR(CheckHasKeys(table, column));
  for (const size_t key_column : table.schema().key_columns) {
    const ColumnSchema& schema = table.schema().columns[key_column];
    if (!IsFloatType(schema.type.physical())) continue;
    return absl::UnimplementedError(absl::StrCat(
        table.directory(), ": rows cannot be chosen by their keys, because the key column ",
        schema.name, " holds floats"));
  }
  return absl::OkStatus();
}

// Returns the options of the key index of a part that replaces the `chosen` parts. The key index
// gets a Bloom filter if one of them has a filter, and if readers can load the new one.
static absl::StatusOr<WriterOptions> OptionsOfNewKeys(const TableReader& table,
                                                      const std::vector<bool>& chosen) {
  constexpr double kMaxBits = 20;  // the filter of a few keys has more bits than it was asked for
  WriterOptions options;
  double bits = 0;
  double num_rows = 0;
  for (size_t part = 0; part < chosen.size(); ++part) {
    if (!chosen[part]) continue;
    CFILE_ASSIGN_OR_RETURN(const Reader keys, table.OpenColumn(part, *table.schema().key_index()));
    num_rows += static_cast<double>(keys.num_rows());
    if (keys.info().bloom_filter)
      bits = std::max(bits,
                      std::min(std::round(keys.info().bloom_filter->bits_per_value()), kMaxBits));
  }
  const double size_bytes = bits * num_rows / 8;
  if (size_bytes > static_cast<double>(ReaderOptions().max_bloom_filter_bytes)) return options;
  options.bloom_filter_bits_per_value = static_cast<uint32_t>(bits);
  options.max_bloom_filter_bytes =
      std::max(options.max_bloom_filter_bytes, static_cast<size_t>(8 * size_bytes));
  return options;
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
  if (sort_column == num_columns && each.size() == num_columns) {
    CFILE_ASSIGN_OR_RETURN(each.emplace_back(), OptionsOfNewKeys(table, chosen));
  }
  for (size_t column = 0; column < std::min(each.size(), num_columns); ++column) {
    each[column].value_index = column == sort_column;
    if (!each[column].metadata.empty()) continue;
    CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(first, column));
    for (const auto& pair : file.info().header_metadata) {
      if (!pair.first.starts_with(kReservedKeyPrefix)) each[column].metadata.push_back(pair);
    }
  }
  return each;
}

}  // namespace cfile::internal
