// The exports of files whose blocks share a dictionary: of values (EncodingRow::has_codes) or of
// something else, such as symbols. All tests walk the registry.
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/arrow.h"
#include "cfile/inspect.h"
#include "cfile/parquet.h"
#include "cfile/table.h"
#include "encodings/registry.h"
#include "gtest/gtest.h"
#include "tests/cfile/arrow_testing.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/parquet_testing.h"

namespace cfile::shared_dictionary_test {

using testing_support::Column;
using Strings = Column<std::string_view>;

std::vector<const encodings::EncodingRow*> EncodingsOfStrings() {
  std::vector<const encodings::EncodingRow*> rows;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (row.Supports(PhysicalType::kBytes)) rows.push_back(&row);
  }
  return rows;
}

// Ten distinct texts, which have parts in common. They are few, so that all encodings with a
// dictionary of values have codes, even in small blocks. Some rows are null.
Strings Texts(size_t num_rows, size_t first) {
  Strings column;
  for (size_t i = first; i < first + num_rows; ++i) {
    column.rows.emplace_back("https://example.org/path/" + std::to_string(i % 10));
    if (i % 11 == 0) column.rows.back().reset();
  }
  return column;
}

// Returns a table whose only column has one part for each of `encodings`, and adds its rows to
// `rows`.
TableLocation TableOf(const std::vector<const encodings::EncodingRow*>& encodings, Strings& rows) {
  const TableLocation table = NewMemoryStorage("table");
  const Schema schema{.columns = {{.name = "x", .type = ColumnType::String(), .nullable = true}}};
  for (const encodings::EncodingRow* row : encodings) {
    const WriterOptions options{.encoding = row->encoding, .block_size_bytes = 2000};
    auto writer = rows.rows.empty() ? TableWriter::Create(table, schema, {&options, 1})
                                    : TableWriter::Open(table, {&options, 1});
    EXPECT_TRUE(writer.ok()) << writer.status();
    const Strings part = Texts(1000, rows.rows.size());
    EXPECT_TRUE(
        writer->Append(0, std::span<const std::string_view>(part.Values()), part.Validity()).ok());
    EXPECT_TRUE(writer->Finish().ok());
    rows.rows.insert(rows.rows.end(), part.rows.begin(), part.rows.end());
  }
  return table;
}

// EXPECTs the rows in the only column of an exported stream.
void ExpectArrow(const TableReader& table, const ArrowExportOptions& options, const Strings& rows,
                 bool has_codes) {
  const auto read = Exported(table, TableScanOptions{}, options);
  ASSERT_TRUE(read.ok()) << read.status();
  const bool as_dictionary = options.dictionaries && has_codes;
  EXPECT_EQ(read->schema->children[0]->dictionary != nullptr, as_dictionary);
  const std::vector<Json> found = read->Rows();
  ASSERT_EQ(found.size(), rows.rows.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i]["x"], rows.rows[i] ? Json(*rows.rows[i]) : Json(nullptr)) << i;
}

// EXPECTs that a Parquet file of `exporting`, a table or a file, has the rows.
template <typename TableOrFile>
void ExpectParquet(const TableOrFile& exporting, const ParquetExportOptions& options,
                   const Strings& rows) {
  const absl::StatusOr<TableReader> reader =
      TableReader::Open(Imported(ParquetOf(exporting, options)));
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto file = reader->OpenColumn(0, 0);
  ASSERT_TRUE(file.ok()) << file.status();
  auto cursor = file->NewCursor<std::string_view>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  std::mt19937_64 random(1);
  ExpectRest(*cursor, rows, random);
}

// A table may have a part with a dictionary of values beside a part with a dictionary of symbols.
TEST(SharedDictionary, ExportsOfEachPairOfEncodings) {
  for (const encodings::EncodingRow* first : EncodingsOfStrings()) {
    for (const encodings::EncodingRow* second : EncodingsOfStrings()) {
      SCOPED_TRACE(std::string(first->name) + " then " + std::string(second->name));
      Strings rows;
      const auto table = TableReader::Open(TableOf({first, second}, rows));
      ASSERT_TRUE(table.ok()) << table.status();
      for (const ArrowExportOptions& options :
           {ArrowExportOptions{}, ArrowExportOptions{.max_batch_rows = 300},
            ArrowExportOptions{.dictionaries = false, .dictionary_views = true},
            ArrowExportOptions{.dictionaries = false}})
        ASSERT_NO_FATAL_FAILURE(ExpectArrow(*table, options, rows, first->has_codes));
      for (const bool v2 : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(
            ExpectParquet(*table, {.max_row_group_rows = 700, .data_page_v2 = v2}, rows));
      }
    }
  }
}

// The exporter sees the encodings of movable blocks before it writes a row group. For other blocks,
// it knows only the encoding of the file.
TEST(SharedDictionary, ParquetFilesOfEachEncoding) {
  const Strings rows = Texts(1000, 0);
  for (const encodings::EncodingRow* row : EncodingsOfStrings()) {
    for (const bool movable : {false, true}) {
      SCOPED_TRACE(std::string(row->name) + (movable ? ", movable" : ""));
      const auto reader =
          Reader::Open(NewMemorySource(testing_support::WriteColumn<std::string_view>(
              ColumnType::String(),
              {.encoding = row->encoding, .nullable = true, .movable_blocks = movable}, rows)));
      ASSERT_TRUE(reader.ok()) << reader.status();
      for (const bool v2 : {false, true})
        ASSERT_NO_FATAL_FAILURE(ExpectParquet(*reader, {.data_page_v2 = v2}, rows));
    }
  }
}

// Each file with a dictionary says whether its entries are values of the column.
TEST(SharedDictionary, HasCodesIsTrue) {
  for (const encodings::EncodingRow* row : EncodingsOfStrings()) {
    SCOPED_TRACE(row->name);
    EXPECT_EQ(encodings::HasCodes(row->encoding), row->has_codes);
    EXPECT_LE(row->has_codes, row->has_dictionary);
    const Strings rows = Texts(1000, 0);
    const auto reader = Reader::Open(NewMemorySource(testing_support::WriteColumn<std::string_view>(
        ColumnType::String(), {.encoding = row->encoding, .nullable = true}, rows)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto entries = ReadDictionary<std::string_view>(*reader);
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(!entries->empty(), row->has_dictionary);
    if (entries->empty()) continue;
    // The first value is not null.
    EXPECT_EQ(entries->front() == *rows.rows[1], row->has_codes) << entries->front();
  }
  // Files of Parquet's older encoding are read as files of RLE_DICTIONARY.
  EXPECT_TRUE(encodings::HasCodes(Encoding::kParquetPlainDictionary));
  EXPECT_FALSE(encodings::HasCodes(static_cast<Encoding>(99)));
}

}  // namespace cfile::shared_dictionary_test
