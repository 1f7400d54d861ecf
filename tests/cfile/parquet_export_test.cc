// Tables and files become Parquet files. tests/interop reads such files with other libraries.
#include <random>
#include <string>
#include <vector>

#include "cfile/internal/parquet/bounds.h"
#include "cfile/internal/parquet/metadata/file_metadata.h"
#include "cfile/parquet.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

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
  const auto source = NewMemoryViewSource(parquet);
  const auto metadata = internal::parquet::ReadParquetMetadata(*source, 1 << 24);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->file.num_rows, static_cast<int64_t>(num_rows));
  EXPECT_EQ(report.rows, num_rows);
  EXPECT_EQ(report.bytes_out, parquet.size());
  EXPECT_EQ(report.row_groups, metadata->file.row_groups.size());
  uint64_t pages = 0;
  for (const auto& group : metadata->file.row_groups) {
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
            const auto column = RandomColumn<T>(type, 300, null_percent, false, random);
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
  std::vector<uint8_t> parquet;
  const ParquetExportOptions options{
      .metadata = {{"geo", "map"}, {"bytes", "\xff"}, {"cfile.own", "x"}, {"empty", ""}}};
  ASSERT_TRUE(ExportParquet(path_, NewMemorySink(&parquet), options).ok());
  const Pairs expected{{"geo", "map"}, {"bytes", "\xff"}, {"empty", ""}};

  const auto imported = [&](const ParquetImportOptions& import) {
    const auto storage = NewMemoryStorage("imported");
    const auto report = ImportParquet(NewMemorySource(parquet), storage, import);
    EXPECT_TRUE(report.ok()) << report.status();
    return TableReader::Open(storage);
  };
  // Without the library's own pair.
  const auto pairs_of = [](const TableReader& table, size_t column = 0) {
    Pairs pairs = table.OpenColumn(0, column)->info().header_metadata;
    std::erase_if(pairs, [](const auto& pair) { return pair.first == "cfile.column"; });
    return pairs;
  };
  const auto table = imported({});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(pairs_of(*table), expected);
  EXPECT_TRUE(pairs_of(*table, 1).empty());
  // They describe all columns.
  const std::string first = table->schema().columns[0].name;
  EXPECT_TRUE(pairs_of(*imported({.columns = {first}})).empty());

  std::vector<uint8_t> again;
  const auto exported =
      ExportParquet(*table, NewMemorySink(&again), {.metadata = {{"geo", "new"}}});
  ASSERT_TRUE(exported.ok()) << exported.status();
  const auto source = NewMemorySource(again);
  const auto metadata = internal::parquet::ReadParquetMetadata(*source, 1 << 24);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  Pairs found;
  for (const auto& pair : metadata->file.key_value_metadata)
    found.emplace_back(pair.key, pair.value.value_or("none"));
  // Libraries of Arrow refuse metadata that is not UTF-8.
  EXPECT_EQ(found, (Pairs{{"geo", "new"}, {"empty", ""}}));
}

TEST_F(ParquetExportTable, RoundTripsThroughImport) {
  const Schema schema = ManyTypes();
  WritePart(0, 1000, schema);
  WritePart(1000, 500, schema);
  for (const bool v2 : {false, true}) {
    for (const uint64_t rows : {100u, 1u << 20}) {
      std::vector<uint8_t> parquet;
      const auto report = ExportParquet(path_, NewMemorySink(&parquet),
                                        {.max_row_group_rows = rows, .data_page_v2 = v2});
      ASSERT_TRUE(report.ok()) << report.status();
      const auto storage = NewMemoryStorage("imported");
      const auto imported = ImportParquet(NewMemorySource(parquet), storage);
      ASSERT_TRUE(imported.ok()) << imported.status();
      const auto table = TableReader::Open(storage);
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
  BlockStatistics bounds{.min_key = "a\xc3", .max_key = "\xc3\xa4\xc4", .min_exact = false,
                         .max_exact = false};
  internal::FitBounds(type, bounds);
  EXPECT_EQ(bounds.min_key, "a");
  EXPECT_EQ(bounds.max_key, "\xc3\xa5");
}

}  // namespace
}  // namespace cfile
