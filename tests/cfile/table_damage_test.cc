#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/core/format/crc32c.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table.h"
#include "cfile/writer.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_damage_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using TableDamageTest = TableTestBase;

TEST_F(TableDamageTest, TornTableFile) {
  WritePart(0, 10, {.columns = {{.name = "a", .type = ColumnType::String()}}});
  const std::string whole = ReadFile(table_file_);
  ASSERT_THAT(whole, StartsWith("cfiletb1"));
  const auto expect_damage = [&] {
    for (const absl::Status& status :
         {TableReader::Open(path_).status(), TableWriter::Open(path_).status()}) {
      ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
      ASSERT_THAT(status.message(), HasSubstr(table_file_));
    }
  };
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteFile(table_file_, whole.substr(0, size));
    expect_damage();
  }
  WriteFile(table_file_, whole + '\0');
  expect_damage();
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int bits : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ bits);
      WriteFile(table_file_, damaged);
      expect_damage();
    }
  }
  WriteFile(table_file_, whole);
  ExpectTable(OpenTable(), 10);
}

TEST_F(TableDamageTest, TableFileAboveTheLimit) {
  WritePart(0, 10);
  const absl::Status status = TableReader::Open(path_, {.max_metadata_size_bytes = 20}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr("max_metadata_size_bytes"));
}

// A table.cft with a right checksum but contradictory contents is refused.
TEST_F(TableDamageTest, TableFileThatContradictsItself) {
  using internal::TableContents;
  using internal::TablePart;
  const TableContents good{
      .schema = {.columns = {{.name = "a", .type = ColumnType::Int8(), .nullable = true},
                             {.name = "b", .type = ColumnType::Int8()}}},
      .parts = {
          {.directory = "part-000000",
           .num_rows = 3,
           .columns = {{.file_name = "0.cfile", .num_rows = 3, .null_count = 3},
                       {.file_name = "1.cfile", .num_rows = 3, .min_key = "a", .max_key = "a"}}}}};
  const auto parse = [](const TableContents& contents) {
    return internal::ParseTable(internal::SerializeTable(contents), "table.cft").status();
  };
  ASSERT_TRUE(parse(good).ok()) << parse(good);
  const auto expect_damage = [&](const char* what, const auto& change) {
    TableContents contents = good;
    change(contents, contents.parts[0]);
    const absl::Status status = parse(contents);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_THAT(status.message(), HasSubstr(what));
    EXPECT_THAT(std::string(status.message()), StartsWith("table.cft: "));
  };
  for (const char* name : {"", ".", "..", "/etc", "a/b", "../a"}) {
    expect_damage("a part's directory expected",
                  [&](TableContents&, TablePart& part) { part.directory = name; });
    expect_damage("a file name expected",
                  [&](TableContents&, TablePart& part) { part.columns[0].file_name = name; });
  }
  expect_damage("a file name expected", [](TableContents&, TablePart& part) {
    part.columns[1].file_name = std::string("a\0b", 3);
  });
  expect_damage("expected 3 rows",
                [](TableContents&, TablePart& part) { part.columns[1].num_rows = 2; });
  expect_damage("4 nulls", [](TableContents&, TablePart& part) { part.columns[0].null_count = 4; });
  expect_damage("but the column is not nullable",
                [](TableContents&, TablePart& part) { part.columns[1].null_count = 1; });
  expect_damage("2 columns expected",
                [](TableContents&, TablePart& part) { part.columns.pop_back(); });
  expect_damage("2^32 - 1 rows",
                [](TableContents&, TablePart& part) { part.num_rows = 1ull << 32; });
  expect_damage("only one of them",
                [](TableContents&, TablePart& part) { part.columns[1].min_key.reset(); });
  expect_damage("minimum is above",
                [](TableContents&, TablePart& part) { part.columns[1].min_key = "b"; });
  expect_damage("have the name a",
                [](TableContents& table, TablePart&) { table.schema.columns[1].name = "a"; });
  expect_damage("has no name",
                [](TableContents& table, TablePart&) { table.schema.columns[1].name = ""; });
  expect_damage("one column or more", [](TableContents& table, TablePart&) { table = {}; });
  expect_damage("column a: column type", [](TableContents& table, TablePart&) {
    table.schema.columns[0].type.decimal_precision = 4;
  });
  for (const uint32_t features : {1u, 1u << 31}) {
    TableContents featured = good;
    featured.incompatible_features = features;
    const absl::Status status = parse(featured);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith("table.cft: the table needs"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(features == 1 ? ": bit 0 (deleted rows)" : ": bit 31"));
    // Earlier versions know no features. They expect this magic at the begin of the file.
    EXPECT_THAT(internal::SerializeTable(good), StartsWith("cfiletb1"));
    EXPECT_THAT(internal::SerializeTable(featured), StartsWith("cfiletb2"));
  }
  TableContents unknown = good;
  unknown.schema.columns[0].type.data_type = static_cast<DataType>(104);
  EXPECT_EQ(parse(unknown).code(), absl::StatusCode::kUnimplemented);
}

// The magic of a table.cft with a right checksum does not fit its features.
TEST_F(TableDamageTest, MagicThatContradictsTheFeatures) {
  internal::TableContents contents{
      .schema = {.columns = {{.name = "a", .type = ColumnType::Int8()}}}};
  for (const uint32_t features : {0u, 1u}) {
    contents.incompatible_features = features;
    std::string bytes = internal::SerializeTable(contents);
    bytes[7] = features == 0 ? '2' : '1';
    const uint32_t crc = internal::Crc32c(encodings::AsBytes(
        std::string_view(bytes).substr(0, bytes.size() - internal::kChecksumBytes)));
    std::memcpy(&bytes[bytes.size() - internal::kChecksumBytes], &crc, sizeof crc);
    const absl::Status status = internal::ParseTable(bytes, "table.cft").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(features == 0 ? "found cfiletb2" : "found cfiletb1"));
  }
}

// No commit changes a table with a feature that the library does not know.
TEST_F(TableDamageTest, UnknownFeaturesOfATableBeingAppendedTo) {
  WritePart(0, 10);
  auto writer = TableWriter::Open(path_);
  ASSERT_TRUE(writer.ok() && AppendRows(*writer, 10, 5).ok());
  auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  contents->incompatible_features = 1;
  const std::string bytes = internal::SerializeTable(*contents);
  WriteFile(table_file_, bytes);
  for (const absl::Status& status :
       {writer->Finish(), TableWriter::Open(path_).status(), TableReader::Open(path_).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  }
  EXPECT_EQ(ReadFile(table_file_), bytes);
}

TEST_F(TableDamageTest, VerifyComparesWithTheTableFile) {
  WriteKeys({{"a", "c"}});
  ASSERT_TRUE(OpenTable().VerifyColumn(0, 0).ok());
  auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  contents->parts[0].columns[0].max_key = "d";
  WriteFile(table_file_, internal::SerializeTable(*contents));
  const VerifyReport keys = OpenTable().VerifyColumn(0, 0);
  ASSERT_EQ(keys.damages.size(), 1);
  EXPECT_THAT(keys.damages[0].status.message(), HasSubstr("the least and the greatest value"));
}

TEST_F(TableDamageTest, VerifyComparesBoundsWithTheTableFile) {
  WritePart(0, 10, {.columns = {{.name = "a", .type = ColumnType::String()}}});
  const auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  const auto expect_damage = [&](const auto& change) {
    internal::TableContents changed = *contents;
    change(changed.parts[0].columns[0]);
    WriteFile(table_file_, internal::SerializeTable(changed));
    const VerifyReport report = OpenTable().VerifyColumn(0, 0);
    ASSERT_EQ(report.damages.size(), 1);
    EXPECT_THAT(report.damages[0].status.message(), HasSubstr("the bounds are not those"));
  };
  expect_damage([](internal::TablePartColumn& column) { column.lower_bound->push_back('x'); });
  expect_damage([](internal::TablePartColumn& column) { column.upper_bound.reset(); });
  // Earlier versions wrote tables without bounds.
  internal::TableContents old = *contents;
  old.parts[0].columns[0].lower_bound.reset();
  old.parts[0].columns[0].upper_bound.reset();
  WriteFile(table_file_, internal::SerializeTable(old));
  EXPECT_TRUE(OpenTable().VerifyColumn(0, 0).ok());
  ExpectTable(OpenTable(), 10);
}

TEST_F(TableDamageTest, VerifyComparesNullsWithTheTableFile) {
  WritePart(0, 10);
  auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  for (size_t column = 0; column < contents->schema.columns.size(); ++column) {
    ASSERT_TRUE(OpenTable().VerifyColumn(0, column).ok());
    if (!contents->schema.columns[column].nullable) continue;
    contents->parts[0].columns[column].null_count += 1;
    WriteFile(table_file_, internal::SerializeTable(*contents));
    const VerifyReport report = OpenTable().VerifyColumn(0, column);
    ASSERT_EQ(report.damages.size(), 1);
    EXPECT_THAT(report.damages[0].status.message(), HasSubstr("nulls expected by table.cft"));
  }
}

TEST_F(TableDamageTest, ColumnFileThatIsMissing) {
  WritePart(0, 10, ManyTypes(), kLoose);
  const TableReader table = OpenTable();
  const std::string file = path_ + "/" + *table.part_file(0, 3);
  fs::remove(file);
  for (const absl::Status& status :
       {table.OpenColumn(0, 3).status(), table.NewCursor<int32_t>(3)->Next(1).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(status.message(), HasSubstr(file));
  }
  EXPECT_TRUE(table.OpenColumn(0, 2).ok());
}

TEST_F(TableDamageTest, CursorStaysWhereItWasAfterAnError) {
  WritePart(0, 100);
  WritePart(100, 100);
  const TableReader table = OpenTable();
  fs::remove(path_ + "/" + FileOf(table, 1, 0));
  auto cursor = table.NewCursor<int64_t>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ASSERT_TRUE(cursor->SeekToOrdinal(50).ok());
  EXPECT_FALSE(cursor->Get(150).ok());
  EXPECT_FALSE(cursor->SeekToOrdinal(150).ok());
  const auto batch = cursor->Next(1);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->first_ordinal, 50);
  EXPECT_EQ(batch->values[0], 50 * 31);
}

TEST_F(TableDamageTest, ColumnFileThatIsAnother) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()},
                                  {.name = "b", .type = ColumnType::Uint32()},
                                  {.name = "c", .type = ColumnType::Int32()}}};
  {
    auto writer = TableWriter::Create(path_, schema, {&kLoose, 1});
    ASSERT_TRUE(writer->Append<int32_t>(0, std::vector<int32_t>(100)).ok());
    ASSERT_TRUE(writer->Append<uint32_t>(1, std::vector<uint32_t>(100)).ok());
    ASSERT_TRUE(writer->Append<int32_t>(2, std::vector<int32_t>(100)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  const std::string a = path_ + "/" + *OpenTable().part_file(0, 0);
  const std::string b = path_ + "/" + *OpenTable().part_file(0, 1);
  const auto expect_damage = [&](const char* what) {
    const absl::Status status = OpenTable().NewCursor<int32_t>(0)->Next(1).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.message(), HasSubstr(a));
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  const auto write_instead = [&](int count, const WriterOptions& options) {
    auto writer = Writer<int32_t>::Create(a, ColumnType::Int32(), options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Append(std::vector<int32_t>(count)).ok());
    ASSERT_TRUE(writer->Finish().ok());
  };
  const std::string kept = ReadFile(a);
  WriteFile(a, ReadFile(b));
  expect_damage("int32 expected by table.cft, found uint32");
  write_instead(5000, {.encoding = Encoding::kPlain});
  expect_damage("bytes expected by table.cft");
  WriteFile(a, kept.substr(0, kept.size() - 1));
  expect_damage("");
  WriteFile(a, kept);
  EXPECT_TRUE(OpenTable().NewCursor<int32_t>(0).ok());

  // The files have the right size, but table.cft describes them wrongly.
  const auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  internal::TableContents fewer = *contents;
  fewer.parts[0].num_rows = 99;
  for (auto& column : fewer.parts[0].columns) column.num_rows = 99;
  WriteFile(table_file_, internal::SerializeTable(fewer));
  expect_damage("99 rows expected by table.cft, found 100");
  internal::TableContents nullable = *contents;
  nullable.schema.columns[0].nullable = true;
  WriteFile(table_file_, internal::SerializeTable(nullable));
  expect_damage("nullable int32 expected by table.cft, found int32");
}

TEST_F(TableDamageTest, TableFileIsNotOutgrown) {
  const WriterOptions options{.value_index = true, .max_block_size_bytes = 64u << 20};
  auto writer = TableWriter::Create(
      path_, {.columns = {{.name = "key", .type = ColumnType::String()}}}, {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::string huge(9 << 20, 'k');
  ASSERT_TRUE(writer->Append<std::string_view>(0, std::vector<std::string_view>{huge}).ok());
  EXPECT_EQ(writer->Finish().code(), absl::StatusCode::kOutOfRange);
  writer = absl::AbortedError("dropped");
  EXPECT_THAT(directory_.Entries(), IsEmpty());
}

}  // namespace cfile::table_damage_test
