#include "cfile/table.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cfile/compound_key.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "encodings/core/bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"

namespace cfile::table_key_test {

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
    auto writer = fs::exists(path_) ? TableWriter::Open(path_, {&options, 1})
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
    auto writer = TableWriter::Open(path_);
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
    auto writer = TableWriter::Open(path_, {&options, 1});
    const std::vector<std::string_view> values = {"a", "c", "m"};
    ASSERT_TRUE(writer->Append<std::string_view>(0, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
    all.insert(all.end(), values.begin(), values.end());
  }
  ExpectSeeks(OpenTable(), all, kWanted);
  EXPECT_TRUE(*OpenTable().has_value_index(0));
}

// -0 equals 0, and NaN is never found.
TEST_F(TableKeyTest, SeeksNumbersInPartsWithoutAValueIndex) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool indexed : {true, false}) {
    const WriterOptions options{.value_index = indexed};
    auto writer = indexed ? TableWriter::Create(path_, schema, {&options, 1})
                          : TableWriter::Open(path_, {&options, 1});
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
                                                       {0.0, 4, true},
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

TEST_F(TableKeyTest, ZerosAreNotBelowZero) {
  const Schema schema{.columns = {{.name = "n", .type = ColumnType::Double()}}};
  const WriterOptions options{.value_index = true};
  auto writer = TableWriter::Create(path_, schema, {&options, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ(writer->Append<double>(0, std::vector<double>{-1, -0.0, 0.0, 5}), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto range = OpenTable().NewCursor<double>(0)->SeekToKeyRange(0.0, 5);
  EXPECT_EQ(*range, (OrdinalRange{.begin = 1, .end = 3}));
  ASSERT_EQ(DropRowsBelow<double>(path_, 0, 0.0), absl::OkStatus());
  EXPECT_EQ(OpenTable().num_rows(), 3);
}

// The value index of a part without rows keeps the order.
TEST_F(TableKeyTest, ATableWithoutRowsKeepsItsOrder) {
  WriteKeys({{"a", "c"}, {"b"}});
  for (int i = 0; i < 2; ++i) {
    std::vector<std::string> names;
    for (size_t part = 0; part < OpenTable().num_parts(); ++part)
      names.push_back(OpenTable().part(part)->name);
    ASSERT_EQ(DropParts(path_, names), absl::OkStatus());
    EXPECT_EQ(OpenTable().num_rows(), 0);
    EXPECT_EQ(OpenTable().num_parts(), 1);
    EXPECT_TRUE(*OpenTable().has_value_index(0));
  }
  const WriterOptions options{.value_index = true};
  const std::string_view key = "a";
  auto writer = TableWriter::Open(path_, {&options, 1});
  ASSERT_EQ(writer->Append<std::string_view>(0, {&key, 1}), absl::OkStatus());
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  ASSERT_EQ(DropRowsBelow<std::string_view>(path_, 0, "z"), absl::OkStatus());
  EXPECT_TRUE(*OpenTable().has_value_index(0));
  ASSERT_EQ(TableWriter::Open(path_, {&options, 1})->Finish(), absl::OkStatus());
  ASSERT_TRUE(Compact(path_).ok());
  EXPECT_EQ(OpenTable().num_parts(), 1);
  EXPECT_TRUE(*OpenTable().has_value_index(0));
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
    // A test damages the file of the keys.
    auto writer = CreateOrAppend(path_, schema, {&kLoose, 1});
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
    EXPECT_THAT(status.message(),
                HasSubstr("row 2 of the new part: the compound key (\"b\", 2) expected of the key "
                          "columns, found (\"" +
                          keys[2].first + "\", " + std::to_string(keys[2].second) + ")"));
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

TEST_F(CompoundKeyTableTest, MessagesHaveTheValuesOfKeys) {
  const Schema schema{.columns = {{.name = "d", .type = ColumnType::Decimal(38, 2)},
                                  {.name = "b", .type = ColumnType::Bool()},
                                  {.name = "x", .type = ColumnType::Double()},
                                  {.name = "s", .type = ColumnType::String()}},
                      .key_columns = {0, 1, 2, 3}};
  auto writer = TableWriter::Create(path_, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<int128_t> decimals = {-7, -8};
  const bool bools[] = {true, false};
  const std::vector<double> doubles = {2.5, -3};
  const std::string longer(100, 'a');
  const std::vector<std::string_view> strings = {"a\n\"", longer};
  ASSERT_TRUE(writer->Append<int128_t>(0, decimals).ok());
  ASSERT_TRUE(writer->Append<bool>(1, bools).ok());
  ASSERT_TRUE(writer->Append<double>(2, doubles).ok());
  ASSERT_TRUE(writer->Append<std::string_view>(3, strings).ok());
  const absl::Status status = writer->Finish();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("row 1: its key (-8, false, -3, \"" + std::string(64, 'a') +
                        "\"...) is less than the key before it, (-7, true, 2.5, \"a\\n\\\"\")"));
}

// Verify reports compound keys that do not match the rows. The file of keys is from another table.
TEST_F(CompoundKeyTableTest, VerifyComparesKeysWithRows) {
  const std::vector<Row> rows = {{"a", 1}, {"a", 5}, {"b", 2}};
  const std::vector<Row> others = {{"a", 1}, {"a", 4}, {"b", 2}};
  ASSERT_EQ(Write(others, others), absl::OkStatus());
  const std::string keys = ReadFile(path_ + "/" + *OpenTable().part_file(0, 2));
  fs::remove_all(path_);
  ASSERT_EQ(Write(rows, rows), absl::OkStatus());
  for (const size_t column : {0, 1, 2}) EXPECT_TRUE(OpenTable().VerifyColumn(0, column).ok());
  const std::string path = path_ + "/" + *OpenTable().part_file(0, 2);
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

// A table sorted by a nullable string and a nullable number.
class NullableKeyTest : public testing::TestWithParam<std::vector<size_t>> {
 protected:
  using Row = std::pair<std::optional<std::string>, std::optional<int32_t>>;

  bool Less(const Row& a, const Row& b) const {
    const auto column_less = [&](size_t column, const auto& x, const auto& y) {
      const bool last = std::count(GetParam().begin(), GetParam().end(), column) > 0;
      return x && y ? *x < *y : x.has_value() != y.has_value() && x.has_value() == last;
    };
    return a.first != b.first ? column_less(1, a.first, b.first)
                              : column_less(0, a.second, b.second);
  }

  std::string KeyOf(const Row& row) const {
    CompoundKey key(schema_.key_types());
    row.first ? key.Add<std::string_view>(*row.first) : key.AddNull();
    row.second ? key.Add(*row.second) : key.AddNull();
    return std::string(key.bytes());
  }

  // Appends a part with the rows `rows`. If `keys` is empty, Finish makes the compound keys.
  absl::Status Write(const std::vector<Row>& rows, const std::vector<std::string>& keys = {}) {
    auto writer = CreateOrAppend(path_, schema_);
    if (!writer.ok()) return writer.status();
    absl::Status status;
    for (const Row& row : rows) {
      const int32_t number = row.second.value_or(0);
      const std::string_view text = row.first ? std::string_view(*row.first) : "";
      const uint8_t valid[] = {row.second.has_value(), row.first.has_value()};
      status.Update(writer->Append<int32_t>(0, {&number, 1}, {valid, 1}));
      status.Update(writer->Append<std::string_view>(1, {&text, 1}, {valid + 1, 1}));
    }
    for (const std::string_view key : keys) {
      status.Update(writer->Append<std::string_view>(2, {&key, 1}));
    }
    return status.ok() ? writer->Finish() : status;
  }

  // Writes three sorted parts of random rows. Returns the rows in the order of the table.
  std::vector<Row> WriteRandomParts() {
    std::mt19937_64 random(3);
    std::vector<Row> all;
    for (int part = 0; part < 3; ++part) {
      std::vector<Row> rows(300);
      for (Row& row : rows) {
        if (random() % 3 != 0) row.first = std::string("\0\1\2a", 4).substr(random() % 5);
        if (random() % 3 != 0) row.second = static_cast<int32_t>(random() % 20) - 10;
      }
      std::stable_sort(rows.begin(), rows.end(),
                       [this](const Row& a, const Row& b) { return Less(a, b); });
      std::vector<std::string> keys;
      for (const Row& row : rows) keys.push_back(KeyOf(row));
      // Finish makes the keys of the first part. It checks the given keys of the other parts.
      EXPECT_EQ(Write(rows, part == 0 ? std::vector<std::string>() : keys), absl::OkStatus());
      all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path("t");
  const Schema schema_{.columns = {{.name = "n", .type = ColumnType::Int32(), .nullable = true},
                                   {.name = "s", .type = ColumnType::String(), .nullable = true}},
                       .key_columns = {1, 0},
                       .nulls_last = GetParam()};
};

INSTANTIATE_TEST_SUITE_P(NullsLast, NullableKeyTest,
                         testing::Values(std::vector<size_t>{}, std::vector<size_t>{0},
                                         std::vector<size_t>{1}, std::vector<size_t>{0, 1}));

TEST_P(NullableKeyTest, SeeksAndReadsInKeyOrder) {
  const std::vector<Row> rows = WriteRandomParts();
  const auto table = TableReader::Open(path_);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->schema(), schema_);
  for (size_t part = 0; part < 3; ++part) EXPECT_TRUE(table->VerifyColumn(part, 2).ok());
  auto cursor = table->NewCursor<std::string_view>(2);
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (const Row& wanted : rows) {
    const auto least = std::min_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      if (Less(a, wanted) != Less(b, wanted)) return Less(b, wanted);
      return Less(a, b);
    });
    const auto found = cursor->SeekToKey(KeyOf(wanted));
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->exact);
    EXPECT_EQ(found->ordinal, least - rows.begin());
  }

  std::vector<Row> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [this](const Row& a, const Row& b) { return Less(a, b); });
  auto in_order = table->NewMergeCursor({.key_column = 2});
  ASSERT_TRUE(in_order.ok()) << in_order.status();
  size_t position = 0;
  for (auto batch = in_order->Next(100); batch.ok() && !batch->empty();
       batch = in_order->Next(100)) {
    for (size_t i = 0; i < batch->num_rows(); ++i, ++position) {
      ASSERT_LT(position, sorted.size());
      EXPECT_EQ(rows[batch->ordinal(i)], sorted[position]);
    }
  }
  EXPECT_EQ(position, sorted.size());
}

TEST_P(NullableKeyTest, CompactMergesParts) {
  std::vector<Row> rows = WriteRandomParts();
  ASSERT_EQ(Compact(path_).status(), absl::OkStatus());
  std::stable_sort(rows.begin(), rows.end(),
                   [this](const Row& a, const Row& b) { return Less(a, b); });
  const auto expect_rows = [&] {
    const auto table = TableReader::Open(path_);
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_EQ(table->num_parts(), 1u);
    ASSERT_EQ(table->num_rows(), rows.size());
    EXPECT_TRUE(table->VerifyColumn(0, 2).ok());
    auto scan = table->NewScan({});
    ASSERT_TRUE(scan.ok()) << scan.status();
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      const Batch<int32_t>& numbers = batch->column<int32_t>(0);
      const Batch<std::string_view>& texts = batch->column<std::string_view>(1);
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        Row row;
        if (texts.IsValid(i)) row.first = texts.values[i];
        if (numbers.IsValid(i)) row.second = numbers.values[i];
        ASSERT_EQ(row, rows[batch->ordinal(i)]);
      }
    }
  };
  expect_rows();
  const auto table = TableReader::Open(path_);
  auto cursor = table->NewCursor<std::string_view>(2);
  const auto nulls = cursor->SeekToPrefix(CompoundKey(schema_.key_types()).AddNull().bytes());
  ASSERT_TRUE(nulls.ok()) << nulls.status();
  const auto is_null = [](const Row& row) { return !row.first.has_value(); };
  const auto first = std::find_if(rows.begin(), rows.end(), is_null);
  EXPECT_EQ(nulls->begin, first - rows.begin());
  EXPECT_EQ(nulls->end, std::find_if_not(first, rows.end(), is_null) - rows.begin());
  const Row limit = rows[rows.size() / 2];
  const std::string key = KeyOf(limit);
  ASSERT_EQ(DropRowsBelow<std::string_view>(path_, 2, key), absl::OkStatus());
  std::erase_if(rows, [&](const Row& row) { return Less(row, limit); });
  expect_rows();
}

TEST_P(NullableKeyTest, FinishNamesTheRow) {
  std::vector<Row> rows = {{std::nullopt, 1}, {"", std::nullopt}, {"", 2}};
  const auto less = [this](const Row& a, const Row& b) { return Less(a, b); };
  std::sort(rows.begin(), rows.end(), less);
  std::vector<Row> unsorted = rows;
  std::swap(unsorted[1], unsorted[2]);
  const absl::Status order = Write(unsorted);
  EXPECT_EQ(order.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(order.message()), HasSubstr("row 2: its key "));
  EXPECT_THAT(std::string(order.message()), HasSubstr("null"));
  // One key is wrong: it has a value in place of a null, or a null in place of a value.
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> keys;
    for (const Row& row : rows) keys.push_back(KeyOf(row));
    Row other = rows[i];
    if (other.first) {
      other.second = other.second ? std::nullopt : std::optional(0);
    } else {
      other.first = "";
    }
    keys[i] = KeyOf(other);
    std::sort(keys.begin(), keys.end());
    const absl::Status wrong = Write(rows, keys);
    EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(wrong.message()), HasSubstr(" of the new part: the compound key "));
  }
  EXPECT_EQ(Write(rows), absl::OkStatus());
}

// Older versions know no nullable key columns.
// A feature bit in table.cft makes such a version refuse the table.
TEST(NullableKeys, NeedAFeatureBit) {
  internal::TableContents contents{
      .schema = {.columns = {{.name = "a", .type = ColumnType::Int8()},
                             {.name = "b", .type = ColumnType::Int8(), .nullable = true}},
                 .key_columns = {0}}};
  const auto features = [&] {
    const auto parsed = internal::ParseTable(internal::SerializeTable(contents), "table.cft");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->schema, contents.schema);
    return parsed->incompatible_features;
  };
  EXPECT_EQ(features(), 0u);
  contents.schema.key_columns = {0, 1};
  EXPECT_EQ(features(), 2u);
  contents.schema.nulls_last = {1};
  EXPECT_EQ(features(), 2u);

  // A table.cft with a nullable key column is damaged if the bit is not set.
  const std::string bytes = internal::SerializeTable(contents);
  const size_t field = bytes.find(std::string_view("\x28\x02", 2));  // incompatible_features: 2
  ASSERT_NE(field, bytes.npos);
  std::string body = bytes.substr(12, bytes.size() - 16);
  body.erase(field - 12, 2);
  std::string without = "cfiletb1";
  const auto append = [&](uint32_t number) {
    without.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  append(static_cast<uint32_t>(body.size()));
  without += body;
  append(internal::Crc32c(encodings::AsBytes(without)));
  const absl::Status status = internal::ParseTable(without, "table.cft").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("needs the incompatible feature bits 2"));

  for (const auto& [nulls_last, message] : std::vector<std::pair<std::vector<size_t>, std::string>>{
           {{0}, "column 0 sort last, but it is not nullable"},
           {{2}, "column 2 sort last, but it is not a key column"},
           {{1, 1}, "column 1 sort last, but the column is named twice"}}) {
    contents.schema.nulls_last = nulls_last;
    const absl::Status invalid = internal::ValidateSchema(contents.schema);
    EXPECT_EQ(invalid.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(invalid.message()), HasSubstr(message));
  }
}

}  // namespace cfile::table_key_test
