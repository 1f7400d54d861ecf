// Tests that columns of tables are added, replaced, dropped, renamed, reordered and widened.
#include "cfile/table_columns.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/inspect.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/table/manifest/table_file.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/table_contents.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::table_columns_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing_support::Fault;
using testing_support::ScriptedStorage;

using Texts = std::vector<std::string>;

class TableColumnsTest : public testing::Test {
 protected:
  // Columns: key (int32, ascending, with a value index), text (nullable), number (float).
  static Schema ThreeColumns() {
    return {.columns = {{.name = "key", .type = ColumnType::Int32()},
                        {.name = "text", .type = ColumnType::Varchar(), .nullable = true},
                        {.name = "number", .type = ColumnType::Float()}}};
  }

  // Appends `rows` rows to the first three columns.
  absl::Status Fill(TableWriter& writer, int32_t rows) {
    for (int32_t i = 0; i < rows; ++i, ++next_) {
      const int32_t key = next_ - 3;
      const std::string text = absl::StrCat("t", next_ % 7);
      const std::string_view view = text;
      const uint8_t valid = next_ % 3 != 0;
      const float number = static_cast<float>(next_) / 2;
      CFILE_RETURN_IF_ERROR(writer.Append<int32_t>(0, {&key, 1}));
      CFILE_RETURN_IF_ERROR(writer.Append<std::string_view>(1, {&view, 1}, {&valid, 1}));
      CFILE_RETURN_IF_ERROR(writer.Append<float>(2, {&number, 1}));
    }
    return absl::OkStatus();
  }
  std::vector<WriterOptions> Options(size_t columns = 3) const {
    std::vector<WriterOptions> options(columns, packed_ ? WriterOptions() : kLoose);
    options[0].value_index = true;
    return options;
  }
  absl::Status AppendPart(int32_t rows) {
    CFILE_ASSIGN_OR_RETURN(TableWriter writer, TableWriter::Open(storage_, Options()));
    CFILE_RETURN_IF_ERROR(Fill(writer, rows));
    return writer.Finish();
  }
  // Writes a table into `storage`. Part 1 has no rows, the other parts have two or three rows.
  void WriteTable(size_t parts, const Schema& schema = ThreeColumns(),
                  std::shared_ptr<Storage> storage = NewMemoryStorage()) {
    storage_ = std::move(storage);
    next_ = 0;
    auto writer = TableWriter::Create(storage_, schema, Options());
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(Fill(*writer, 3).ok());
    ASSERT_TRUE(writer->Finish().ok());
    for (size_t part = 1; part < parts; ++part) {
      ASSERT_TRUE(AppendPart(part == 1 ? 0 : 2 + static_cast<int32_t>(part % 2)).ok());
    }
  }

  TableReader Open() {
    auto table = TableReader::Open(storage_);
    EXPECT_TRUE(table.ok()) << table.status();
    return *table;
  }

  // Returns the identity of each file, by path.
  std::map<std::string, std::string> Files() {
    std::map<std::string, std::string> files;
    const auto listed = storage_->List("");
    EXPECT_TRUE(listed.ok());
    // Leaves out the copies of the parts' descriptions, because they change with the schema.
    for (const StorageEntry& file : *listed) {
      if (file.path.find("/part-") == file.path.npos) files[file.path] = file.identity;
    }
    return files;
  }
  // EXPECTs that no file in `before` has changed, except table.cft.
  // Returns the new files in the folders of parts.
  std::vector<std::string> NewFiles(const std::map<std::string, std::string>& before) {
    std::vector<std::string> names;
    const auto after = Files();
    for (const auto& [path, identity] : before) {
      if (path == "table.cft") continue;
      const auto found = after.find(path);
      EXPECT_TRUE(found != after.end() && found->second == identity) << path;
    }
    for (const auto& [path, identity] : after) {
      if (!before.contains(path) && path.find('/') != path.npos) names.push_back(path);
    }
    return names;
  }

  // Collects garbage. EXPECTs that only files that the table names are left.
  void ExpectNoGarbage() {
    const auto collected = CollectGarbage(storage_, std::chrono::seconds(0));
    ASSERT_TRUE(collected.ok()) << collected.status();
    const TableReader table = Open();
    std::set<std::string> expected;
    const size_t columns = table.schema().columns.size() + table.schema().key_index().has_value();
    for (size_t part = 0; part < table.num_parts(); ++part) {
      for (size_t column = 0; column < columns; ++column) {
        expected.insert(FileOf(table, part, column));
      }
    }
    for (const auto& [path, identity] : Files()) {
      EXPECT_TRUE(path == "table.cft" || path.starts_with("chunk-") || expected.erase(path) > 0 ||
                  path.ends_with("/"))
          << path;
    }
    expected.erase("");
    EXPECT_THAT(expected, IsEmpty());
  }

  std::shared_ptr<Storage> storage_ = NewMemoryStorage();
  int32_t next_ = 0;
  bool packed_ = true;  // the parts that are written
};

const std::vector<size_t> kPartCounts = {1, 4, 70};

TEST_F(TableColumnsTest, AddWithDefault) {
  for (const size_t parts : kPartCounts) {
    WriteTable(parts);
    const TableReader snapshot = Open();
    const Texts before = Contents(snapshot);
    const auto files = Files();
    ASSERT_TRUE(AddColumn(storage_, {.name = "flag", .type = ColumnType::Bool()}, true).ok());
    ASSERT_TRUE(
        AddColumn(storage_, {.name = "note", .type = ColumnType::String(), .nullable = true}).ok());
    ASSERT_TRUE(
        AddColumn(storage_, {.name = "price", .type = ColumnType::Decimal(20, 2)}, -1250).ok());
    ASSERT_TRUE(AddColumn(storage_, {.name = "ratio", .type = ColumnType::Float()}, 0.5).ok());
    EXPECT_THAT(NewFiles(files), IsEmpty());

    auto writer = TableWriter::Open(storage_);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(Fill(*writer, 2).ok());
    const bool flags[] = {false, true};
    const std::string_view notes[] = {"x", "y"};
    const int128_t prices[] = {1, 2};
    const float ratios[] = {1, 2};
    ASSERT_TRUE(writer->Append<bool>(3, flags).ok());
    ASSERT_TRUE(writer->Append<std::string_view>(4, notes).ok());
    ASSERT_TRUE(writer->Append<int128_t>(5, prices).ok());
    ASSERT_TRUE(writer->Append<float>(6, ratios).ok());
    ASSERT_TRUE(writer->Finish().ok());

    const TableReader table = Open();
    Contents(table);
    const size_t old = snapshot.num_rows();
    const auto expected = [&](const char* value, const char* a, const char* b) {
      Texts values(old, value);
      values.insert(values.end(), {a, b});
      return values;
    };
    EXPECT_EQ(ValuesOf(table, 3), expected("true", "false", "true"));
    EXPECT_EQ(ValuesOf(table, 4), expected("null", "x", "y"));
    EXPECT_EQ(ValuesOf(table, 5), expected("-1250", "1", "2"));
    EXPECT_EQ(ValuesOf(table, 6), expected("0.5", "1", "2"));
    EXPECT_EQ(Contents(snapshot), before);

    const auto count = [&](const Filter& filter) {
      auto scan = table.NewScan({.where = filter});
      EXPECT_TRUE(scan.ok()) << scan.status();
      size_t rows = 0;
      for (const auto& batch : scan->Batches()) {
        EXPECT_TRUE(batch.ok()) << batch.status();
        if (batch.ok()) rows += batch->num_rows();
      }
      return rows;
    };
    EXPECT_EQ(count(Eq("flag", true)), old + 1);
    EXPECT_EQ(count(IsNull("note")), old);
    EXPECT_EQ(count(Eq("note", "y")), 1u);
    EXPECT_EQ(count(Eq("price", -1250)), old);
    EXPECT_EQ(count(Not(Eq("price", -1250))), 2u);
    EXPECT_EQ(count(Lt("ratio", 0.6)), old);
    EXPECT_EQ(count(And(Ge("key", 0), Ge("ratio", 1))), 2u);
    EXPECT_EQ(table.part_bounds(0, 5)->Min<int128_t>(), int128_t{-1250});
    EXPECT_EQ(table.part_bounds(0, 4)->null_count, 3u);

    // Compact merges older parts, which lack the new columns, with the new part.
    ASSERT_TRUE(Compact(storage_, {}, Options(7)).ok());
    EXPECT_EQ(Open().num_parts(), 1u);
    EXPECT_EQ(Contents(Open()), Contents(table));
    ExpectNoGarbage();
  }
}

TEST_F(TableColumnsTest, LongDefaults) {
  WriteTable(70);
  const std::string text(1000, 'x');
  ASSERT_TRUE(AddColumn(storage_, {.name = "s", .type = ColumnType::String()}, text).ok());
  const TableReader table = Open();
  EXPECT_EQ(ValuesOf(table, 3), Texts(table.num_rows(), text));
  EXPECT_EQ(table.part_bounds(0, 3)->min_key, text.substr(0, 64));
  EXPECT_EQ(table.part_bounds(0, 3)->max_key, std::string(63, 'x') + "y");
  auto scan = table.NewScan({.columns = {{"key"}}, .where = Eq("s", text), .limit = 5});
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->Next()->num_rows(), 3u);
}

// A part has more rows than one block of default values can have.
TEST_F(TableColumnsTest, DefaultsOfManyRows) {
  constexpr size_t kRows = 100'001;
  const std::shared_ptr<Storage> storage = NewMemoryStorage();
  const Schema schema{.columns = {{.name = "key", .type = ColumnType::Int64()}}};
  auto writer = TableWriter::Create(storage, schema);
  std::vector<int64_t> keys(kRows);
  std::iota(keys.begin(), keys.end(), 0);
  ASSERT_TRUE(writer->Append<int64_t>(0, keys).ok() && writer->Finish().ok());
  const std::string text(200, 'x');
  const auto add = [&](const ColumnSchema& column, const std::optional<Literal>& value) {
    ASSERT_EQ(AddColumn(storage, column, value), absl::OkStatus());
  };
  add({.name = "text", .type = ColumnType::String()}, text);
  add({.name = "null", .type = ColumnType::String(), .nullable = true}, std::nullopt);
  add({.name = "flag", .type = ColumnType::Bool()}, true);
  add({.name = "number", .type = ColumnType::Double(), .nullable = true}, 0.1);
  const TableReader table = *TableReader::Open(storage);
  EXPECT_EQ(ValuesOf(table, 1), Texts(kRows, text));
  EXPECT_EQ(ValuesOf(table, 2), Texts(kRows, "null"));
  EXPECT_EQ(ValuesOf(table, 3), Texts(kRows, "true"));
  EXPECT_EQ(ValuesOf(table, 4), Texts(kRows, "0.1"));
  for (size_t column = 1; column < 5; ++column) {
    const Reader reader = *table.OpenColumn(0, column);
    EXPECT_EQ(reader.num_rows(), kRows);
    EXPECT_LT(reader.info().file_size_bytes, 100'000u) << column;
    EXPECT_TRUE(Verify(reader).damages.empty()) << column;
    size_t blocks = 0;
    ASSERT_TRUE(VisitBlocks(reader, [&](const BlockInfo&) { return ++blocks > 0; }).ok());
    EXPECT_GE(blocks, 4u) << column;
    EXPECT_LE(blocks, 8u) << column;
  }
}

TEST_F(TableColumnsTest, DropRenameReorder) {
  packed_ = false;  // packed parts need a feature
  for (const size_t parts : kPartCounts) {
    WriteTable(parts);
    const TableReader snapshot = Open();
    const Texts before = Contents(snapshot);
    const auto files = Files();
    ASSERT_TRUE(RenameColumn(storage_, "text", "words").ok());
    EXPECT_EQ(Open().schema().columns[1].name, "words");
    // A renamed column needs no feature, so older readers can read the table.
    // Tables of more than 64 parts have chunks, and chunks need a feature.
    EXPECT_TRUE(storage_->Read("table.cft", 100000)
                    ->bytes.starts_with(parts > 64 ? "cfiletb2" : "cfiletb1"));
    ASSERT_TRUE(ReorderColumns(storage_, Texts{"number", "key", "words"}).ok());
    {
      const TableReader table = Open();
      Contents(table);
      EXPECT_EQ(ValuesOf(table, 0), ValuesOf(snapshot, 2));
      EXPECT_EQ(ValuesOf(table, 1), ValuesOf(snapshot, 0));
      EXPECT_EQ(ValuesOf(table, 2), ValuesOf(snapshot, 1));
      auto cursor = table.NewMergeCursor({.columns = {1}, .key_column = 1});
      ASSERT_TRUE(cursor.ok()) << cursor.status();
      EXPECT_TRUE(*cursor->SeekToKey<int32_t>(-1));
      EXPECT_EQ(cursor->Next(1)->column<int32_t>(0).values[0], -1);
    }
    ASSERT_TRUE(DropColumns(storage_, Texts{"key", "words"}).ok());
    EXPECT_THAT(Contents(Open()), ElementsAre(Contents(snapshot)[2]));
    // A new column does not get the values of a dropped column with the same name.
    ASSERT_TRUE(AddColumn(storage_, {.name = "key", .type = ColumnType::Int32()}, 9).ok());
    EXPECT_EQ(ValuesOf(Open(), 1), Texts(snapshot.num_rows(), "9"));
    EXPECT_THAT(NewFiles(files), IsEmpty());
    EXPECT_EQ(Contents(snapshot), before);
    // After this, the parts have no column files.
    ASSERT_TRUE(DropColumns(storage_, Texts{"number"}).ok());
    EXPECT_EQ(ValuesOf(Open(), 0), Texts(snapshot.num_rows(), "9"));
    ExpectNoGarbage();
    EXPECT_EQ(ValuesOf(Open(), 0), Texts(snapshot.num_rows(), "9"));
    ASSERT_TRUE(Compact(storage_).ok());
    EXPECT_EQ(ValuesOf(Open(), 0), Texts(snapshot.num_rows(), "9"));
  }
}

// The metadata of a table stay when its first column is moved, dropped, replaced or widened, and
// after a repair. Older readers refuse the table only if table.cft has the metadata.
TEST_F(TableColumnsTest, MetadataOfTheTable) {
  packed_ = false;  // the file of a column gets lost
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Pairs pairs = {{"pandas", "{}"}, {"geo", "x"}};
  const auto metadata = [&] { return Open().metadata().value(); };
  const auto has_feature = [&] {
    const auto file = storage_->Read("table.cft", 100000);
    return (internal::ParseTable(file->bytes, "t")->incompatible_features & 32) != 0;
  };
  for (const size_t parts : kPartCounts) {
    for (const char* const change : {"move", "drop", "replace", "widen", "drop after damage"}) {
      SCOPED_TRACE(absl::StrCat(change, ", ", parts, " parts"));
      storage_ = NewMemoryStorage();
      next_ = 0;
      std::vector<WriterOptions> options = Options();
      options[0].metadata = pairs;
      options[0].metadata.emplace_back("PARQUET:logical_type", "UNKNOWN");
      auto writer = TableWriter::Create(storage_, ThreeColumns(), options);
      ASSERT_TRUE(writer.ok() && Fill(*writer, 3).ok() && writer->Finish().ok());
      for (size_t part = 1; part < parts; ++part) ASSERT_TRUE(AppendPart(1).ok());
      EXPECT_EQ(metadata(), pairs);
      Pairs expected = pairs;
      if (change == std::string("move")) {
        ASSERT_TRUE(ReorderColumns(storage_, Texts{"text", "key", "number"}).ok());
        ASSERT_TRUE(DropColumns(storage_, Texts{"text"}).ok());
      } else if (change == std::string("drop")) {
        ASSERT_TRUE(DropColumns(storage_, Texts{"number"}).ok());
        EXPECT_FALSE(has_feature());
        ASSERT_TRUE(DropColumns(storage_, Texts{"key"}).ok());
      } else if (change == std::string("replace")) {
        auto columns = ColumnsWriter::Replace(storage_, {"key"});
        ASSERT_TRUE(columns.ok()) << columns.status();
        const std::vector<int32_t> values(columns->num_rows(), 7);
        ASSERT_TRUE(columns->Append<int32_t>(0, values).ok() && columns->Finish().ok());
      } else if (change == std::string("widen")) {
        ASSERT_TRUE(WidenColumn(storage_, "key", ColumnType::Int64()).ok());
      } else {
        ASSERT_TRUE(storage_->Delete(*Open().part_file(0, 0)).ok());
        ASSERT_TRUE(DropColumns(storage_, Texts{"key"}).ok());
        expected.clear();
      }
      EXPECT_EQ(metadata(), expected);
      EXPECT_EQ(has_feature(), change == std::string("move") || change == std::string("drop"));
      ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
      EXPECT_EQ(metadata(), expected);
      ASSERT_TRUE(storage_->Delete("table.cft").ok());
      ASSERT_TRUE(Repair(storage_).ok());
      EXPECT_EQ(metadata(), expected);
      ASSERT_TRUE(Compact(storage_).ok());
      EXPECT_EQ(metadata(), expected);
      Contents(Open());
    }
  }
}

TEST_F(TableColumnsTest, KeyColumnsAndTheirOrder) {
  Schema schema = ThreeColumns();
  schema.key_columns = {0, 1};
  schema.nulls_last = {1};
  WriteTable(3, schema);
  const TableReader snapshot = Open();
  EXPECT_EQ(DropColumns(storage_, Texts{"number", "text"}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ColumnsWriter::Replace(storage_, {"text"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(ReorderColumns(storage_, Texts{"number", "text", "key"}).ok());
  EXPECT_THAT(Open().schema().key_columns, ElementsAre(2, 1));
  EXPECT_THAT(Open().schema().nulls_last, ElementsAre(1));
  ASSERT_TRUE(AddColumn(storage_, {.name = "n", .type = ColumnType::Int8()}, 1).ok());
  ASSERT_TRUE(DropColumns(storage_, Texts{"number"}).ok());
  EXPECT_THAT(Open().schema().key_columns, ElementsAre(1, 0));
  Contents(Open());

  // If a key column is widened, the compound keys are written again.
  const auto files = Files();
  const absl::Status status = WidenColumn(storage_, "key", ColumnType::Int64());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(NewFiles(files).size(), 6u);
  const TableReader table = Open();
  Contents(table);
  EXPECT_EQ(ValuesOf(table, 1), ValuesOf(snapshot, 0));
  CompoundKey wanted(table.schema().key_types());
  wanted.Add(int64_t{-1}).Add(std::string_view("t2"));
  auto cursor = table.NewCursor<std::string_view>(*table.schema().key_index());
  ASSERT_TRUE(cursor.ok());
  const auto found = cursor->SeekToKey(wanted.bytes());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->ordinal, 2u);
  ASSERT_TRUE(Compact(storage_).ok());
  EXPECT_EQ(Contents(Open()), Contents(table));
  ExpectNoGarbage();
}

TEST_F(TableColumnsTest, Widen) {
  for (const size_t parts : kPartCounts) {
    WriteTable(parts);
    ASSERT_TRUE(AddColumn(storage_, {.name = "d", .type = ColumnType::Decimal(9, 2)}, -7).ok());
    ASSERT_TRUE(
        AddColumn(storage_, {.name = "u", .type = ColumnType::Uint8(), .nullable = true}).ok());
    auto writer = TableWriter::Open(storage_, Options(5));
    ASSERT_TRUE(Fill(*writer, 2).ok());
    const int32_t decimals[] = {5, -5};
    const uint8_t numbers[] = {0, 200};
    const uint8_t valid = 2;
    ASSERT_TRUE(writer->Append<int32_t>(3, decimals).ok());
    ASSERT_TRUE(writer->Append<uint8_t>(4, numbers, {&valid, 1}).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const TableReader snapshot = Open();
    const Texts before = Contents(snapshot);

    const auto files = Files();
    ASSERT_TRUE(WidenColumn(storage_, "key", ColumnType::Int64()).ok());
    EXPECT_EQ(NewFiles(files).size(), parts + 1);
    for (const std::string& path : NewFiles(files)) {
      EXPECT_THAT(path, MatchesRegex("part-[0-9a-f]{32}/0000-key-[0-9a-f]{32}.cfile"));
    }
    ASSERT_TRUE(WidenColumn(storage_, "text", ColumnType::String()).ok());
    ASSERT_TRUE(WidenColumn(storage_, "number", ColumnType::Double()).ok());
    ASSERT_TRUE(WidenColumn(storage_, "d", ColumnType::Decimal(18, 2)).ok());
    ASSERT_TRUE(WidenColumn(storage_, "d", ColumnType::Decimal(30, 2)).ok());
    ASSERT_TRUE(WidenColumn(storage_, "u", ColumnType::Int16()).ok());
    EXPECT_EQ(NewFiles(files).size(), 3 * (parts + 1) + 3);  // only the last part has d and u

    const TableReader table = Open();
    Contents(table);
    EXPECT_EQ(table.schema().columns[3].type, ColumnType::Decimal(30, 2));
    for (size_t column = 0; column < 5; ++column) {
      EXPECT_EQ(ValuesOf(table, column), ValuesOf(snapshot, column));
    }
    auto cursor = table.NewMergeCursor({.columns = {0}, .key_column = 0});
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    EXPECT_TRUE(*cursor->SeekToKey<int64_t>(-2));
    EXPECT_EQ(cursor->Next(1)->column<int64_t>(0).values[0], -2);
    auto scan = table.NewScan({.where = And(Eq("d", -7), Eq("key", -2))});
    ASSERT_TRUE(scan.ok()) << scan.status();
    EXPECT_EQ(scan->Next()->num_rows(), 1u);
    EXPECT_EQ(table.part_bounds(0, 0)->Min<int64_t>(), -3);
    EXPECT_EQ(Contents(snapshot), before);
    ASSERT_TRUE(Compact(storage_, {}, Options(5)).ok());
    EXPECT_EQ(Contents(Open()), Contents(table));
    ExpectNoGarbage();
  }
}

// Appends `count` numbers to a column of a writer: `first`, `first` + 1, and so on.
// Multiples of 4 become nulls. The first call appends 1 value, the second call 2 values, and so on.
absl::Status AppendNumbers(ColumnsWriter& writer, size_t column, int64_t first, uint64_t count) {
  for (uint64_t size = 1, done = 0; done < count; ++size) {
    const uint64_t rows = std::min(size, count - done);
    std::vector<int64_t> values(rows);
    std::iota(values.begin(), values.end(), first + static_cast<int64_t>(done));
    std::vector<uint8_t> validity((rows + 7) / 8);
    for (size_t i = 0; i < rows; ++i) {
      validity[i / 8] |= static_cast<uint8_t>((values[i] % 4 != 0) << i % 8);
    }
    CFILE_RETURN_IF_ERROR(writer.Append<int64_t>(column, values, validity));
    done += rows;
  }
  return absl::OkStatus();
}
Texts Numbers(int64_t first, uint64_t count) {
  Texts values;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t value = first + static_cast<int64_t>(i);
    values.push_back(value % 4 == 0 ? "null" : absl::StrCat(value));
  }
  return values;
}

TEST_F(TableColumnsTest, AddAndReplaceValues) {
  for (const size_t parts : kPartCounts) {
    WriteTable(parts);
    const TableReader first = Open();
    const uint64_t rows = first.num_rows();
    auto files = Files();
    const ColumnSchema columns[] = {{.name = "a", .type = ColumnType::Int64(), .nullable = true},
                                    {.name = "b", .type = ColumnType::Double()}};
    auto adder = ColumnsWriter::Add(storage_, columns);
    ASSERT_TRUE(adder.ok()) << adder.status();
    EXPECT_EQ(adder->num_rows(), rows);
    ASSERT_TRUE(AppendNumbers(*adder, 0, 100, rows).ok());
    ASSERT_TRUE(adder->Append<double>(1, std::vector<double>(rows, 1.5)).ok());
    EXPECT_EQ(Contents(Open()), Contents(first));
    ASSERT_TRUE(adder->Finish().ok());
    EXPECT_EQ(NewFiles(files).size(), 2 * parts);
    EXPECT_EQ(ValuesOf(Open(), 3), Numbers(100, rows));
    EXPECT_EQ(ValuesOf(Open(), 4), Texts(rows, "1.5"));
    // An empty part can be appended, although the new columns have no defaults.
    ASSERT_TRUE(TableWriter::Open(storage_)->Finish().ok());

    files = Files();
    const TableReader second = Open();
    const Texts before = Contents(second);
    auto replacer = ColumnsWriter::Replace(storage_, {"a"});
    ASSERT_TRUE(replacer.ok()) << replacer.status();
    ASSERT_TRUE(AppendNumbers(*replacer, 0, -1000, rows).ok());
    ASSERT_TRUE(replacer->Finish().ok());
    EXPECT_EQ(NewFiles(files).size(), parts + 1);
    const TableReader third = Open();
    Contents(third);
    EXPECT_EQ(ValuesOf(third, 3), Numbers(-1000, rows));
    EXPECT_EQ(ValuesOf(third, 0), ValuesOf(second, 0));
    EXPECT_EQ(ValuesOf(third, 4), ValuesOf(second, 4));
    auto scan = third.NewScan({.where = Eq("a", -999)});
    EXPECT_EQ(scan->Next()->num_rows(), 1u);
    EXPECT_EQ(Contents(second), before);

    // Replaces column `a` a second time, together with column `c`, which the parts lack.
    ASSERT_TRUE(
        AddColumn(storage_, {.name = "c", .type = ColumnType::Int64(), .nullable = true}).ok());
    replacer = ColumnsWriter::Replace(storage_, {"c", "a"});
    ASSERT_TRUE(AppendNumbers(*replacer, 0, 5, rows).ok());
    ASSERT_TRUE(AppendNumbers(*replacer, 1, 6, rows).ok());
    ASSERT_TRUE(replacer->Finish().ok());
    EXPECT_EQ(ValuesOf(Open(), 3), Numbers(6, rows));
    EXPECT_EQ(ValuesOf(Open(), 5), Numbers(5, rows));
    ExpectNoGarbage();
    Contents(Open());
  }
}

TEST_F(TableColumnsTest, ReplacingNeedsNoFeature) {
  packed_ = false;
  WriteTable(3);
  auto writer = ColumnsWriter::Replace(storage_, {"number"});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<float>(0, std::vector<float>(writer->num_rows(), 2)).ok());
  // Rows that another writer appends in the meantime keep their values.
  // This also holds if the other writer finishes later.
  auto appender = TableWriter::Open(storage_, Options());
  ASSERT_TRUE(AppendPart(1).ok());
  ASSERT_TRUE(writer->Finish().ok());
  ASSERT_TRUE(Fill(*appender, 1).ok());
  ASSERT_TRUE(appender->Finish().ok());
  Texts expected(5, "2");
  expected.insert(expected.end(), {"2.5", "3"});
  EXPECT_EQ(ValuesOf(Open(), 2), expected);
  EXPECT_TRUE(storage_->Read("table.cft", 100000)->bytes.starts_with("cfiletb1"));
  ExpectNoGarbage();
}

// In tables of nested records, the only possible change is to replace values.
TEST_F(TableColumnsTest, NestedRecords) {
  auto tree = RecordSchema::Create(
      {{.name = "record", .num_children = 2},
       {.name = "id", .type = ColumnType::Int64()},
       {.name = "tags", .repetition = Repetition::kRepeated, .type = ColumnType::Int32()}});
  ASSERT_TRUE(tree.ok()) << tree.status();
  const Schema schema = Schema::OfRecords(*tree);
  const auto fill = [](auto& writer, size_t column, int32_t offset, bool second) {
    // The first part has the records {1, 2}, {} and {3}. The second part has the record {4, 5, 6}.
    const std::vector<uint16_t> repetition =
        second ? std::vector<uint16_t>{0, 1, 1} : std::vector<uint16_t>{0, 1, 0, 0};
    const std::vector<uint16_t> definition =
        second ? std::vector<uint16_t>{1, 1, 1} : std::vector<uint16_t>{1, 1, 0, 1};
    std::vector<int32_t> values =
        second ? std::vector<int32_t>{4, 5, 6} : std::vector<int32_t>{1, 2, 3};
    for (int32_t& value : values) value += offset;
    return writer.template AppendLevels<int32_t>(column, repetition, definition, values);
  };
  auto writer = TableWriter::Create(storage_, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append<int64_t>(0, std::vector<int64_t>{0, 1, 2}).ok());
  ASSERT_TRUE(fill(*writer, 1, 0, false).ok());
  ASSERT_TRUE(writer->Finish().ok());
  writer = TableWriter::Open(storage_);
  ASSERT_TRUE(writer->Finish().ok());  // no rows
  writer = TableWriter::Open(storage_);
  ASSERT_TRUE(writer->Append<int64_t>(0, std::vector<int64_t>{3}).ok());
  ASSERT_TRUE(fill(*writer, 1, 0, true).ok());
  ASSERT_TRUE(writer->Finish().ok());

  const auto values = [&] {
    std::string text;
    auto cursor = Open().NewLevelCursor<int32_t>(1);
    EXPECT_TRUE(cursor.ok()) << cursor.status();
    while (true) {
      const auto batch = cursor->Next(2);
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || batch->definition.empty()) return text;
      size_t next = 0;
      for (size_t i = 0; i < batch->definition.size(); ++i) {
        absl::StrAppend(&text, batch->repetition[i] == 0 ? "|" : ",");
        if (batch->definition[i] == 1) absl::StrAppend(&text, batch->values[next++]);
      }
    }
  };
  EXPECT_EQ(values(), "|1,2||3|4,5,6");
  for (const bool at_once : {true, false}) {
    auto replacer = ColumnsWriter::Replace(storage_, {"tags", "id"});
    ASSERT_TRUE(replacer.ok()) << replacer.status();
    const int32_t offset = at_once ? 10 : 20;
    if (at_once) {
      const std::vector<uint16_t> repetition = {0, 1, 0, 0, 0, 1, 1};
      const std::vector<uint16_t> definition = {1, 1, 0, 1, 1, 1, 1};
      ASSERT_TRUE(replacer
                      ->AppendLevels<int32_t>(0, repetition, definition,
                                              std::vector<int32_t>{11, 12, 13, 14, 15, 16})
                      .ok());
    } else {
      // Some records begin in one call and end in a later call.
      const auto append = [&](std::vector<uint16_t> repetition, std::vector<int32_t> numbers) {
        const std::vector<uint16_t> definition(repetition.size(), !numbers.empty());
        return replacer->AppendLevels<int32_t>(0, repetition, definition, numbers);
      };
      ASSERT_TRUE(append({0}, {21}).ok());
      ASSERT_TRUE(append({1}, {22}).ok());
      ASSERT_TRUE(append({0}, {}).ok());
      ASSERT_TRUE(append({0, 0, 1}, {23, 24, 25}).ok());
      ASSERT_TRUE(append({1}, {26}).ok());
    }
    ASSERT_TRUE(replacer->Append<int64_t>(1, std::vector<int64_t>{9, 8, 7, 6}).ok());
    const absl::Status status = replacer->Finish();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(values(), at_once ? "|11,12||13|14,15,16" : "|21,22||23|24,25,26") << offset;
    EXPECT_THAT(ValuesOf(Open(), 0), ElementsAre("9", "8", "7", "6"));
  }
  auto replacer = ColumnsWriter::Replace(storage_, {"tags"});
  EXPECT_EQ(replacer->Append<int32_t>(0, std::vector<int32_t>{1}).code(),
            absl::StatusCode::kInvalidArgument);
  replacer = ColumnsWriter::Replace(storage_, {"tags"});
  EXPECT_EQ(replacer
                ->AppendLevels<int32_t>(0, std::vector<uint16_t>{0, 0, 0, 0, 0},
                                        std::vector<uint16_t>{0, 0, 0, 0, 0}, {})
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DropColumns(storage_, Texts{"id"}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(WidenColumn(storage_, "id", ColumnType::Int128()).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ColumnsWriter::Add(storage_, {}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(TableColumnsTest, ChangesThatMeet) {
  WriteTable(70);
  const auto replacer = [&] {
    auto writer = ColumnsWriter::Replace(storage_, {"number"});
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->Append<float>(0, std::vector<float>(writer->num_rows(), 2)).ok());
    return writer;
  };
  const ColumnSchema x = {.name = "x", .type = ColumnType::Float()};
  const auto adder = [&] {
    auto writer = ColumnsWriter::Add(storage_, {&x, 1});
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(writer->Append<float>(0, std::vector<float>(writer->num_rows(), 2)).ok());
    return writer;
  };
  const auto expect_aborted = [](const absl::Status& status, const char* what) {
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  auto appender = TableWriter::Open(storage_, Options());
  ASSERT_TRUE(Fill(*appender, 1).ok());
  auto a = replacer();
  auto b = adder();
  ASSERT_TRUE(RenameColumn(storage_, "text", "words").ok());
  expect_aborted(appender->Finish(), "its schema has been changed");
  expect_aborted(a->Finish(), "the schema has been changed");
  expect_aborted(b->Finish(), "the schema has been changed");
  // The destructors of the two writers remove their files.
  const auto number_of_files = [&] { return Files().size(); };
  const size_t files = number_of_files();
  a = absl::UnknownError("");
  b = absl::UnknownError("");
  EXPECT_EQ(number_of_files(), files - 2 * 70);

  a = replacer();
  b = replacer();
  ASSERT_TRUE(b->Finish().ok());
  expect_aborted(a->Finish(), "the column has got other values");
  EXPECT_EQ(b->Finish().code(), absl::StatusCode::kFailedPrecondition);

  a = adder();
  b = adder();
  ASSERT_TRUE(b->Finish().ok());
  expect_aborted(a->Finish(), "the schema has been changed");
  ASSERT_TRUE(DropColumns(storage_, Texts{"x"}).ok());

  a = adder();
  ASSERT_TRUE(AppendPart(1).ok());
  expect_aborted(a->Finish(), "a part has been added");

  a = replacer();
  b = adder();
  ASSERT_TRUE(DropParts(storage_, Texts{Open().part(3)->name}).ok());
  expect_aborted(a->Finish(), "a part has been dropped or replaced");
  expect_aborted(b->Finish(), "a part has been dropped or replaced");

  // A part that was made from old values of a column cannot replace parts that have new values.
  const TableReader snapshot = Open();
  const Texts names = {snapshot.part(1)->name, snapshot.part(2)->name};
  auto compacter = TableWriter::Replace(storage_, snapshot, names, Options());
  auto early = TableWriter::Replace(storage_, names, Options());
  a = replacer();
  ASSERT_TRUE(a->Finish().ok());
  auto late = TableWriter::Replace(storage_, snapshot, names, Options());
  for (auto* const writer : {&compacter, &early, &late}) {
    ASSERT_TRUE(writer->ok());
    expect_aborted((*writer)->Finish(), "column number of part-");
  }
  ASSERT_TRUE(RenameColumn(storage_, "words", "text").ok());
  late = TableWriter::Replace(storage_, snapshot, names, Options());
  ASSERT_TRUE(late.ok());
  expect_aborted(late->Finish(), "its schema has been changed");

  // The collector removes the files of a writer that has not finished.
  a = replacer();
  ASSERT_TRUE(CollectGarbage(storage_, std::chrono::seconds(0)).ok());
  expect_aborted(a->Finish(), "removed");
  a = absl::UnknownError("");
  ExpectNoGarbage();
  Contents(Open());
}

// The file of a column is garbage if the table no longer names it and no reader needs it.
TEST_F(TableColumnsTest, Garbage) {
  packed_ = false;
  const TemporaryDirectory directory;
  const std::string path = directory.path("table");
  WriteTable(3, ThreeColumns(), NewLocalStorage(path));
  const auto make_old = [&] {
    for (const auto& file : fs::recursive_directory_iterator(path)) {
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(100));
    }
  };
  const auto collected = [&](int hours) {
    const auto garbage = CollectGarbage(storage_, std::chrono::hours(hours));
    EXPECT_TRUE(garbage.ok()) << garbage.status();
    Texts names;
    for (const RemovedGarbage& item : *garbage) names.push_back(item.name);
    return names;
  };
  const TableReader snapshot = Open();
  const std::string old_file = *snapshot.part_file(2, 2);
  auto writer = ColumnsWriter::Replace(storage_, {"number"});
  ASSERT_TRUE(writer->Append<float>(0, std::vector<float>(writer->num_rows(), 2)).ok());
  make_old();
  ASSERT_TRUE(writer->Finish().ok());
  // The replaced files were written long ago, but until now readers needed the files.
  EXPECT_THAT(collected(10), IsEmpty());
  EXPECT_EQ(ValuesOf(snapshot, 2)[4], "2");

  // A killed writer has left two files. Somebody else has put two other files there.
  const fs::path part = fs::path(path) / Open().part(0)->name;
  const std::string left = "0002-number-0123456789abcdef0123456789abcdef.cfile";
  for (const std::string& name :
       {left, "." + left + ".17-3.cfile-tmp", std::string("notes.txt"), std::string("1-x.cfile")}) {
    std::ofstream(part / name) << "x";
  }
  make_old();
  const TableReader cold = [&] {
    auto table = TableReader::Open(storage_);
    return *table;
  }();
  const Texts removed = collected(10);
  EXPECT_EQ(removed.size(), 3u + 2 + 1);  // old files, files of the killed writer, mark
  EXPECT_THAT(removed, testing::Contains(old_file));
  EXPECT_TRUE(fs::exists(part / "notes.txt"));
  EXPECT_TRUE(fs::exists(part / "1-x.cfile"));
  EXPECT_THAT(collected(0), IsEmpty());
  EXPECT_EQ(ValuesOf(Open(), 2), Texts(5, "2"));

  // A reader that opened the table earlier learns that its files are gone.
  ASSERT_TRUE(DropColumns(storage_, Texts{"number"}).ok());
  EXPECT_EQ(collected(0).size(), 4u);
  const absl::Status status = cold.OpenColumn(0, 2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(status.message(), HasSubstr("snapshot expired"));
  // If table.cft still names a missing file, the snapshot has not expired.
  fs::remove(path + "/" + *Open().part_file(0, 0));
  EXPECT_EQ(Open().OpenColumn(0, 0).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(TableColumnsTest, FailuresOfTheStorage) {
  using Change = std::function<absl::Status(const std::shared_ptr<Storage>&)>;
  const auto write = [](absl::StatusOr<ColumnsWriter> writer) -> absl::Status {
    CFILE_RETURN_IF_ERROR(writer.status());
    CFILE_RETURN_IF_ERROR(writer->Append<float>(0, std::vector<float>(writer->num_rows(), 2)));
    return writer->Finish();
  };
  const ColumnSchema x = {.name = "x", .type = ColumnType::Float()};
  const Change changes[] = {
      [&](const auto& storage) { return AddColumn(storage, x, 1); },
      [](const auto& storage) { return DropColumns(storage, Texts{"text"}); },
      [](const auto& storage) { return RenameColumn(storage, "text", "words"); },
      [](const auto& storage) {
        return ReorderColumns(storage, Texts{"number", "key", "text"});
      },
      [](const auto& storage) { return WidenColumn(storage, "key", ColumnType::Int64()); },
      [&](const auto& storage) {
        return write(ColumnsWriter::Add(storage, {&x, 1}));
      },
      [&](const auto& storage) { return write(ColumnsWriter::Replace(storage, {"number"})); },
  };
  WriteTable(66);
  for (size_t i = 0; i < std::size(changes); ++i) {
    SCOPED_TRACE(i);
    const Texts before = Contents(Open());
    Fault fault;
    const auto failing = std::make_shared<ScriptedStorage>(storage_, fault.script());
    bool done = false;
    for (uint64_t n = 1; !done; n += n < 30 ? 1 : 1 + n / 6) {
      SCOPED_TRACE(n);
      fault.FailOnce(n);
      const absl::Status status = changes[i](failing);
      fault.Disarm();
      done = !fault.fired();
      const Texts after = Contents(Open());
      if (status.ok()) {
        EXPECT_NE(after, before);
        done = true;
      } else {
        EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
        if (after != before) done = true;  // only the answer to the commit was lost
      }
      ExpectNoGarbage();
      EXPECT_EQ(Contents(Open()), after);
      if (testing::Test::HasFailure()) return;
    }
    WriteTable(66);
  }
}

TEST_F(TableColumnsTest, Errors) {
  const auto expect = [](const absl::Status& status, absl::StatusCode code, const char* what) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(status.message(), HasSubstr(what));
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kNotFound = absl::StatusCode::kNotFound;
  const ColumnSchema x = {.name = "x", .type = ColumnType::Int8()};
  expect(AddColumn(storage_, x, 1), kNotFound, "there is no table");
  EXPECT_EQ(ColumnsWriter::Replace(storage_, {"x"}).status().code(), kNotFound);
  WriteTable(2);
  const Texts before = Contents(Open());
  const auto files = Files();
  expect(AddColumn(storage_, x), kInvalid, "the default of column x: there is none");
  expect(AddColumn(storage_, x, 128), kInvalid, "an integer is not a value");
  expect(AddColumn(storage_, x, 0.5), kInvalid, "a floating-point number is not a value");
  expect(AddColumn(storage_, x, "a"), kInvalid, "a string is not a value");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect(AddColumn(storage_, {.name = "f", .type = ColumnType::Double()}, nan), kInvalid,
         "of the type double");
  expect(AddColumn(storage_, {.name = "f", .type = ColumnType::Uuid()}, "short"), kInvalid,
         "of the type uuid");
  expect(AddColumn(storage_, {.name = "f", .type = ColumnType::Int96()}, Int96{}), kInvalid,
         "of the type int96");
  expect(AddColumn(storage_, {.name = "key", .type = ColumnType::Int8()}, 1), kInvalid,
         "two columns of the schema have the name key");
  expect(AddColumn(storage_, {.name = "", .type = ColumnType::Int8()}, 1), kInvalid, "no name");
  expect(DropColumns(storage_, Texts{"key", "x"}), kNotFound, "the table has no column x");
  expect(DropColumns(storage_, Texts{"key", "text", "number"}), kInvalid, "found no column");
  expect(RenameColumn(storage_, "x", "y"), kNotFound, "the table has no column x");
  expect(RenameColumn(storage_, "key", "text"), kInvalid, "have the name text");
  expect(ReorderColumns(storage_, Texts{"key", "text"}), kInvalid, "expected each of the 3");
  expect(ReorderColumns(storage_, Texts{"key", "text", "text"}), kInvalid, "expected each of");
  expect(WidenColumn(storage_, "x", ColumnType::Int64()), kNotFound, "the table has no column x");
  for (const ColumnType& type :
       {ColumnType::Int32(), ColumnType::Int16(), ColumnType::Uint64(), ColumnType::Double(),
        ColumnType::Date(), ColumnType::String(), ColumnType::Decimal(18, 0),
        ColumnType::Timestamp(TimeUnit::kMillis)}) {
    expect(WidenColumn(storage_, "key", type), kInvalid, "not a wider type of this kind");
  }
  expect(ColumnsWriter::Replace(storage_, {"x"}).status(), kNotFound, "has no column x");
  expect(ColumnsWriter::Replace(storage_, {"text", "text"}).status(), kInvalid, "named twice");
  const ColumnSchema key = {.name = "key", .type = ColumnType::Int8()};
  expect(ColumnsWriter::Add(storage_, {&key, 1}).status(), kInvalid, "have the name key");
  const std::vector<WriterOptions> two(2);
  expect(ColumnsWriter::Replace(storage_, {"number"}, two).status(), kInvalid, "found 2");
  {
    auto writer = ColumnsWriter::Replace(storage_, {"number"});
    expect(writer->Append<int32_t>(0, std::vector<int32_t>{1}), kInvalid, "holds float");
    writer = ColumnsWriter::Replace(storage_, {"number"});
    ASSERT_TRUE(writer->Append<float>(0, std::vector<float>{1}).ok());
    expect(writer->Finish(), kInvalid, "expected 3 rows, as many as the table has, found 1");
    expect(writer->Finish(), kInvalid, "expected 3 rows");
    writer = ColumnsWriter::Replace(storage_, {"number"});
    expect(writer->Append<float>(0, std::vector<float>{1, 2, 3, 4}), kInvalid,
           "expected 3 rows, as many as the table has, found more");
    expect(writer->AppendLevels<float>(0, {}, {}, {}), kInvalid, "found more");
  }
  EXPECT_EQ(Contents(Open()), before);
  EXPECT_THAT(NewFiles(files), IsEmpty());
  ExpectNoGarbage();
}

// Columns of a table without parts can be changed, too.
TEST_F(TableColumnsTest, TablesWithoutParts) {
  const Schema schema{.columns = {{.name = "a", .type = ColumnType::Int32()},
                                  {.name = "b", .type = ColumnType::String()},
                                  {.name = "c", .type = ColumnType::Double()}}};
  ASSERT_TRUE(TableWriter::Create(storage_, schema)->Finish().ok());
  ASSERT_TRUE(DropParts(storage_, Texts{Open().part(0)->name}).ok());
  ASSERT_TRUE(AddColumn(storage_, {.name = "x", .type = ColumnType::Int8()}).ok());
  ASSERT_TRUE(WidenColumn(storage_, "x", ColumnType::Int16()).ok());
  ASSERT_TRUE(ColumnsWriter::Replace(storage_, {"x"})->Finish().ok());
  const ColumnSchema y = {.name = "y", .type = ColumnType::Int8()};
  ASSERT_TRUE(ColumnsWriter::Add(storage_, {&y, 1})->Finish().ok());
  EXPECT_EQ(Open().schema().columns.size(), 5u);
  ASSERT_TRUE(TableWriter::Open(storage_)->Finish().ok());
  Contents(Open());
}

}  // namespace cfile::table_columns_test
