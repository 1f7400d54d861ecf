#include "cfile/table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/internal/table/table_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using TableKeyTest = TableTestBase;

TEST_F(TableKeyTest, SeeksByKeyAcrossParts) {
  const std::vector<std::vector<std::string>> parts = {{"b", "d", "d"}, {},         {"d", "d", "f"},
                                                       {"h"},           {"k", "m"}, {}};
  WriteKeys(parts);
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (const std::string key : {"", "a", "b", "bb", "d", "e", "f", "fa", "g", "h", "i", "k", "l",
                                "m", "n", "zz", "d", "a"}) {
    const auto expected = std::lower_bound(all.begin(), all.end(), key);
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, expected - all.begin()) << key;
    EXPECT_EQ(found->exact, expected != all.end() && *expected == key) << key;
    EXPECT_EQ(cursor->ordinal(), found->ordinal);
    // After a seek by key, the cursor also reads the rows of the following parts.
    std::vector<std::string> rest;
    while (true) {
      const auto batch = cursor->Next(2);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      rest.insert(rest.end(), batch->values.begin(), batch->values.end());
    }
    EXPECT_EQ(rest, std::vector<std::string>(expected, all.end())) << key;
  }
}

TEST_F(TableKeyTest, SeeksByNumberAcrossParts) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  const WriterOptions options{.value_index = true};
  for (const std::vector<double>& values : {std::vector<double>{-10, -2.5}, {-1, 0, 1}, {2, 300}}) {
    auto writer = fs::exists(path_) ? TableWriter::Append(path_, {&options, 1})
                                    : TableWriter::Create(path_, schema, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Append<double>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  auto cursor = OpenTable().NewCursor<double>(0);
  ASSERT_TRUE(cursor.ok());
  for (const auto& [key, ordinal, exact] :
       std::vector<std::tuple<double, uint64_t, bool>>{{-11, 0, false},
                                                       {-2.5, 1, true},
                                                       {-2, 2, false},
                                                       {1, 4, true},
                                                       {1.5, 5, false},
                                                       {300, 6, true},
                                                       {301, 7, false}}) {
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, ordinal) << key;
    EXPECT_EQ(found->exact, exact) << key;
  }
  EXPECT_EQ(cursor->SeekToKey(std::numeric_limits<double>::quiet_NaN()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Seeks each key of `wanted` in a column of strings. `all` holds the keys of the column by ordinal.
// EXPECTs the smallest key that is not less than the wanted key, and the first row if several rows
// have this key.
void ExpectSeeks(const TableReader& table, const std::vector<std::string>& all,
                 const std::vector<std::string>& wanted) {
  auto cursor = table.NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (const std::string& key : wanted) {
    size_t expected = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] >= key && (expected == all.size() || all[i] < all[expected])) expected = i;
    }
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, expected) << key;
    EXPECT_EQ(found->exact, expected < all.size() && all[expected] == key) << key;
    EXPECT_EQ(cursor->ordinal(), found->ordinal);
    std::vector<std::string> rest;
    for (auto batch = cursor->Next(2); batch.ok() && !batch->empty(); batch = cursor->Next(2)) {
      rest.insert(rest.end(), batch->values.begin(), batch->values.end());
    }
    EXPECT_EQ(rest,
              std::vector<std::string>(all.begin() + static_cast<ptrdiff_t>(expected), all.end()))
        << key;
  }
}

std::vector<std::string> Flat(const std::vector<std::vector<std::string>>& parts) {
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

const std::vector<std::string> kWanted = {"",  "a", "b", "bb", "c", "d",  "e", "f", "fa",
                                          "g", "h", "k", "l",  "m", "zz", "c", "a"};

TEST_F(TableKeyTest, SeeksInPartsThatOverlap) {
  for (const std::vector<std::vector<std::string>>& parts :
       std::vector<std::vector<std::vector<std::string>>>{
           {{"a", "e"}, {"c"}},
           {{"k"}, {"c", "d", "l"}, {}, {"b", "c", "c", "h"}, {"a", "m"}},
           {{"d", "f"}, {"d", "e", "f"}, {"b", "d", "f", "f"}},
           {{"m"}, {"k"}, {"h"}, {"b"}},
           {{"b", "b"}, {"b"}, {"a", "b"}}}) {
    fs::remove_all(path_);
    WriteKeys(parts);
    ExpectSeeks(OpenTable(), Flat(parts), kWanted);
  }
}

// SeekToKey finds keys in a part without a value index by a scan.
TEST_F(TableKeyTest, SeeksInPartsWithoutAValueIndex) {
  const std::vector<std::vector<std::string>> parts = {{"c", "e", "h"}, {"b", "d", "d", "k"}};
  const std::vector<std::vector<std::string>> added = {{"d"}, {"l", "c", "g", "c", "d"}, {}};
  WriteKeys(parts);
  for (const auto& part : added) {
    auto writer = TableWriter::Append(path_);
    const std::vector<std::string_view> values(part.begin(), part.end());
    ASSERT_TRUE(writer->Append<std::string_view>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  std::vector<std::string> all = Flat(parts);
  for (const std::string& key : Flat(added)) all.push_back(key);
  ExpectSeeks(OpenTable(), all, kWanted);
  // A part with a value index follows the parts without one.
  {
    const WriterOptions options{.value_index = true};
    auto writer = TableWriter::Append(path_, {&options, 1});
    const std::vector<std::string_view> values = {"a", "c", "m"};
    ASSERT_TRUE(writer->Append<std::string_view>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
    all.insert(all.end(), values.begin(), values.end());
  }
  ExpectSeeks(OpenTable(), all, kWanted);
  EXPECT_TRUE(*OpenTable().has_value_index(0));
}

// A scan for a key uses the order of keys: -0 comes before 0, and NaN is never found.
TEST_F(TableKeyTest, SeeksNumbersInPartsWithoutAValueIndex) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool indexed : {true, false}) {
    const WriterOptions options{.value_index = indexed};
    auto writer = indexed ? TableWriter::Create(path_, schema, {&options, 1})
                          : TableWriter::Append(path_, {&options, 1});
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<double> values =
        indexed ? std::vector<double>{-1, 5} : std::vector<double>{nan, 7, -0.0, 0.0, nan, 4};
    ASSERT_TRUE(writer->Append<double>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  auto cursor = OpenTable().NewCursor<double>(0);
  ASSERT_TRUE(cursor.ok());
  for (const auto& [key, ordinal, exact] :
       std::vector<std::tuple<double, uint64_t, bool>>{{-2, 0, false},
                                                       {-0.5, 4, false},
                                                       {-0.0, 4, true},
                                                       {0.0, 5, true},
                                                       {1, 7, false},
                                                       {5, 1, true},
                                                       {6, 3, false},
                                                       {8, 8, false}}) {
    const auto found = cursor->SeekToKey(key);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, ordinal) << key;
    EXPECT_EQ(found->exact, exact) << key;
  }
}

TEST_F(TableKeyTest, NoSeekByKeyWithoutAnyValueIndex) {
  WritePart(0, 10, {.columns = {{.name = "key", .type = ColumnType::String()}}});
  EXPECT_FALSE(*OpenTable().has_value_index(0));
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("a");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(found.status().message(), HasSubstr("no part has a value index"));
  EXPECT_EQ(cursor->Next(10)->size(), 10);
}

TEST_F(TableKeyTest, EmptyPartHasAValueIndex) {
  WriteKeys({{}});
  EXPECT_TRUE(*OpenTable().has_value_index(0));
}

// A table sorted by two columns.
class CompoundKeyTableTest : public TableTestBase {
 protected:
  using Row = std::pair<std::string, int32_t>;

  // Writes a new part with the rows `rows` and the compound keys of the rows `keys`.
  absl::Status Write(const std::vector<Row>& rows, const std::vector<Row>& keys) {
    const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int32()},
                                    {.name = "text", .type = ColumnType::String()}},
                        .key_columns = {1, 0}};
    auto writer =
        fs::exists(path_) ? TableWriter::Append(path_) : TableWriter::Create(path_, schema);
    if (!writer.ok()) return writer.status();
    CompoundKey key(schema.key_types());
    absl::Status status;
    for (const auto& [text, n] : rows) {
      const std::string_view view = text;
      status.Update(writer->Append<int32_t>(0, {&n, 1}));
      status.Update(writer->Append<std::string_view>(1, {&view, 1}));
    }
    for (const auto& [text, n] : keys) {
      key.Clear().Add<std::string_view>(text).Add<int32_t>(n);
      const std::string_view bytes = key.bytes();
      status.Update(writer->Append<std::string_view>(*schema.key_index(), {&bytes, 1}));
    }
    return status.ok() ? writer->Finish() : status;
  }
};

TEST_F(CompoundKeyTableTest, SeeksInPartsThatOverlap) {
  const std::vector<std::vector<Row>> parts = {
      {{"b", 1}, {"b", 7}}, {{"a", 9}, {"b", 3}, {"c", 0}}, {}, {{"b", 3}, {"b", 4}}};
  std::vector<Row> all;
  for (const auto& part : parts) {
    ASSERT_EQ(Write(part, part), absl::OkStatus());
    all.insert(all.end(), part.begin(), part.end());
  }
  const TableReader table = OpenTable();
  auto cursor = table.NewCursor<std::string_view>(*table.schema().key_index());
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (const Row& wanted : std::vector<Row>{
           {"", 0}, {"a", 9}, {"a", 10}, {"b", 2}, {"b", 3}, {"b", 4}, {"b", 8}, {"c", 1}}) {
    CompoundKey key(table.schema().key_types());
    key.Add<std::string_view>(wanted.first).Add<int32_t>(wanted.second);
    size_t expected = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] >= wanted && (expected == all.size() || all[i] < all[expected])) expected = i;
    }
    const auto found = cursor->SeekToKey(key.bytes());
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->ordinal, expected) << wanted.first << wanted.second;
    EXPECT_EQ(found->exact, expected < all.size() && all[expected] == wanted);
    const auto batch = cursor->Next(1);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->size(), expected < all.size() ? 1 : 0);
  }
}

TEST_F(CompoundKeyTableTest, FinishComparesKeysWithRows) {
  const std::vector<Row> rows = {{"a", -1}, {"a", 5}, {"b", 2}};
  for (const std::vector<Row>& keys :
       std::vector<std::vector<Row>>{{{"a", -1}, {"a", 5}, {"b", 3}},
                                     {{"a", -1}, {"a", 5}, {"bb", 2}},
                                     {{"a", -1}, {"a", 5}, {"c", 0}}}) {
    const absl::Status status = Write(rows, keys);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr("row 2 of the new part: the compound key 0x620000"));
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_EQ(Write(rows, rows), absl::OkStatus());
}

TEST_F(CompoundKeyTableTest, FinishRefusesNaN) {
  const Schema schema{.columns = {{.name = "x", .type = ColumnType::Double()}}, .key_columns = {0}};
  auto writer = TableWriter::Create(path_, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<double> values = {1, std::numeric_limits<double>::quiet_NaN()};
  ASSERT_TRUE(writer->Append<double>(0, values).ok());
  CompoundKey key(schema.key_types());
  for (const double value : {1, 2}) {
    const std::string_view bytes = key.Clear().Add<double>(value).bytes();
    ASSERT_TRUE(writer->Append<std::string_view>(1, {&bytes, 1}).ok());
  }
  const absl::Status status = writer->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("row 1 of the new part"));
}

// Verify reports compound keys that do not match the rows. In the test, the file of keys comes from
// another table.
TEST_F(CompoundKeyTableTest, VerifyComparesKeysWithRows) {
  const std::vector<Row> rows = {{"a", 1}, {"a", 5}, {"b", 2}};
  const std::vector<Row> others = {{"a", 1}, {"a", 4}, {"b", 2}};
  ASSERT_EQ(Write(others, others), absl::OkStatus());
  const std::string keys = ReadFile(path_ + "/" + OpenTable().part_file(0, 2));
  fs::remove_all(path_);
  ASSERT_EQ(Write(rows, rows), absl::OkStatus());
  for (const size_t column : {0, 1, 2}) EXPECT_TRUE(OpenTable().VerifyColumn(0, column).ok());
  const std::string path = path_ + "/" + OpenTable().part_file(0, 2);
  ASSERT_EQ(fs::file_size(path), keys.size());
  WriteFile(path, keys);
  for (const size_t column : {0, 1}) EXPECT_TRUE(OpenTable().VerifyColumn(0, column).ok());
  const VerifyReport report = OpenTable().VerifyColumn(0, 2);
  ASSERT_EQ(report.damages.size(), 1);
  EXPECT_EQ(report.damages[0].status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(report.damages[0].status.message(), HasSubstr(path + ": row 1: the compound key"));
  EXPECT_EQ(report.damages[0].first_ordinal, 1);
}

TEST_F(TableKeyTest, EmptyTableIsSoughtByKey) {
  WriteKeys({{}});
  const auto contents = internal::ParseTable(ReadFile(table_file_), table_file_);
  ASSERT_TRUE(contents.ok()) << contents.status();
  EXPECT_FALSE(contents->parts[0].columns[0].min_key.has_value());
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("a");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 0);
  EXPECT_FALSE(found->exact);
}

// The empty string is the smallest key. It does not stand for a missing key.
TEST_F(TableKeyTest, EmptyStringIsAKey) {
  WriteKeys({{""}, {"", "a"}});
  auto cursor = OpenTable().NewCursor<std::string_view>(0);
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey("");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 0);
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(cursor->SeekToKey("a")->ordinal, 2);
}

// Finish makes the compound keys if the caller has appended none.
TEST(DerivedKeys, FromTheKeyColumns) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("t");
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Int32()},
                                  {.name = "s", .type = ColumnType::String()}},
                      .key_columns = {1, 0}};
  const auto write = [&](std::vector<int32_t> numbers, std::vector<std::string_view> strings) {
    auto writer = CreateOrAppend(path, schema);
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_EQ(writer->Append<int32_t>(0, numbers), absl::OkStatus());
    EXPECT_EQ(writer->Append<std::string_view>(1, strings), absl::OkStatus());
    return writer->Finish();
  };
  ASSERT_EQ(write({5, -2, -2, 7}, {"a", "b", "b", "b"}), absl::OkStatus());
  ASSERT_EQ(write({}, {}), absl::OkStatus());
  const absl::Status unsorted = write({1, 2, 1}, {"a", "a", "a"});
  EXPECT_EQ(unsorted.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unsorted.message()), testing::HasSubstr("row 2: its key "));
  const auto table = TableReader::Open(path);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->num_parts(), 2u);
  EXPECT_TRUE(table->VerifyColumn(0, 2).ok());
  auto cursor = table->NewCursor<std::string_view>(2);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  CompoundKey key(schema.key_types());
  key.Add<std::string_view>("b").Add<int32_t>(-2);
  const auto found = cursor->SeekToKey(key.bytes());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->ordinal, 1u);
  EXPECT_TRUE(found->exact);
}

}  // namespace
}  // namespace cfile
