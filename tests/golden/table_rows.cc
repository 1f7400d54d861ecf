#include "tests/golden/table_rows.h"

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gtest/gtest.h"
#include "tests/golden/minted_files.h"

namespace cfile::golden {
namespace {

constexpr size_t kBatch = 13;  // rows of a batch, so few that batches end inside blocks

template <typename T>
json ReadRows(const TableReader& table, size_t column) {
  Column<T> rows;
  auto cursor = table.NewCursor<T>(column);
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  while (cursor.ok()) {
    const auto batch = cursor->Next(kBatch);
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || batch->empty()) break;
    for (size_t i = 0; i < batch->size(); ++i) {
      rows.rows.push_back(batch->IsValid(i) ? std::optional<Owned<T>>(Owned<T>(batch->values[i]))
                                            : std::nullopt);
    }
  }
  EXPECT_EQ(rows.rows.size(), table.num_rows());
  return RowsOf(rows);
}

template <typename T>
json ReadEntries(const TableReader& table, size_t column) {
  Leaf<T> leaf{.limits = table.schema().columns[column].levels};
  auto cursor = table.NewLevelCursor<T>(column);
  EXPECT_TRUE(cursor.ok()) << cursor.status();
  while (cursor.ok()) {
    const auto batch = cursor->Next(kBatch);
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || batch->empty()) break;
    for (size_t i = 0; i < batch->num_entries; ++i) {
      leaf.repetition.push_back(batch->repetition.empty() ? uint16_t{0} : batch->repetition[i]);
      leaf.definition.push_back(batch->definition[i]);
    }
    for (const T& value : batch->values) leaf.values.push_back(Owned<T>(value));
  }
  return RowsOf(leaf);
}

json ReadStored(const TableReader& table) {
  const Schema& schema = table.schema();
  json out = {{"parts", json::array()},
              {"columns", json::array()},
              {"keys", schema.key_columns},
              {"nulls_last", schema.nulls_last}};
  const auto metadata = table.metadata();
  EXPECT_TRUE(metadata.ok()) << metadata.status();
  if (metadata.ok() && !metadata->empty()) out["metadata"] = *metadata;
  const size_t num_files = schema.columns.size() + (schema.key_index() ? 1 : 0);
  for (size_t part = 0; part < table.num_parts(); ++part) {
    const auto info = table.part(part);
    EXPECT_TRUE(info.ok()) << info.status();
    if (info.ok()) out["parts"].push_back(info->num_rows);
    for (size_t column = 0; column < num_files; ++column) {
      const VerifyReport report = table.VerifyColumn(part, column);
      EXPECT_TRUE(report.ok()) << report.damages[0].status;
    }
  }
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    const ColumnSchema& column = schema.columns[i];
    json about = {
        {"name", column.name}, {"type", column.type.ToString()}, {"nullable", column.nullable}};
    if (column.has_levels()) {
      about["levels"] = {column.levels.max_repetition, column.levels.max_definition};
    }
    about["rows"] = VisitType(column.type, [&]<typename T>(std::type_identity<T>) {
      return column.has_levels() ? ReadEntries<T>(table, i) : ReadRows<T>(table, i);
    });
    out["columns"].push_back(std::move(about));
  }
  return out;
}

}  // namespace

json ReadAll(const std::filesystem::path& path) {
  const auto stored = TableReader::Open(path, {.stored_rows = true});
  const auto table = TableReader::Open(path);
  EXPECT_TRUE(stored.ok() && table.ok()) << stored.status() << table.status();
  if (!stored.ok() || !table.ok()) return {};
  json out = ReadStored(*stored);
  if (!table->applies_merge_rule()) return out;
  auto scan = table->NewScan({.columns = std::vector<std::string>()});
  EXPECT_TRUE(scan.ok()) << scan.status();
  if (!scan.ok()) return out;
  for (const auto& batch : scan->Batches()) {
    EXPECT_TRUE(batch.ok()) << batch.status();
    for (size_t i = 0; batch.ok() && i < batch->num_rows(); ++i) {
      out["counting"].push_back(batch->ordinal(i));
    }
  }
  return out;
}

}  // namespace cfile::golden
