// Parquet files become tables. The files are those of tests/golden/parquet-files.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cfile/internal/parquet/metadata/file_metadata.h"
#include "cfile/internal/parquet/page_bytes.h"
#include "cfile/internal/parquet/parquet_schema.h"
#include "cfile/parquet.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile {
namespace {

using testing::HasSubstr;

// The goldens have small pages. With these options no page counts as small, so pages are copied.
const WriterOptions kSmallBlocks{.block_size_bytes = 32};

std::string GoldenPath(const std::string& name) {
  return std::string(CFILE_SOURCE_DIR) + "/tests/golden/parquet-files/" + name + ".parquet";
}

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::string(CFILE_SOURCE_DIR) + "/tests/golden/parquet-files")) {
    if (entry.path().extension() != ".parquet") continue;
    const std::string name = entry.path().stem().string();
    if (name.find("encrypted") == std::string::npos) names.push_back(name);
  }
  return names;
}

std::shared_ptr<const Source> InMemory(const std::string& bytes) {
  return NewMemorySource(std::vector<uint8_t>(bytes.begin(), bytes.end()), "file");
}

// A source whose bytes are not in memory.
class CopyingSource final : public Source {
 public:
  explicit CopyingSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  const std::string& name() const override { return source_->name(); }
  uint64_t size() const override { return source_->size(); }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    return source_->ReadAt(offset, out);
  }

 private:
  const std::shared_ptr<const Source> source_;
};

// The entries of a column: for each its levels and the bytes of its value.
std::vector<std::string> EntriesOf(const TableReader& table, size_t column) {
  std::vector<std::string> entries;
  VisitType(table.schema().columns[column].type, [&]<typename T>(std::type_identity<T>) {
    auto cursor = table.NewLevelCursor<T>(column);
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const ColumnSchema& schema = table.schema().columns[column];
    const int most = schema.has_levels() ? schema.levels.max_definition : schema.nullable;
    for (;;) {
      const auto batch = cursor->Next(1000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) return;
      size_t value = 0;
      for (size_t i = 0; i < batch->num_entries; ++i) {
        const int repetition = batch->repetition.empty() ? 0 : batch->repetition[i];
        const int definition = batch->definition.empty() ? 0 : batch->definition[i];
        std::string entry = std::to_string(repetition) + "," + std::to_string(definition) + ",";
        if (definition == most) {
          const T& held = batch->values[value++];
          if constexpr (kIsBytes<T>) {
            entry += held;
          } else if constexpr (std::is_arithmetic_v<T>) {
            entry += std::to_string(held);
          } else {
            entry.append(reinterpret_cast<const char*>(&held), sizeof(T));
          }
        }
        entries.push_back(std::move(entry));
      }
    }
  });
  return entries;
}

// The entries of all columns by name. EXPECTs that the table has no damage.
std::map<std::string, std::vector<std::string>> Contents(const TableLocation& location) {
  std::map<std::string, std::vector<std::string>> contents;
  const auto table = TableReader::Open(location);
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return contents;
  for (size_t i = 0; i < table->schema().columns.size(); ++i) {
    for (size_t part = 0; part < table->num_parts(); ++part) {
      const VerifyReport report = table->VerifyColumn(part, i);
      EXPECT_TRUE(report.ok()) << table->schema().columns[i].name << ": "
                               << (report.damages.empty() ? "" : report.damages[0].status.ToString());
    }
    contents[table->schema().columns[i].name] = EntriesOf(*table, i);
  }
  return contents;
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
    const auto source = InMemory(ReadFile(GoldenPath(name)));
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
    Import(std::make_shared<CopyingSource>(source), reading,
           {.writer = {kSmallBlocks}, .reader = {.read_ahead_bytes = 64}});
    EXPECT_EQ(Contents(reading), expected);
  }
  EXPECT_GT(copied, 100);
  EXPECT_GT(recompressed, 10);
}

TEST(ParquetImport, PagesAreCopiedWithTheirEncodingsAndDictionaries) {
  const auto table = NewMemoryStorage();
  const ParquetReport report =
      Import(InMemory(ReadFile(GoldenPath("pyarrow_encodings"))), table, {.writer = {kSmallBlocks}});
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
  // The three row groups have different dictionaries, so only one part each can keep them.
  for (const bool parts : {false, true}) {
    const ParquetReport groups =
        Import(InMemory(ReadFile(GoldenPath("pyarrow_page_index"))), NewMemoryStorage(),
               {.columns = {"string"}, .part_per_row_group = parts, .writer = {kSmallBlocks}});
    EXPECT_EQ(groups.recoded_pages == 0, parts);
  }
}

TEST(ParquetImport, ValuesOfPyarrow) {
  const auto table = NewMemoryStorage();
  Import(InMemory(ReadFile(GoldenPath("pyarrow_types_v2"))), table);
  const auto contents = Contents(table);
  const auto reader = TableReader::Open(table);
  const auto type = [&](const std::string& name) {
    return reader->schema().columns[*reader->schema().Find(name)].type.ToString();
  };
  EXPECT_EQ(type("uint8"), "uint8");
  EXPECT_EQ(type("float16"), "fixed(2)");
  EXPECT_EQ(type("time_ms"), "time(ms)");
  EXPECT_EQ(type("timestamp_ms"), "timestamp(ms)");
  EXPECT_EQ(type("timestamp_us"), "timestamp(us,UTC)");
  EXPECT_EQ(type("decimal9"), "decimal(9,2)");
  EXPECT_EQ(type("decimal18"), "decimal(18,3)");
  EXPECT_EQ(type("decimal38"), "decimal(38,4)");
  EXPECT_EQ(type("uuid"), "uuid");
  for (int i = 0; i < 24; ++i) {
    const int number = (i * 37) % 101 - 50;
    const auto expect = [&](const std::string& name, const std::string& value) {
      EXPECT_EQ(contents.at(name)[i], i % 5 == 4 ? "0,0," : "0,1," + value) << name << " " << i;
    };
    expect("int8", std::to_string(number));
    expect("uint64", std::to_string(number + 50));
    expect("decimal9", std::to_string(number));
    expect("decimal18", std::to_string(number));
    expect("string", "name " + std::to_string(((number % 7) + 7) % 7));
    expect("binary", std::string(i % 5, static_cast<char>(i)));
    const int128_t large = int128_t{number} * 1'000'000'000'000 * 1'000'000'000'000;
    std::string bytes(sizeof(large), '\0');
    std::memcpy(bytes.data(), &large, sizeof(large));
    expect("decimal38", bytes);
  }
}

TEST(ParquetImport, NestedValuesOfPyarrow) {
  for (const std::string version : {"v1", "v2"}) {
    const auto table = NewMemoryStorage();
    Import(InMemory(ReadFile(GoldenPath("pyarrow_nested_" + version))), table);
    const auto contents = Contents(table);
    // Row i holds the list of the numbers 0 to i % 4 - 1.
    std::vector<std::string> expected;
    for (int i = 0; i < 24; ++i) {
      if (version == "v2" && i % 5 == 4) {
        expected.push_back("0,0,");
      } else if (i % 4 == 0) {
        expected.push_back("0,1,");
      }  else {
        for (int n = 0; n < i % 4; ++n)
          expected.push_back((n == 0 ? "0,3," : "1,3,") + std::to_string(n));
      }
    }
    EXPECT_EQ(contents.at("numbers.list.element"), expected);
    const auto tree = TableReader::Open(table)->schema().tree;
    EXPECT_THAT(tree->ToString(), HasSubstr("optional group numbers (LIST)"));
    EXPECT_THAT(tree->ToString(), HasSubstr("optional group names (MAP)"));
  }
}

TEST(ParquetImport, ExplicitOptionsEncodeAndCompressAgain) {
  const auto source = InMemory(ReadFile(GoldenPath("duckdb_types_v1")));
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
  const auto source = InMemory(ReadFile(GoldenPath("pyarrow_nested_v1")));
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

  const auto types = InMemory(ReadFile(GoldenPath("pyarrow_types_v1")));
  const auto unsorted = NewMemoryStorage();
  const auto report = ImportParquet(types, unsorted, {.sorted_by = {"int32"}});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument) << report.status();
  EXPECT_THAT(report.status().ToString(), HasSubstr("row 3"));
  EXPECT_TRUE(absl::IsNotFound(TableReader::Open(unsorted).status()));
}

TEST(ParquetImport, CancelledImportLeavesNoTable) {
  const auto table = NewMemoryStorage();
  uint64_t last = 0;
  const auto source = InMemory(ReadFile(GoldenPath("pyarrow_page_index")));
  const auto report = ImportParquet(source, table,
                                    {.part_per_row_group = true, .progress = [&](auto done, auto all) {
                                       EXPECT_EQ(all, 24);
                                       last = done;
                                       return done < 15;
                                     }});
  EXPECT_TRUE(absl::IsCancelled(report.status()));
  EXPECT_GE(last, 15);
  EXPECT_TRUE(table->List("")->empty());
}

TEST(ParquetImport, EncryptedFilesAreRefusedByName) {
  for (const std::string name : {"pyarrow_encrypted_columns", "pyarrow_encrypted_footer"}) {
    const auto report = ImportParquet(GoldenPath(name), NewMemoryStorage());
    EXPECT_EQ(report.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(report.status().ToString(), HasSubstr("encrypted"));
  }
}

// An error, or a table without damage.
void ExpectErrorOrTable(const std::string& bytes) {
  const auto table = NewMemoryStorage();
  const auto report = ImportParquet(InMemory(bytes), table, {.writer = {kSmallBlocks}});
  if (report.ok()) {
    Contents(table);
  } else {
    EXPECT_FALSE(absl::IsInternal(report.status())) << report.status();
    EXPECT_TRUE(table->List("")->empty());
  }
}

TEST(ParquetImport, EachPrefixIsAnError) {
  for (const std::string name : {"pyarrow_no_statistics", "pyarrow_old_types", "duckdb_nested_v1"}) {
    const std::string file = ReadFile(GoldenPath(name));
    for (size_t size = 0; size < file.size(); ++size) {
      const auto report = ImportParquet(InMemory(file.substr(0, size)), NewMemoryStorage());
      EXPECT_FALSE(report.ok()) << name << " " << size;
    }
  }
}

TEST(ParquetImport, EachBitOfSmallFilesIsFlipped) {
  for (const std::string name :
       {"pyarrow_no_statistics", "pyarrow_old_types", "pyarrow_bloom", "fastparquet_int96"}) {
    SCOPED_TRACE(name);
    std::string file = ReadFile(GoldenPath(name));
    for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
      file[bit / 8] = static_cast<char>(file[bit / 8] ^ 1 << (bit % 8));
      ExpectErrorOrTable(file);
      file[bit / 8] = static_cast<char>(file[bit / 8] ^ 1 << (bit % 8));
    }
  }
}

TEST(ParquetImport, OneBitOfEachByteIsFlipped) {
  for (const std::string name :
       {"pyarrow_encodings", "pyarrow_nested_v1", "pyarrow_nested_v2", "duckdb_nested_v2"}) {
    SCOPED_TRACE(name);
    std::string file = ReadFile(GoldenPath(name));
    for (size_t byte = 0; byte < file.size(); ++byte) {
      const char before = file[byte];
      file[byte] = static_cast<char>(file[byte] ^ 1 << (byte % 8));
      ExpectErrorOrTable(file);
      file[byte] = before;
    }
  }
}

TEST(ParquetImport, DamageOfACheckedPageNamesFileColumnAndPage) {
  // pyarrow_types_v2 has checksums of pages.
  std::string file = ReadFile(GoldenPath("pyarrow_types_v2"));
  file[40] ^= 1;
  const auto report = ImportParquet(InMemory(file), NewMemoryStorage());
  EXPECT_TRUE(absl::IsDataLoss(report.status()));
  EXPECT_THAT(report.status().ToString(), HasSubstr("file: column bool: page at offset 4: "));
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
  Add("in", "pyarrow_types_v1", "b");
  EXPECT_THAT(ImportAll().status().ToString(),
              HasSubstr("in/b: column bool is bool, but there is none in "));
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
  Add("in/%zz=1", "pyarrow_no_statistics");
  EXPECT_THAT(ImportAll().status().ToString(), HasSubstr("hexadecimal digits"));
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
      if (column.type == ColumnType::Int96()) expected = ColumnType::Timestamp(TimeUnit::kNanos, "");
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
      elements.push_back({.type = internal::parquet::Type::kInt32, .repetition_type = 0, .name = name});
    return internal::SchemaFromParquet({.schema = elements}, {}, {}).status();
  };
  EXPECT_TRUE(parse({"a", "b"}).ok());
  EXPECT_THAT(parse({"a", ""}).ToString(), HasSubstr("column 1 of the file has an empty name"));
  EXPECT_THAT(parse({"a", "b", "a"}).ToString(), HasSubstr("a: the group has a second field"));
  EXPECT_EQ(parse({}).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace cfile
