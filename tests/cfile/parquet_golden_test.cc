// Parquet files of Spark, parquet-java, the Rust crate, pyarrow, DuckDB, Polars and fastparquet
// have the values in tests/golden/parquet-files. make_peers.py there says what the values look
// like.
#include <filesystem>
#include <string>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "gtest/gtest.h"
#include "tests/cfile/arrow_testing.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/golden/json_lines.h"

namespace cfile::parquet_golden_test {

// Returns the value with bytes in place of hexadecimal texts.
Json WithBytes(const Json& value) {
  if (value.is_structured()) {
    Json changed = value;
    for (auto& each : changed) each = WithBytes(each);
    return changed;
  }
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  if (!text.starts_with("0x")) return value;
  std::string bytes;
  for (size_t i = 2; i < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

void ExpectRows(const TableLocation& location, const std::vector<Json>& expected) {
  const auto table = TableReader::Open(location);
  ASSERT_TRUE(table.ok()) << table.status();
  const std::vector<Json> rows = RowsOf(Exported(*table, TableScanOptions{}, ArrowExportOptions{}));
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t row = 0; row < expected.size(); ++row) {
    ASSERT_EQ(rows[row].size(), expected[row].size());
    for (const auto& [name, value] : expected[row].items()) {
      const Json& found = rows[row][name];
      ASSERT_EQ(found, WithBytes(value))
          << "row " << row << ", column " << name << ": found "
          << found.dump(-1, ' ', true, Json::error_handler_t::replace) << ", expected " << value;
    }
  }
}

TEST(ParquetGolden, FilesHaveTheValuesOfTheirWriters) {
  size_t files = 0;
  for (const std::string& name : GoldenNames()) {
    SCOPED_TRACE(name);
    const std::string parquet = GoldenPath(name);
    const std::vector<Json> expected = golden::ReadJsonLines(
        std::filesystem::path(parquet).replace_extension(".values.gz").string());
    for (const ParquetImportOptions& options : {ParquetImportOptions{.writer = {kSmallBlocks}},
                                                ParquetImportOptions{.part_per_row_group = true},
                                                ParquetImportOptions{.copy_pages = false}}) {
      const auto table = NewMemoryStorage();
      const auto report = ImportParquet(parquet, table, options);
      ASSERT_TRUE(report.ok()) << report.status();
      ExpectRows(table, expected);
      if (HasFatalFailure()) return;
    }
    // The way out: pages of version 1 or 2 have the same values.
    const auto table = NewMemoryStorage();
    ASSERT_TRUE(ImportParquet(parquet, table).ok());
    ExpectRows(Imported(ParquetOf(table, {.data_page_v2 = files % 2 == 0})), expected);
    ++files;
  }
  EXPECT_GE(files, 40u);
}

}  // namespace cfile::parquet_golden_test
