// Parquet files become tables. The files are those of tests/golden/parquet-files.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cfile/parquet.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/page_bytes.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/parquet_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::parquet_import_test {

using testing::HasSubstr;

std::shared_ptr<const Source> Golden(const std::string& name) {
  return InMemory(ReadFile(GoldenPath(name)));
}

ParquetReport Import(std::shared_ptr<const Source> source, const TableLocation& table,
                     const ParquetImportOptions& options = {}) {
  const auto report = ImportParquet(std::move(source), table, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.value_or(ParquetReport{});
}

TEST(ParquetImport, CopiedPagesHoldTheSameValuesAsRecodedOnes) {
  uint64_t copied = 0, recompressed = 0;
  for (const std::string& name : GoldenNames()) {
    SCOPED_TRACE(name);
    const auto source = Golden(name);
    const auto recoded = NewMemoryStorage();
    const ParquetReport plain = Import(source, recoded, {.copy_pages = false});
    EXPECT_EQ(plain.copied_pages + plain.recompressed_pages, 0);
    const auto expected = Contents(recoded);
    for (const bool parts : {false, true}) {
      const auto table = NewMemoryStorage();
      const ParquetReport report =
          Import(source, table, {.part_per_row_group = parts, .writer = {kSmallBlocks}});
      EXPECT_EQ(report.rows, plain.rows);
      EXPECT_GT(report.bytes_out, 0);
      EXPECT_EQ(report.copied_pages + report.recompressed_pages + report.recoded_pages,
                plain.recoded_pages);
      EXPECT_EQ(Contents(table), expected);
      if (parts) {
        EXPECT_EQ(TableReader::Open(table)->num_parts(), std::max<uint64_t>(report.row_groups, 1));
      }
      copied += report.copied_pages;
      recompressed += report.recompressed_pages;
    }
    const auto reading = NewMemoryStorage();
    Import(std::make_shared<testing_support::ScriptedSource>(source), reading,
           {.writer = {kSmallBlocks}, .reader = {.read_ahead_bytes = 64}});
    EXPECT_EQ(Contents(reading), expected);
  }
  EXPECT_GT(copied, 100);
  EXPECT_GT(recompressed, 10);
}

TEST(ParquetImport, PagesAreCopiedWithTheirEncodingsAndDictionaries) {
  const auto table = NewMemoryStorage();
  const ParquetReport report =
      Import(Golden("pyarrow_encodings"), table, {.writer = {kSmallBlocks}});
  EXPECT_EQ(report.copied_pages, 7);
  const auto reader = TableReader::Open(table);
  const std::map<std::string, Encoding> expected = {
      {"int32", Encoding::kParquetDeltaBinaryPacked},
      {"string", Encoding::kParquetDeltaByteArray},
      {"binary", Encoding::kParquetDeltaLengthByteArray},
      {"double", Encoding::kParquetByteStreamSplit},
      {"bool", Encoding::kParquetRle}};
  for (const auto& [name, encoding] : expected) {
    const auto file = reader->OpenColumn(0, *reader->schema().Find(name));
    EXPECT_EQ(file->info().encoding, encoding) << name;
  }
}

TEST(ParquetImport, DictionariesOfRowGroupsAreMerged) {
  // The three row groups have different dictionaries.
  const auto source = Golden("pyarrow_page_index");
  const auto import = [&](bool parts, const WriterOptions& writer) {
    const auto table = NewMemoryStorage();
    const ParquetReport report = Import(
        source, table, {.columns = {"string"}, .part_per_row_group = parts, .writer = {writer}});
    EXPECT_EQ(Contents(table).at("string").size(), 24);
    return report;
  };
  const ParquetReport parts = import(true, kSmallBlocks);
  EXPECT_EQ(parts.recompressed_pages + parts.recoded_pages, 0);
  const ParquetReport merged = import(false, kSmallBlocks);
  EXPECT_EQ(merged.recoded_pages, 0);
  EXPECT_GT(merged.recompressed_pages, 0);
  EXPECT_GT(merged.copied_pages, 0);
  // The first two dictionaries have 6 values, the third has 3 values.
  WriterOptions few = kSmallBlocks;
  few.max_dictionary_values = 5;
  const ParquetReport some = import(false, few);
  EXPECT_GT(some.recoded_pages, 0);
  EXPECT_GT(some.copied_pages + some.recompressed_pages, 0);
}

TEST(ParquetImport, PagesOfVersion1OfListsAreCopied) {
  for (const std::string name : {"pyarrow_nested_v2", "duckdb_nested_v2"}) {
    SCOPED_TRACE(name);
    const auto table = NewMemoryStorage();
    Import(Golden(name), table, {.copy_pages = false, .writer = {{.max_values_per_block = 5}}});
    TemporaryDirectory directory;
    for (const Compression codec : {Compression::kNone, Compression::kZstd}) {
      const std::string path = directory.path("v1.parquet");
      const auto exported =
          ExportParquet(table, path, {.data_page_v2 = false, .compression = codec});
      ASSERT_TRUE(exported.ok()) << exported.status();
      for (const bool in_memory : {true, false}) {
        auto source = InMemory(ReadFile(path));
        if (!in_memory) source = std::make_shared<testing_support::ScriptedSource>(source);
        const auto copy = NewMemoryStorage();
        const ParquetReport report =
            Import(source, copy, {.writer = {kSmallBlocks}, .reader = {.read_ahead_bytes = 16}});
        EXPECT_EQ(report.recoded_pages, 0);
        EXPECT_GT(report.copied_pages + report.recompressed_pages, 20);
        EXPECT_EQ(Contents(copy), Contents(table));
      }
    }
  }
}

// In pages of version 1, a list may continue on the next page.
TEST(ParquetImport, ListsThatContinueOnTheNextPage) {
  const auto table = NewMemoryStorage();
  Import(Golden("pyarrow_nested_v1"), table,
         {.columns = {"numbers"}, .copy_pages = false, .writer = {{.max_values_per_block = 4}}});
  TemporaryDirectory directory;
  const std::string path = directory.path("v1.parquet");
  ASSERT_TRUE(ExportParquet(table, path,
                            {.data_page_v2 = false,
                             .page_index = false,
                             .page_checksums = false,
                             .compression = Compression::kNone})
                  .ok());
  std::string file = ReadFile(path);
  auto metadata = internal::parquet::ReadParquetMetadata(*InMemory(file), 1 << 20);
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  internal::parquet::RowGroup& group = metadata->file.row_groups.at(0);
  auto expected = Contents(table);
  auto& entries = expected.at("numbers.list.element");
  // Find a page after the first whose repetition levels begin with a literal run, and set the first
  // level to 1. So the list before this page continues, and there is one row less.
  auto offset = static_cast<size_t>(group.columns.at(0).meta_data->data_page_offset);
  size_t pages = 0, changed = 0;
  for (size_t entry = 0; entry < entries.size(); ++pages) {
    const std::string rest = file.substr(offset);
    size_t header_size;
    const auto header = internal::parquet::ReadPageHeader(
        {reinterpret_cast<const uint8_t*>(rest.data()), rest.size()}, &header_size);
    ASSERT_TRUE(header.ok()) << header.status();
    char* const levels = &file[offset + header_size + sizeof(uint32_t)];
    if (pages > 0 && changed == 0 && (levels[0] & 1) == 1 && entries[entry].starts_with("0,3,")) {
      levels[1] |= 1;
      entries[entry][0] = '1';
      changed = pages;
    }
    entry += static_cast<size_t>(header->data_page_header->num_values);
    offset += header_size + static_cast<size_t>(header->compressed_page_size);
  }
  ASSERT_GT(changed, 0);
  --metadata->file.num_rows;
  --group.num_rows;
  file = file.substr(0, metadata->offset) + internal::parquet::WriteFileMetadata(metadata->file);
  for (const bool in_memory : {true, false}) {
    auto source = InMemory(file);
    if (!in_memory) source = std::make_shared<testing_support::ScriptedSource>(source);
    const auto copy = NewMemoryStorage();
    const ParquetReport report =
        Import(source, copy, {.writer = {kSmallBlocks}, .reader = {.read_ahead_bytes = 16}});
    EXPECT_EQ(report.recoded_pages, 2);
    EXPECT_EQ(report.copied_pages + report.recompressed_pages, pages - 2);
    EXPECT_EQ(Contents(copy), expected);
  }
}

// cfile.parquet_golden_test compares the values.
TEST(ParquetImport, TypesOfPyarrow) {
  const auto table = NewMemoryStorage();
  Import(Golden("pyarrow_types_v2"), table);
  const auto reader = TableReader::Open(table);
  const auto type = [&](const std::string& name) {
    return reader->schema().columns[*reader->schema().Find(name)].type.ToString();
  };
  EXPECT_EQ(type("uint8"), "uint8");
  EXPECT_EQ(type("uint16"), "uint16");
  EXPECT_EQ(type("int32"), "int32");
  EXPECT_EQ(type("string"), "string");
  EXPECT_EQ(type("date"), "date");
  EXPECT_EQ(type("timestamp_ns"), "timestamp(ns)");
  EXPECT_EQ(type("float16"), "fixed(2)");
  EXPECT_EQ(type("time_ms"), "time(ms)");
  EXPECT_EQ(type("timestamp_ms"), "timestamp(ms)");
  EXPECT_EQ(type("timestamp_us"), "timestamp(us,UTC)");
  EXPECT_EQ(type("decimal9"), "decimal(9,2)");
  EXPECT_EQ(type("decimal18"), "decimal(18,3)");
  EXPECT_EQ(type("decimal38"), "decimal(38,4)");
  EXPECT_EQ(type("uuid"), "uuid");
  for (const std::string name : {"pyarrow_nested_v1", "pyarrow_nested_v2"}) {
    const auto nested = NewMemoryStorage();
    Import(Golden(name), nested);
    const std::string tree = TableReader::Open(nested)->schema().tree->ToString();
    EXPECT_THAT(tree, HasSubstr("optional group numbers (LIST)"));
    EXPECT_THAT(tree, HasSubstr("optional group names (MAP)"));
  }
}

TEST(ParquetImport, ExplicitOptionsEncodeAndCompressAgain) {
  const auto source = Golden("duckdb_types_v1");
  WriterOptions options = kSmallBlocks;
  options.compression = Compression::kZstd;
  const auto zstd = NewMemoryStorage();
  const ParquetReport report = Import(source, zstd, {.writer = {options}});
  EXPECT_GT(report.recompressed_pages, 0);
  options.goal = Goal::kSize;
  const auto smaller = NewMemoryStorage();
  EXPECT_EQ(Import(source, smaller, {.writer = {options}}).recoded_pages,
            report.copied_pages + report.recompressed_pages + report.recoded_pages);
  EXPECT_EQ(Contents(zstd), Contents(smaller));
}

TEST(ParquetImport, ChosenColumnsAppendAndSort) {
  const auto source = Golden("pyarrow_nested_v1");
  const auto table = NewMemoryStorage();
  Import(source, table, {.columns = {"id", "lists"}, .sorted_by = {"id"}});
  const auto first = TableReader::Open(table);
  EXPECT_EQ(first->schema().columns.size(), 2);
  EXPECT_EQ(first->num_rows(), 24);
  Import(source, table, {.columns = {"id", "lists"}, .append = true});
  EXPECT_EQ(TableReader::Open(table)->num_rows(), 48);
  const auto wrong = ImportParquet(source, table, {.columns = {"id"}, .append = true});
  EXPECT_THAT(wrong.status().ToString(), HasSubstr("which the table has"));
  const auto missing = ImportParquet(source, NewMemoryStorage(), {.columns = {"nowhere"}});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(missing.status().ToString(), HasSubstr("nowhere"));

  const auto types = Golden("pyarrow_types_v1");
  const auto unsorted = NewMemoryStorage();
  const auto report = ImportParquet(types, unsorted, {.sorted_by = {"int32"}});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << report.status();
  EXPECT_THAT(report.status().ToString(), HasSubstr("row 3"));
  EXPECT_TRUE(absl::IsNotFound(TableReader::Open(unsorted).status()));
}

TEST(ParquetImport, CancelledImportLeavesNoTable) {
  const auto table = NewMemoryStorage();
  uint64_t last = 0;
  const auto source = Golden("pyarrow_page_index");
  const auto report = ImportParquet(
      source, table, {.part_per_row_group = true, .progress = [&](auto done, auto all) {
                        EXPECT_EQ(all, 24);
                        last = done;
                        return done < 15;
                      }});
  EXPECT_TRUE(absl::IsCancelled(report.status()));
  EXPECT_GE(last, 15);
  EXPECT_TRUE(table->List("")->empty());
}

TEST(ParquetImport, EncryptedFilesAreRefusedByName) {
  for (const auto& [name, what] :
       {std::pair("pyarrow_encrypted_columns", "the column \"string\" is encrypted"),
        std::pair("pyarrow_encrypted_footer", "the metadata is encrypted")}) {
    const auto table = NewMemoryStorage();
    const auto report = ImportParquet(GoldenPath(name), table);
    EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(report.status().ToString(), HasSubstr(GoldenPath(name) + ": " + what));
    EXPECT_TRUE(table->List("")->empty());
    EXPECT_EQ(ParquetSchema(GoldenPath(name), {}).status(), report.status());
  }
}

TEST(ParquetImport, DamageOfACheckedPageNamesFileColumnAndPage) {
  // pyarrow_types_v2 has checksums of pages.
  std::string file = ReadFile(GoldenPath("pyarrow_types_v2"));
  file[40] ^= 1;
  const auto report = ImportParquet(InMemory(file), NewMemoryStorage());
  EXPECT_TRUE(absl::IsDataLoss(report.status()));
  EXPECT_THAT(report.status().ToString(), HasSubstr("x.parquet: column bool: page at offset 4: "));
}

class PartitionTest : public testing::Test {
 protected:
  void Add(const std::string& folder, const std::string& golden,
           const std::string& name = "x.parquet") {
    std::filesystem::create_directories(directory_.path(folder));
    std::filesystem::copy_file(GoldenPath(golden), directory_.path(folder + "/" + name));
  }
  absl::StatusOr<ParquetReport> ImportAll(const ParquetImportOptions& options = {}) {
    table_ = NewMemoryStorage();
    return ImportParquet(directory_.path("in"), table_, options);
  }

  TemporaryDirectory directory_;
  std::shared_ptr<Storage> table_;
};

TEST_F(PartitionTest, FoldersBecomeColumns) {
  Add("in/year=2024/day=2024-02-29/k=a%2Fb", "pyarrow_no_statistics");
  Add("in/year=2025/day=2024-03-01/k=__HIVE_DEFAULT_PARTITION__", "pyarrow_no_statistics");
  Add("in/_temporary", "pyarrow_types_v1");
  WriteFile(directory_.path("in/_SUCCESS"), "");
  WriteFile(directory_.path("in/.x.crc"), "crc");
  const auto report = ImportAll();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows, 48);
  const auto table = TableReader::Open(table_);
  EXPECT_EQ(table->num_parts(), 1);
  const Schema& schema = table->schema();
  ASSERT_EQ(schema.columns.size(), 5);
  EXPECT_EQ(schema.columns[2], (ColumnSchema{.name = "year", .type = ColumnType::Int64()}));
  EXPECT_EQ(schema.columns[3], (ColumnSchema{.name = "day", .type = ColumnType::Date()}));
  EXPECT_EQ(schema.columns[4],
            (ColumnSchema{.name = "k", .type = ColumnType::String(), .nullable = true}));
  const auto contents = Contents(table_);
  EXPECT_EQ(contents.at("year")[23], "0,0,2024");
  EXPECT_EQ(contents.at("year")[24], "0,0,2025");
  EXPECT_EQ(contents.at("day")[0], "0,0,19782");
  EXPECT_EQ(contents.at("k")[0], "0,1,a/b");
  EXPECT_EQ(contents.at("k")[24], "0,0,");
  // Chosen columns, and a part for each row group.
  ASSERT_TRUE(ImportAll({.columns = {"int32", "k"}, .part_per_row_group = true}).ok());
  EXPECT_EQ(TableReader::Open(table_)->schema().columns.size(), 2);
  EXPECT_EQ(TableReader::Open(table_)->num_parts(), 2);
}

TEST_F(PartitionTest, NestedFilesHavePartitions) {
  Add("in/a=1", "pyarrow_nested_v2");
  Add("in/a=__HIVE_DEFAULT_PARTITION__", "pyarrow_nested_v2");
  ASSERT_TRUE(ImportAll().ok()) << ImportAll().status();
  EXPECT_THAT(TableReader::Open(table_)->schema().tree->ToString(), HasSubstr("optional int64 a"));
}

TEST_F(PartitionTest, WrongDirectories) {
  std::filesystem::create_directories(directory_.path("in"));
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("there are no files"));
  Add("in", "pyarrow_no_statistics", "a");
  Add("in", "pyarrow_nested_v2", "b");
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr(", but there is none in "));
  std::filesystem::remove(directory_.path("in/b"));
  Add("in/a=1", "pyarrow_no_statistics");
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("name other columns"));
  std::filesystem::remove(directory_.path("in/a"));
  Add("in/int32=1", "pyarrow_no_statistics");
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("name other columns"));
  std::filesystem::remove_all(directory_.path("in/a=1"));
  EXPECT_THAT(ImportAll().status().ToString(),
              HasSubstr("column int32 is in the files and in their folders"));
  std::filesystem::create_symlink(directory_.path("in/int32=1"), directory_.path("in/link"));
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("in/link: a symbolic link"));
  std::filesystem::remove(directory_.path("in/link"));
  // Also a link to a file, and a link in a folder.
  std::filesystem::create_directories(directory_.path("in/int32=1"));
  std::filesystem::create_symlink(GoldenPath("pyarrow_no_statistics"),
                                  directory_.path("in/int32=1/y.parquet"));
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("in/int32=1/y.parquet: a symbolic link"));
  std::filesystem::remove_all(directory_.path("in/int32=1"));
  for (const std::string name : {"%zz=1", "a=%4", "a=..", "a=%2e%2E", "a=..%2F..%2Fetc"}) {
    Add("in/" + name, "pyarrow_no_statistics");
    EXPECT_EQ(ImportAll().status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(ImportAll().status().ToString(),
                HasSubstr(name.find("..") == std::string::npos && name != "a=%2e%2E"
                              ? "hexadecimal digits"
                              : "\"..\" in the name of a folder"));
    std::filesystem::remove_all(directory_.path("in/" + name));
  }
}

TEST_F(PartitionTest, NamesAreDecodedOnce) {
  Add("in/a%253d=x%252Fy", "pyarrow_no_statistics");
  ASSERT_TRUE(ImportAll().ok()) << ImportAll().status();
  const auto contents = Contents(table_);
  ASSERT_TRUE(contents.contains("a%3d"));
  EXPECT_EQ(contents.at("a%3d")[0], "0,0,x%2Fy");
}

TEST(ParquetSchemas, TableSchemasSurviveTheWayToParquetAndBack) {
  const auto tree = RecordSchema::Parse(R"(message m {
    required int64 id;
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    required group names (MAP) { repeated group key_value { required binary key (STRING); optional int96 value; } }
    repeated group points { required double x; repeated uint8 flags; }
    optional group when { optional timestamp(ms,UTC) at; required timestamp(ns) local; required time(us) t; }
  })");
  ASSERT_TRUE(tree.ok()) << tree.status();
  for (const Schema& schema : {ManyTypes(), Schema::OfRecords(*tree)}) {
    const auto made = internal::SchemaToParquet(schema, {});
    ASSERT_TRUE(made.ok()) << made.status();
    const auto back =
        internal::SchemaFromParquet({.schema = made->elements}, {}, ReaderOptions().record_limits);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(back->schema.columns.size(), schema.columns.size());
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      const ColumnSchema& column = schema.columns[i];
      const ColumnSchema& found = back->schema.columns[i];
      EXPECT_EQ(found.name, column.name);
      EXPECT_EQ(found.nullable, column.nullable) << column.name;
      EXPECT_EQ(found.levels, column.levels) << column.name;
      // Types that Parquet does not have.
      if (column.type.time_unit == TimeUnit::kSeconds ||
          column.type.data_type == DataType::kVarchar ||
          column.type.data_type == DataType::kInt128 ||
          column.type.data_type == DataType::kIsDeleted) {
        continue;
      }
      ColumnType expected = column.type;
      if (!expected.time_zone.empty())  // Parquet has no other zone
        expected = ColumnType::Timestamp(expected.time_unit, "UTC");
      if (column.type == ColumnType::Int96())
        expected = ColumnType::Timestamp(TimeUnit::kNanos, "");
      EXPECT_EQ(found.type.ToString(), expected.ToString()) << column.name;
    }
    EXPECT_EQ(back->schema.tree.has_value(), schema.tree.has_value());
    if (schema.tree) {
      EXPECT_EQ(back->schema.tree->nodes().size(), schema.tree->nodes().size());
    }
  }
}

TEST(ParquetSchemas, NamesThatATableCannotHave) {
  using internal::parquet::SchemaElement;
  const auto parse = [](const std::vector<std::string_view>& names) {
    std::vector<SchemaElement> elements = {
        {.name = "root", .num_children = static_cast<int32_t>(names.size())}};
    for (const std::string_view name : names)
      elements.push_back(
          {.type = internal::parquet::Type::kInt32, .repetition_type = 0, .name = name});
    return internal::SchemaFromParquet({.schema = elements}, {}, {}).status();
  };
  EXPECT_TRUE(parse({"a", "b"}).ok());
  EXPECT_THAT(parse({"a", ""}).ToString(), HasSubstr("column 1 of the file has an empty name"));
  EXPECT_THAT(parse({"a", "b", "a"}).ToString(), HasSubstr("a: the group has a second field"));
  EXPECT_EQ(parse({}).code(), absl::StatusCode::kUnimplemented);
  const absl::Status latin = parse({"a",
                                    "stra\xdf"
                                    "e"});
  EXPECT_EQ(latin.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(latin.ToString(), HasSubstr("the name of column 1 of the file"));
}

}  // namespace cfile::parquet_import_test
