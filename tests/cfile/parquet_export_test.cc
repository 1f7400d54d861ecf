// Tables and files become Parquet files. tests/interop reads such files with other libraries.
#include <random>
#include <string>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/parts/parquet/annotation.h"
#include "cfile/parts/parquet/bounds.h"
#include "cfile/parts/parquet/key_value_metadata.h"
#include "cfile/parts/parquet/parquet_type.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::parquet_export_test {

using namespace testing_support;

absl::StatusOr<ParquetReport> Export(const std::vector<uint8_t>& file,
                                     std::vector<uint8_t>& parquet,
                                     const ParquetExportOptions& options = {}) {
  CFILE_ASSIGN_OR_RETURN(const Reader reader, Reader::Open(NewMemoryViewSource(file)));
  parquet.clear();
  return ExportParquet(reader, NewMemorySink(&parquet), options);
}

// EXPECTs that the metadata agrees with itself and with the report.
void ExpectMetadata(const std::vector<uint8_t>& parquet, const ParquetReport& report,
                    uint64_t num_rows) {
  const auto metadata = FooterOf(parquet);
  EXPECT_EQ(metadata.file.num_rows, static_cast<int64_t>(num_rows));
  EXPECT_EQ(report.rows, num_rows);
  EXPECT_EQ(report.bytes_out, parquet.size());
  EXPECT_EQ(report.row_groups, metadata.file.row_groups.size());
  uint64_t pages = 0;
  for (const auto& group : metadata.file.row_groups) {
    for (const auto& chunk : group.columns) {
      ASSERT_TRUE(chunk.meta_data && chunk.offset_index_offset);
      size_t consumed = 0;
      const auto index = internal::parquet::ReadOffsetIndex(
          std::span(parquet).subspan(static_cast<size_t>(*chunk.offset_index_offset)), &consumed);
      ASSERT_TRUE(index.ok()) << index.status();
      int64_t row = -1;
      for (const auto& page : index->page_locations) {
        EXPECT_LT(row, page.first_row_index);
        row = page.first_row_index;
        const auto header = internal::parquet::ReadPageHeader(
            std::span(parquet).subspan(static_cast<size_t>(page.offset)), &consumed);
        ASSERT_TRUE(header.ok()) << header.status();
        EXPECT_EQ(static_cast<int64_t>(consumed) + header->compressed_page_size,
                  page.compressed_page_size);
      }
      pages += index->page_locations.size();
    }
  }
  EXPECT_EQ(report.copied_pages + report.recompressed_pages + report.recoded_pages, pages);
}

// A random column whose strings are UTF-8, and whose decimals have not too many digits.
template <typename T>
Column<T> WritableColumn(const ColumnType& type, size_t num_rows, int null_percent,
                         std::mt19937_64& random) {
  Column<T> column = RandomColumn<T>(type, num_rows, null_percent, false, random);
  if constexpr (std::is_same_v<T, std::string_view>) {
    for (auto& row : column.rows) {
      if (!row) continue;
      for (char& c : *row) c = static_cast<char>('a' + (c & 15));
    }
  } else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t> ||
                       std::is_same_v<T, int128_t>) {
    T most = 1;
    for (int digit = 0; digit < type.decimal_precision; ++digit) most *= 10;
    for (auto& row : column.rows) {
      if (row && most > 1) *row %= most;
    }
  }
  return column;
}

TEST(ParquetExport, EveryTypeEncodingAndCodec) {
  std::mt19937_64 random(1);
  for (const ColumnType& type : AllColumnTypes()) {
    if (type == ColumnType::Int128()) continue;  // random values have too many digits
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      for (const Compression compression : BuiltInCompressions()) {
        for (const int null_percent : {-1, 20}) {
          SCOPED_TRACE(type.ToString() + " " + std::string(row.name) + " " +
                       CompressionName(compression) + " nulls " + std::to_string(null_percent));
          const WriterOptions options{.encoding = row.encoding,
                                      .compression = compression,
                                      .nullable = null_percent >= 0,
                                      .block_size_bytes = 1000,
                                      .movable_blocks = random() % 2 == 0};
          VisitType(type, [&]<typename T>(std::type_identity<T>) {
            const auto column = WritableColumn<T>(type, 300, null_percent, random);
            const std::vector<uint8_t> file = WriteColumn<T>(type, options, column);
            std::vector<uint8_t> parquet;
            for (const bool v2 : {false, true}) {
              const auto report =
                  Export(file, parquet, {.max_row_group_rows = 70, .data_page_v2 = v2});
              if (!report.ok()) {  // seconds that do not fit milliseconds
                EXPECT_EQ(type.time_unit, TimeUnit::kSeconds) << report.status();
                continue;
              }
              ExpectMetadata(parquet, *report, 300);
            }
          });
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(ParquetExport, ADamagedFileIsAnErrorOrTheSameParquetFile) {
  std::mt19937_64 random(2);
  for (const bool movable : {false, true}) {
    const auto column = RandomColumn<int64_t>(ColumnType::Int64(), 200, 10, false, random);
    const std::vector<uint8_t> file = WriteColumn<int64_t>(
        ColumnType::Int64(), {.nullable = true, .block_size_bytes = 300, .movable_blocks = movable},
        column);
    std::vector<uint8_t> expected;
    ASSERT_TRUE(Export(file, expected).ok());
    for (size_t i = 0; i < file.size(); ++i) {
      std::vector<uint8_t> damaged = file;
      damaged[i] ^= static_cast<uint8_t>(1u << (random() % 8));
      std::vector<uint8_t> parquet;
      const auto report = Export(damaged, parquet);
      EXPECT_TRUE(!report.ok() || parquet == expected) << "byte " << i;
    }
  }
}

TEST(ParquetExport, PartsOfABlockHaveBoundsAndAColumnIndex) {
  Column<std::string_view> column;
  for (int i = 0; i < 300; ++i) column.rows.emplace_back(i % 2 == 0 ? "a" : "b");
  const std::vector<uint8_t> file = WriteColumn<std::string_view>(
      ColumnType::String(), {.encoding = Encoding::kParquetDictionary}, column);
  std::vector<uint8_t> parquet;
  ASSERT_TRUE(Export(file, parquet, {.max_row_group_rows = 200}).ok());
  const auto metadata = FooterOf(parquet);
  ASSERT_EQ(metadata.file.row_groups.size(), 2u);
  for (const auto& group : metadata.file.row_groups) {
    EXPECT_TRUE(group.columns[0].column_index_offset.has_value());
    const internal::parquet::Statistics& statistics = *group.columns[0].meta_data->statistics;
    EXPECT_EQ(statistics.min_value, "a");
    EXPECT_EQ(statistics.max_value, "b");
    // Another part of the block may have the value.
    EXPECT_EQ(statistics.is_max_value_exact, false);
  }
}

TEST(ParquetExport, AColumnWithAValueIndexIsASortingColumn) {
  Column<int32_t> column{.rows = {1, 2, 3}};
  for (const bool value_index : {false, true}) {
    const std::vector<uint8_t> file =
        WriteColumn<int32_t>(ColumnType::Int32(), {.value_index = value_index}, column);
    std::vector<uint8_t> parquet;
    ASSERT_TRUE(Export(file, parquet).ok());
    const auto metadata = FooterOf(parquet);
    const auto& sorting_columns = metadata.file.row_groups[0].sorting_columns;
    ASSERT_EQ(sorting_columns.size(), value_index ? 1u : 0u);
    if (!value_index) continue;
    EXPECT_EQ(sorting_columns[0].column_idx, 0);
    EXPECT_FALSE(sorting_columns[0].descending);
  }
}

TEST(ParquetExport, AnnotationsComeBack) {
  struct Case {
    std::string annotation;
    ColumnType type;
    bool fits = true;
    bool has_order = true;
  };
  std::mt19937_64 random(3);
  for (const Case& each :
       {Case{"JSON", ColumnType::String()},
        Case{"ENUM", ColumnType::String()},
        Case{"BSON", ColumnType::Binary()},
        Case{"TIME(UTC)", ColumnType::Time(TimeUnit::kMicros)},
        Case{"FLOAT16", ColumnType::FixedBytes(2), true, false},
        Case{"INTERVAL", ColumnType::FixedBytes(12), true, false},
        Case{"JSON", ColumnType::Binary(), false},
        Case{"BSON", ColumnType::String(), false},
        Case{"FLOAT16", ColumnType::FixedBytes(3), false},
        Case{"FLOAT16", ColumnType::Int32(), false},
        Case{"TIME(UTC)", ColumnType::Int64(), false},
        Case{"GEOMETRY", ColumnType::Binary(), true, false},
        Case{"GEOMETRY crs=OGC:CRS84 version=1", ColumnType::Binary(), true, false},
        Case{"GEOGRAPHY", ColumnType::Binary(), true, false},
        Case{"GEOGRAPHY algorithm=4 crs=", ColumnType::Binary(), true, false},
        Case{"GEOGRAPHY crs=EPSG:4326", ColumnType::Binary(), true, false},
        Case{"GEOMETRY", ColumnType::String(), false},
        Case{"GEOMETRYS", ColumnType::Binary(), false},
        Case{"GEOGRAPHY algorithm=x", ColumnType::Binary(), false},
        Case{"GEOGRAPHY algorithm=128", ColumnType::Binary(), false},
        Case{"GEOMETRY crs=\xff", ColumnType::Binary(), false},
        Case{"VARIANT", ColumnType::Binary(), false},
        Case{"UNKNOWN", ColumnType::Int32(), false},  // there are values
        Case{"unknown", ColumnType::String(), false}}) {
    SCOPED_TRACE(each.annotation + " " + each.type.ToString());
    const std::pair<std::string, std::string> pair{internal::kAnnotationKey, each.annotation};
    std::vector<uint8_t> file;
    VisitType(each.type, [&]<typename T>(std::type_identity<T>) {
      file = WriteColumn<T>(each.type, {.metadata = {pair}},
                            WritableColumn<T>(each.type, 20, -1, random));
    });
    std::vector<uint8_t> parquet;
    ASSERT_TRUE(Export(file, parquet).ok());
    for (int times = 0; times < 2; ++times) {
      const auto metadata = FooterOf(parquet);
      EXPECT_EQ(internal::AnnotationToKeep(metadata.file.schema[1]),
                each.fits ? each.annotation : "");
      EXPECT_TRUE(metadata.file.key_value_metadata.empty());
      const auto& chunk = metadata.file.row_groups[0].columns[0];
      EXPECT_EQ(chunk.meta_data->statistics->min_value.has_value(), each.has_order);
      EXPECT_EQ(chunk.column_index_offset.has_value(), each.has_order);
      const auto table = TableReader::Open(Imported(parquet));
      ASSERT_TRUE(table.ok()) << table.status();
      EXPECT_EQ(table->schema().columns[0].type, each.type);
      parquet = ParquetOf(*table);
    }
  }
}

// Exports a table to Parquet, and returns the schema of the Parquet file.
std::vector<internal::parquet::SchemaElement> ElementsOf(const TableLocation& table,
                                                         std::vector<uint8_t>& parquet) {
  parquet = ParquetOf(table);
  return FooterOf(parquet).file.schema;
}

TEST(ParquetExport, NullsAreOfUnknownTypeUntilThereIsAValue) {
  const std::pair<std::string, std::string> pair{internal::kAnnotationKey, "UNKNOWN"};
  const auto table = NewMemoryStorage();
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int32(), .nullable = true}}};
  auto writer = TableWriter::Create(table, schema, std::vector{WriterOptions{.metadata = {pair}}});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<int32_t>(0, std::vector<int32_t>(3), std::vector<uint8_t>{0}).ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::vector<uint8_t> parquet;
  auto elements = ElementsOf(table, parquet);
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_TRUE(elements[1].logical_type && elements[1].logical_type->unknown);
  // The annotation comes back.
  const auto copy = Imported(parquet);
  elements = ElementsOf(copy, parquet);
  EXPECT_TRUE(elements[1].logical_type && elements[1].logical_type->unknown);
  auto more = TableWriter::Open(copy);
  ASSERT_TRUE(more.ok()) << more.status();
  ASSERT_TRUE(more->Append<int32_t>(0, std::vector<int32_t>{5}).ok());
  ASSERT_TRUE(more->Finish().ok());
  elements = ElementsOf(copy, parquet);
  EXPECT_FALSE(elements[1].logical_type.has_value());
}

TEST(ParquetExport, VariantsComeBack) {
  using internal::parquet::SchemaElement;
  const auto tree = RecordSchema::Parse(
      "message m { required int32 id; optional group v { required binary metadata; "
      "optional binary value; } required group other { required binary metadata; } }");
  ASSERT_TRUE(tree.ok()) << tree.status();
  const Schema schema = Schema::OfRecords(*tree);
  for (const std::string text : {"VARIANT", "VARIANT version=1", "VARIANT version=x", "VARIANTS"}) {
    std::shared_ptr<Storage> table = NewMemoryStorage();
    std::vector<WriterOptions> options(schema.columns.size());
    options[1].metadata = {{std::string(internal::kAnnotationKey), text}};
    options[2].metadata = {{std::string(internal::kAnnotationKey), "VARIANT"}};  // not the first
    auto writer = TableWriter::Create(table, schema, options);
    ASSERT_TRUE(writer.ok() && writer->Finish().ok());
    std::vector<uint8_t> parquet;
    for (int times = 0; times < 2; ++times) {
      const auto elements = ElementsOf(table, parquet);
      ASSERT_EQ(elements.size(), 7u);
      const bool fits = text.size() < 8 || text.back() == '1';
      EXPECT_EQ(internal::AnnotationOfGroup(elements[2]), fits ? text : "");
      EXPECT_FALSE(elements[5].logical_type.has_value());
      table = Imported(parquet);
    }
  }
}

using ParquetExportTable = TableTestBase;

TEST_F(ParquetExportTable, RowGroupsEndWithTheParts) {
  Schema schema = ManyTypes();
  WritePart(0, 1000, schema);
  WritePart(1000, 500, schema);
  std::vector<uint8_t> parquet;
  const auto report = ExportParquet(path_, NewMemorySink(&parquet));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->row_groups, 2u);
  ExpectMetadata(parquet, *report, 1500);
}

TEST_F(ParquetExportTable, MetadataComesBack) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  WritePart(0, 10, ManyTypes());
  const std::vector<uint8_t> parquet = ParquetOf(
      path_, {.metadata = {{"geo", "map"}, {"bytes", "\xff"}, {"cfile.own", "x"}, {"empty", ""}}});
  const Pairs expected{{"geo", "map"}, {"bytes", "\xff"}, {"empty", ""}};

  // Without the library's own pair.
  const auto pairs_of = [](const TableReader& table, size_t column = 0) {
    Pairs pairs = table.OpenColumn(0, column)->info().header_metadata;
    std::erase_if(pairs, [](const auto& pair) {
      return pair.first == "cfile.column" || pair.first == "ARROW:schema";
    });
    return pairs;
  };
  const auto table = TableReader::Open(Imported(parquet));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(pairs_of(*table), expected);
  EXPECT_TRUE(pairs_of(*table, 1).empty());
  // Chosen columns get them, too, also those that a table makes of other options.
  const std::string last = table->schema().columns.back().name;
  EXPECT_EQ(pairs_of(*TableReader::Open(Imported(parquet, {.columns = {last}}))), expected);
  const ParquetImportOptions some{.columns = {last}, .writer = {{.max_values_per_block = 7}}};
  const auto own = ParquetWriterOptions(*NewMemorySource(parquet), some);
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_EQ(own->size(), 1u);
  EXPECT_EQ((*own)[0].max_values_per_block, 7u);
  Pairs pairs = (*own)[0].metadata;
  std::erase_if(pairs, [](const auto& pair) { return pair.first == "ARROW:schema"; });
  EXPECT_EQ(pairs, expected);

  const auto metadata = FooterOf(ParquetOf(*table, {.metadata = {{"geo", "new"}}}));
  Pairs found;
  for (const auto& pair : metadata.file.key_value_metadata) {
    if (pair.key != "ARROW:schema") found.emplace_back(pair.key, pair.value.value_or("none"));
  }
  // Libraries of Arrow refuse metadata that is not UTF-8.
  EXPECT_EQ(found, (Pairs{{"geo", "new"}, {"empty", ""}}));
}

TEST_F(ParquetExportTable, RoundTripsThroughImport) {
  const Schema schema = ManyTypes();
  WritePart(0, 1000, schema);
  WritePart(1000, 500, schema);
  for (const bool v2 : {false, true}) {
    for (const uint64_t rows : {100u, 1u << 20}) {
      const auto table = TableReader::Open(
          Imported(ParquetOf(path_, {.max_row_group_rows = rows, .data_page_v2 = v2})));
      ASSERT_TRUE(table.ok()) << table.status();
      EXPECT_EQ(table->num_rows(), 1500u);
      for (size_t i = 0; i < schema.columns.size(); ++i) {
        SCOPED_TRACE(schema.columns[i].name);
        VisitType(table->schema().columns[i].type, [&]<typename T>(std::type_identity<T>) {
          auto cursor = table->NewCursor<T>(i);
          ASSERT_TRUE(cursor.ok()) << cursor.status();
          for (uint64_t row = 0; row < 1500;) {
            const auto batch = cursor->Next(1000);
            ASSERT_TRUE(batch.ok()) << batch.status();
            ASSERT_FALSE(batch->empty());
            ExpectRows<T>(*batch, i, schema.columns[i]);
            row += batch->size();
          }
        });
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ParquetExport, BoundsOfCutTextsAreTexts) {
  const ColumnType type = ColumnType::String();
  BlockStatistics bounds{
      .min_key = "a\xc3", .max_key = "\xc3\xa4\xc4", .min_exact = false, .max_exact = false};
  internal::FitBounds(type, bounds);
  EXPECT_EQ(bounds.min_key, "a");
  EXPECT_EQ(bounds.max_key, "\xc3\xa5");
}

}  // namespace cfile::parquet_export_test
