// Tests of tables with a merge rule (MergeRule in cfile/schema.h). The main test makes random
// changes of a table. After each change, it compares the rows that readers return with
// those of a model.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/table/commit/table_commit.h"
#include "cfile/parts/table/manifest/manifest_edit.h"
#include "cfile/prepared_parts.h"
#include "cfile/records.h"
#include "cfile/table_columns.h"
#include "cfile/table_lookup.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"
#include "tests/sanitizers.h"

namespace cfile::merge_rule_test {

using testing::HasSubstr;
using Random = std::mt19937_64;

constexpr size_t kDay = 0, kName = 1, kValue = 2, kDeleted = 3, kTime = 4;  // the columns

struct Row {
  std::optional<int64_t> value;
  std::optional<bool> deleted;
  std::optional<int32_t> time;
  friend bool operator==(const Row&, const Row&) = default;
};
using Key = std::pair<int32_t, std::string>;  // day, name
using Rows = std::map<Key, Row>;

Schema MakeSchema(const MergeRule& rule) {
  return {.columns = {{.name = "day", .type = ColumnType::Int32()},
                      {.name = "name", .type = ColumnType::String()},
                      {.name = "value", .type = ColumnType::Int64(), .nullable = true},
                      {.name = "deleted", .type = ColumnType::Bool(), .nullable = true},
                      {.name = "time", .type = ColumnType::Date(), .nullable = true}},
          .key_columns = {kDay, kName},
          .merge_rule = rule};
}

std::string BytesOf(const Key& key) {
  CompoundKey bytes(MakeSchema({}).key_types());
  bytes.Add(key.first).Add(std::string_view(key.second));
  return std::string(bytes.bytes());
}

template <typename T>
absl::Status AppendOne(TableWriter& writer, size_t column, const std::optional<T>& value) {
  const T values[] = {value.value_or(T{})};
  const uint8_t validity[] = {value.has_value()};
  return writer.Append(column, std::span<const T>(values), validity);
}

absl::Status AppendRow(TableWriter& writer, const Key& key, const Row& row) {
  const int32_t days[] = {key.first};
  const std::string_view names[] = {key.second};
  absl::Status status = writer.Append(kDay, std::span<const int32_t>(days));
  status.Update(writer.Append(kName, std::span<const std::string_view>(names)));
  status.Update(AppendOne(writer, kValue, row.value));
  status.Update(AppendOne(writer, kDeleted, row.deleted));
  status.Update(AppendOne(writer, kTime, row.time));
  return status;
}

template <typename T>
std::optional<T> ValueAt(const Batch<T>& batch, size_t row) {
  return batch.IsValid(row) ? std::optional<T>(batch.values[row]) : std::nullopt;
}

class MergeRuleTest : public TableTestBase {
 protected:
  // Begins a table with this rule.
  void Begin(const MergeRule& rule) {
    schema_ = MakeSchema(rule);
    rule_ = rule;
  }

  absl::Status Append(const Rows& rows) {
    std::vector<WriterOptions> options(schema_.columns.size() + 1,
                                       {.max_values_per_block = 1 + options_++ % 7});
    options.back() = {.bloom_filter_bits_per_value = options_ % 2 == 0 ? 10u : 0u};
    if (loose_) options[0].max_packed_part_bytes = 0;
    auto writer = CreateOrAppend(path_, schema_, options);
    if (!writer.ok()) return writer.status();
    for (const auto& [key, row] : rows) {
      const absl::Status status = AppendRow(*writer, key, row);
      if (!status.ok()) return status;
    }
    const absl::Status status = writer->Finish();
    if (status.ok()) parts_.push_back(rows);
    return status;
  }

  Rows RandomRows(Random& random, size_t most) {
    Rows rows;
    const int32_t first = static_cast<int32_t>(random() % 6);
    for (size_t count = random() % most; count > 0; --count) {
      const Key key{first + static_cast<int32_t>(random() % 4), absl::StrCat("n", random() % 9)};
      Row& row = rows[key];
      if (random() % 4 != 0) row.value = static_cast<int64_t>(random() % 100);
      if (random() % 4 != 0) row.deleted = random() % 3 == 0;
      if (random() % 4 != 0) row.time = static_cast<int32_t>(random() % 50) - 10;
    }
    return rows;
  }

  bool IsGone(const Row& row) const {
    return (rule_.deleted_column && row.deleted.value_or(false)) ||
           (rule_.time_column && bound_ && row.time && *row.time < *bound_);
  }

  // The rows that readers must return.
  Rows Visible() const {
    Rows rows;
    for (const Rows& part : parts_) {
      for (const auto& [key, row] : part) rows[key] = row;
    }
    std::erase_if(rows, [&](const auto& each) { return IsGone(each.second); });
    return rows;
  }

  TableReader OpenStored() {
    auto table = TableReader::Open(path_, {.stored_rows = true});
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }

  // Reads all parts, with all rows that are stored.
  std::vector<Rows> StoredParts() {
    const TableReader table = OpenStored();
    std::vector<Rows> parts(table.num_parts());
    for (size_t part = 0; part < parts.size(); ++part) {
      const PartInfo info = *table.part(part);
      parts[part] =
          Scanned(table, {.range = {info.first_ordinal, info.first_ordinal + info.num_rows}});
      EXPECT_EQ(parts[part].size(), info.num_rows);
      EXPECT_TRUE(table.VerifyColumn(part, *schema_.key_index()).ok());
    }
    return parts;
  }

  static Rows Scanned(const TableReader& table, const TableScanOptions& options) {
    Rows rows;
    auto scan = table.NewScan(options);
    EXPECT_TRUE(scan.ok()) << scan.status();
    if (!scan.ok()) return rows;
    for (const auto& batch : scan->Batches()) {
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok()) break;
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        const Key key{batch->column<int32_t>(kDay).values[i],
                      std::string(batch->column<std::string_view>(kName).values[i])};
        const Row row{ValueAt(batch->column<int64_t>(kValue), i),
                      ValueAt(batch->column<bool>(kDeleted), i),
                      ValueAt(batch->column<int32_t>(kTime), i)};
        EXPECT_TRUE(rows.emplace(key, row).second) << key.second << " comes twice";
      }
    }
    return rows;
  }

  template <typename Predicate>
  static Rows Where(const Rows& rows, const Predicate& predicate) {
    Rows chosen;
    for (const auto& each : rows) {
      if (predicate(each.first, each.second)) chosen.insert(each);
    }
    return chosen;
  }

  static void Take(const MergeBatch& batch, std::vector<std::pair<Key, Row>>& rows) {
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      const Key key{batch.column<int32_t>(0).values[i],
                    std::string(batch.column<std::string_view>(1).values[i])};
      EXPECT_EQ(batch.column<std::string_view>(3).values[i], BytesOf(key));
      rows.emplace_back(key,
                        Row{ValueAt(batch.column<int64_t>(2), i), ValueAt(batch.column<bool>(4), i),
                            ValueAt(batch.column<int32_t>(5), i)});
    }
  }

  // Walks with a merge cursor, forwards and backwards in turns, and compares.
  void CheckCursor(const TableReader& table, const Rows& expected, Random& random) {
    auto cursor = table.NewMergeCursor({.columns = {kDay, kName, kValue, 5, kDeleted, kTime}});
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const std::vector<std::pair<Key, Row>> all(expected.begin(), expected.end());
    size_t place = 0;  // the number of rows before the cursor
    if (random() % 2 == 0) {
      ASSERT_TRUE(cursor->SeekToEnd().ok());
      place = all.size();
    }
    for (int step = 0; step < 12; ++step) {
      const size_t most = 1 + random() % 20;
      std::vector<std::pair<Key, Row>> rows;
      if (random() % 5 == 0) {
        const Key key{static_cast<int32_t>(random() % 10), absl::StrCat("n", random() % 9)};
        const auto exact = cursor->SeekToKey(std::string_view(BytesOf(key)));
        ASSERT_TRUE(exact.ok()) << exact.status();
        EXPECT_EQ(*exact, expected.contains(key));
        place = static_cast<size_t>(
            std::lower_bound(all.begin(), all.end(), std::pair(key, Row()),
                             [](const auto& a, const auto& b) { return a.first < b.first; }) -
            all.begin());
      } else if (random() % 3 != 0) {
        const auto batch = cursor->Next(most);
        ASSERT_TRUE(batch.ok()) << batch.status();
        Take(*batch, rows);
        ASSERT_LE(place + rows.size(), all.size());
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), all.begin() + place));
        ASSERT_TRUE(!rows.empty() || place == all.size());
        place += rows.size();
      } else {
        const auto batch = cursor->Previous(most);
        ASSERT_TRUE(batch.ok()) << batch.status();
        Take(*batch, rows);
        ASSERT_LE(rows.size(), place);
        place -= rows.size();
        ASSERT_TRUE(std::equal(rows.begin(), rows.end(), all.begin() + place));
        ASSERT_TRUE(!rows.empty() || place == 0);
      }
    }
  }

  // Reads ranges of keys, and clones the cursor in the middle.
  void CheckRanges(const TableReader& table, const Rows& expected, Random& random) {
    auto cursor = table.NewMergeCursor({.columns = {kDay, kName, kValue, 5, kDeleted, kTime}});
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const int32_t day = static_cast<int32_t>(random() % 10);
    CompoundKey prefix(schema_.key_types());
    prefix.Add(day);
    const Key low{day, absl::StrCat("n", random() % 9)};
    for (const bool by_prefix : {false, true}) {
      if (by_prefix) {
        ASSERT_TRUE(cursor->SeekToPrefix(prefix.bytes()).ok());
      } else {
        ASSERT_TRUE(
            cursor->SeekToKeyRange<std::string_view>(BytesOf(low), BytesOf({day + 2, ""})).ok());
      }
      std::vector<std::pair<Key, Row>> rows;
      for (int turn = 0; turn < 2; ++turn) {
        const auto batch = cursor->Next(turn == 0 ? 3 : 1000);
        ASSERT_TRUE(batch.ok()) << batch.status();
        Take(*batch, rows);
        auto clone = cursor->Clone();
        ASSERT_TRUE(clone.ok()) << clone.status();
        cursor = std::move(clone);
      }
      while (true) {
        const auto batch = cursor->Next(7);
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (batch->empty()) break;
        Take(*batch, rows);
      }
      EXPECT_EQ(Rows(rows.begin(), rows.end()), Where(expected, [&](const Key& key, const Row&) {
                  return by_prefix ? key.first == day : key >= low && key.first < day + 2;
                }));
    }
  }

  void CheckScans(const TableReader& table, const Rows& expected, Random& random) {
    EXPECT_EQ(Scanned(table, {}), expected);
    EXPECT_EQ(Scanned(table, {.reverse = true}), expected);
    const int64_t low = static_cast<int64_t>(random() % 100);
    EXPECT_EQ(Scanned(table, {.where = Ge("value", low)}),
              Where(expected, [&](const Key&, const Row& row) { return row.value >= low; }));
    const int32_t day = static_cast<int32_t>(random() % 10);
    EXPECT_EQ(Scanned(table, {.where = Eq("day", day), .reverse = random() % 2 == 0}),
              Where(expected, [&](const Key& key, const Row&) { return key.first == day; }));
    EXPECT_EQ(
        Scanned(table, {.where = Or(Eq("deleted", true), IsNull("deleted"))}),
        Where(expected, [&](const Key&, const Row& row) { return row.deleted.value_or(true); }));
    for (const bool reverse : {false, true}) {
      const uint64_t limit = random() % 20;
      const Rows some = Scanned(table, {.limit = limit, .reverse = reverse});
      EXPECT_EQ(some.size(), std::min<uint64_t>(limit, expected.size()));
      for (const auto& each : some) EXPECT_EQ(expected.at(each.first), each.second);
    }
    const auto ranges = table.SplitScan({}, 1 + random() % 4);
    ASSERT_TRUE(ranges.ok()) << ranges.status();
    Rows found;
    for (const OrdinalRange& range : *ranges) found.merge(Scanned(table, {.range = range}));
    EXPECT_EQ(found, expected);
  }

  void CheckLookups(const TableReader& table, const Rows& expected) {
    auto lookup = table.NewLookup(std::vector<size_t>{kValue, kDeleted, kTime});
    ASSERT_TRUE(lookup.ok()) << lookup.status();
    for (int32_t day = 0; day < 10; ++day) {
      for (int name = 0; name < 9; ++name) {
        const Key key{day, absl::StrCat("n", name)};
        const std::string bytes = BytesOf(key);
        const auto found = expected.find(key);
        const auto contains = lookup->Contains(std::string_view(bytes));
        ASSERT_TRUE(contains.ok()) << contains.status();
        EXPECT_EQ(*contains, found != expected.end());
        const auto row = lookup->Get(std::string_view(bytes));
        ASSERT_TRUE(row.ok()) << row.status();
        ASSERT_EQ(row->found(), found != expected.end()) << day << key.second;
        if (!row->found()) continue;
        EXPECT_EQ((Row{row->value<int64_t>(0), row->value<bool>(1), row->value<int32_t>(2)}),
                  found->second);
      }
    }
  }

  void Check(Random& random) {
    const TableReader table = OpenTable();
    const Rows expected = Visible();
    CheckScans(table, expected, random);
    CheckCursor(table, expected, random);
    CheckRanges(table, expected, random);
    CheckLookups(table, expected);
    ASSERT_EQ(StoredParts(), parts_);
  }

  static bool Overlap(const Rows& a, const Rows& b) {
    return !a.empty() && !b.empty() && a.begin()->first <= b.rbegin()->first &&
           b.begin()->first <= a.rbegin()->first;
  }
  // True if a part before `end` may have keys of `rows`.
  bool OverlapsOlder(const Rows& rows, size_t end) const {
    return std::any_of(parts_.begin(), parts_.begin() + static_cast<ptrdiff_t>(end),
                       [&](const Rows& part) { return Overlap(part, rows); });
  }

  void CompactSome(Random& random) {
    const size_t begin = random() % parts_.size();
    const size_t end = begin + 1 + random() % (parts_.size() - begin);
    const TableReader table = OpenStored();
    std::vector<std::string> names;
    Rows merged, all;
    for (size_t part = begin; part < end; ++part) {
      names.push_back(table.part(part)->name);
      for (const auto& [key, row] : parts_[part]) merged[key] = row;
    }
    // A row that is gone stays as long as an older part may have its key.
    if (!OverlapsOlder(merged, begin))
      std::erase_if(merged, [&](const auto& each) { return IsGone(each.second); });
    const auto report = Compact(path_, names);
    ASSERT_TRUE(report.ok()) << report.status();
    parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(begin),
                 parts_.begin() + static_cast<ptrdiff_t>(end));
    parts_.insert(parts_.begin() + static_cast<ptrdiff_t>(begin), merged);
  }

  void DropOne(Random& random) {
    const size_t part = random() % parts_.size();
    const std::vector<std::string> names = {OpenStored().part(part)->name};
    const absl::Status status = DropParts(path_, names);
    if (OverlapsOlder(parts_[part], part)) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_THAT(status.message(), HasSubstr(names[0]));
      if (random() % 2 == 0) return;
      ASSERT_TRUE(DropParts(path_, names, {.stored_rows = true}).ok());
    } else {
      ASSERT_TRUE(status.ok()) << status;
    }
    parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(part));
  }

  void DropBelow(Random& random) {
    const int32_t day = static_cast<int32_t>(random() % 5);
    CompoundKey low(schema_.key_types());
    low.Add(day);
    const Rows expected =
        Where(Visible(), [&](const Key& key, const Row&) { return key.first >= day; });
    ASSERT_TRUE(DropRowsBelow<std::string_view>(path_, *schema_.key_index(), low.bytes()).ok());
    parts_ = StoredParts();
    EXPECT_EQ(Visible(), expected);
  }

  Schema schema_;
  MergeRule rule_;
  std::vector<Rows> parts_;  // of the model, with all rows that are stored
  std::optional<int64_t> bound_;
  uint32_t options_ = 0;
  bool loose_ = false;  // each column of a new part has a file of its own
};

TEST_F(MergeRuleTest, EqualsAModel) {
  Random random(testing::UnitTest::GetInstance()->random_seed());
  for (int turn = 0; turn < (kSanitized ? 6 : 18); ++turn) {
    SCOPED_TRACE(turn);
    std::filesystem::remove_all(path_);
    parts_.clear();
    bound_ = std::nullopt;
    Begin({.deleted_column = turn % 2 == 0 ? std::optional<size_t>(kDeleted) : std::nullopt,
           .time_column = turn % 3 == 0 ? std::optional<size_t>(kTime) : std::nullopt});
    ASSERT_TRUE(Append(RandomRows(random, 40)).ok());
    for (int step = 0; step < 12; ++step) {
      SCOPED_TRACE(step);
      switch (parts_.empty() ? 0 : random() % 8) {
        case 4:
          CompactSome(random);
          break;
        case 5:
          DropOne(random);
          break;
        case 6:
          DropBelow(random);
          break;
        case 7:
          if (!rule_.time_column) break;
          bound_ = bound_.value_or(-10) + static_cast<int64_t>(random() % 15);
          ASSERT_TRUE(RaiseTimeBound(path_, *bound_).ok());
          EXPECT_EQ(OpenTable().time_bound(), bound_);
          break;
        default:
          ASSERT_TRUE(Append(RandomRows(random, 40)).ok());
      }
      Check(random);
      if (HasFatalFailure()) return;
    }
  }
}

// All parts are equal, so scans, cursors and merges meet many blocks of replaced rows.
TEST_F(MergeRuleTest, ManyVersions) {
  Begin({.deleted_column = kDeleted});
  Rows rows;
  for (int32_t day = 0; day < 3; ++day) {
    for (int i = 0; i < 3000; ++i)
      rows[{day, absl::StrCat("name ", 10000 + i)}] = {.value = i, .deleted = false, .time = {}};
  }
  for (int64_t version = 0; version < 4; ++version) {
    for (auto& [key, row] : rows) row.value = *row.value + 10000;
    if (version == 3) {
      for (auto& [key, row] : rows) row.deleted = key.first == 1;
    }
    ASSERT_TRUE(Append(rows).ok());
  }
  Random random(5);
  const Rows expected = Visible();
  EXPECT_EQ(expected.size(), 6000u);
  CheckScans(OpenTable(), expected, random);
  for (int i = 0; i < (kSanitized ? 3 : 10); ++i) CheckCursor(OpenTable(), expected, random);
  const std::string path = path_;
  const auto report = Compact(path);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows, 6000u);
  EXPECT_EQ(OpenTable().num_rows(), 6000u);
  EXPECT_EQ(Scanned(OpenTable(), {}), expected);
}

TEST_F(MergeRuleTest, RowsOfAPartHaveDifferentKeys) {
  Begin({});
  auto writer = TableWriter::Create(path_, schema_);
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(AppendRow(*writer, {7, "a"}, {.value = i, .deleted = {}, .time = {}}).ok());
  const absl::Status status = writer->Finish();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("row 1"));
  EXPECT_THAT(status.message(), HasSubstr("(7, \"a\")"));
  // Also if the caller appends the keys.
  auto with_keys = TableWriter::Create(directory_.path("other"), schema_);
  ASSERT_TRUE(with_keys.ok());
  const std::string key = BytesOf({7, "a"});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(AppendRow(*with_keys, {7, "a"}, {.value = i, .deleted = {}, .time = {}}).ok());
    const std::string_view keys[] = {key};
    ASSERT_TRUE(
        with_keys->Append(*schema_.key_index(), std::span<const std::string_view>(keys)).ok());
  }
  EXPECT_TRUE(absl::IsInvalidArgument(with_keys->Finish()));
}

TEST_F(MergeRuleTest, SchemasThatDoNotFit) {
  const auto error = [&](const Schema& schema) {
    return std::string(TableWriter::Create(path_, schema).status().message());
  };
  Schema schema = MakeSchema({});
  schema.key_columns.clear();
  EXPECT_THAT(error(schema), HasSubstr("expected key columns"));
  schema = MakeSchema({});
  schema.columns[kDay].type = ColumnType::Double();
  EXPECT_THAT(error(schema), HasSubstr("column day holds floats"));
  EXPECT_THAT(error(MakeSchema({.deleted_column = kValue})), HasSubstr("of type bool"));
  EXPECT_THAT(error(MakeSchema({.deleted_column = 9})), HasSubstr("names column 9"));
  EXPECT_THAT(error(MakeSchema({.time_column = kDay})), HasSubstr("no key column"));
  EXPECT_THAT(error(MakeSchema({.time_column = kDeleted})), HasSubstr("int32 or int64"));
  EXPECT_THAT(std::string(TableWriter::Create(path_, MakeSchema({}),
                                              std::vector<WriterOptions>{
                                                  {.oldest_reader = OldestReader::kVersion0_1}})
                              .status()
                              .message()),
              HasSubstr("a merge rule"));
}

// What counts rows is refused, unless stored rows are asked for.
TEST_F(MergeRuleTest, RowsHaveNoNumbers) {
  Begin({});
  Random random(1);
  while (parts_.size() < 2) ASSERT_TRUE(Append(RandomRows(random, 40)).ok());
  for (const bool stored : {false, true}) {
    const TableReader table = stored ? OpenStored() : OpenTable();
    EXPECT_EQ(table.applies_merge_rule(), !stored);
    const auto expect = [&](const absl::Status& status) {
      EXPECT_EQ(absl::IsFailedPrecondition(status), !stored) << status;
    };
    expect(table.NewCursor<int32_t>(kDay).status());
    expect(table.NewLevelCursor<int32_t>(kDay).status());
    expect(table.Split(kDay, 2).status());
    expect(table.NewMergeCursor({.columns = {}, .parts = std::vector<size_t>{0}}).status());
    expect(RecordReader::Open(table).status());
  }
}

TEST_F(MergeRuleTest, ColumnsOfTheRuleStay) {
  Begin({.deleted_column = kDeleted, .time_column = kTime});
  Random random(2);
  while (parts_.size() < 3) ASSERT_TRUE(Append(RandomRows(random, 40)).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(DropColumns(path_, std::vector<std::string>{"value", "time"})));
  EXPECT_TRUE(absl::IsFailedPrecondition(ColumnsWriter::Replace(path_, {"deleted"}).status()));
  // The rule follows the columns.
  const std::vector<std::string> order = {"time", "value", "deleted", "name", "day"};
  ASSERT_TRUE(ReorderColumns(path_, order).ok());
  ASSERT_TRUE(RenameColumn(path_, "deleted", "gone").ok());
  ASSERT_TRUE(RenameColumn(path_, "gone", "deleted").ok());
  EXPECT_EQ(OpenTable().schema().merge_rule, (MergeRule{.deleted_column = 2, .time_column = 0}));
  bound_ = 15;
  ASSERT_TRUE(RaiseTimeBound(path_, *bound_).ok());
  EXPECT_EQ(Scanned(OpenTable(), {.columns = {{"day", "name", "value", "deleted", "time"}}}),
            Visible());
}

TEST_F(MergeRuleTest, BoundOfTimesOnlyRises) {
  Begin({.time_column = kTime});
  ASSERT_TRUE(Append({{{1, "a"}, {.value = 1, .deleted = {}, .time = 5}}}).ok());
  ASSERT_TRUE(RaiseTimeBound(path_, 5).ok());
  ASSERT_TRUE(RaiseTimeBound(path_, 5).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(RaiseTimeBound(path_, 4)));
  EXPECT_EQ(Scanned(OpenTable(), {}).size(), 1u);
  ASSERT_TRUE(RaiseTimeBound(path_, 6).ok());
  EXPECT_EQ(Scanned(OpenTable(), {}).size(), 0u);
  std::filesystem::remove_all(path_);
  Begin({});
  ASSERT_TRUE(Append({{{1, "a"}, {.value = 1, .deleted = {}, .time = 5}}}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(RaiseTimeBound(path_, 5)));
}

TEST_F(MergeRuleTest, ReplaceAndCommitBringNothingBack) {
  Begin({});
  ASSERT_TRUE(Append({{{1, "a"}, {}}, {{3, "a"}, {}}}).ok());
  ASSERT_TRUE(Append({{{2, "a"}, {}}}).ok());
  ASSERT_TRUE(Append({{{5, "a"}, {}}}).ok());
  const TableReader table = OpenTable();
  const auto replace = [&](size_t part, bool stored) {
    const std::vector<std::string> names = {table.part(part)->name};
    auto writer = stored ? TableWriter::Replace(path_, OpenStored(), names)
                         : TableWriter::Replace(path_, names);
    EXPECT_TRUE(writer.ok()) << writer.status();
    EXPECT_TRUE(AppendRow(*writer, {2, "b"}, {}).ok());
    return writer->Finish();
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(replace(1, false)));
  const CommitPartsOptions commit{.replaced = {table.part(1)->name}};
  EXPECT_TRUE(absl::IsFailedPrecondition(CommitParts(path_, {}, commit).status()));
  EXPECT_TRUE(replace(2, false).ok());  // no older part has such keys
  EXPECT_TRUE(replace(1, true).ok());
}

TEST_F(MergeRuleTest, RepairKeepsTheRuleAndTheBound) {
  Begin({.deleted_column = kDeleted, .time_column = kTime});
  Random random(3);
  while (parts_.size() < 4) ASSERT_TRUE(Append(RandomRows(random, 40)).ok());
  bound_ = 12;
  ASSERT_TRUE(RaiseTimeBound(path_, *bound_).ok());
  const Schema schema = OpenTable().schema();
  std::filesystem::remove(table_file_);
  const auto report = Repair(path_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->complete());
  EXPECT_EQ(OpenTable().schema(), schema);
  EXPECT_EQ(OpenTable().time_bound(), bound_);
  EXPECT_EQ(Scanned(OpenTable(), {}), Visible());
}

TEST_F(MergeRuleTest, SalvageUnderARule) {
  loose_ = true;
  Begin({.deleted_column = kDeleted});
  ASSERT_TRUE(Append({{{1, "a"}, {.value = 1, .deleted = {}, .time = {}}}, {{3, "a"}, {}}}).ok());
  ASSERT_TRUE(Append({{{2, "a"}, {.value = 2, .deleted = {}, .time = {}}}}).ok());
  const std::string file = path_ + "/" + *OpenTable().part_file(1, kValue);
  std::filesystem::resize_file(file, 20);
  RepairOptions options{.salvage = true, .null_lost = true};
  const auto report = Repair(path_, options);  // no row is lost
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->parts[1].state, RepairedPart::State::kSalvaged);
  EXPECT_EQ(Scanned(OpenTable(), {}).size(), 3u);
}

TEST_F(MergeRuleTest, RepairLosesNothingThatHidesRows) {
  loose_ = true;
  Begin({.deleted_column = kDeleted});
  ASSERT_TRUE(Append({{{1, "a"}, {}}, {{2, "a"}, {}}}).ok());
  ASSERT_TRUE(Append({{{2, "a"}, {.value = {}, .deleted = true, .time = {}}}}).ok());
  const std::string file = path_ + "/" + *OpenTable().part_file(1, kDeleted);
  std::filesystem::resize_file(file, 20);
  RepairOptions options{.drop_damaged = true, .dry_run = true};
  const auto plan = Repair(path_, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->parts[1].state, RepairedPart::State::kLeftOut);
  options.dry_run = false;
  const absl::Status refused = Repair(path_, options).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr(OpenTable().part(1)->name));
  options.reader.stored_rows = true;
  ASSERT_TRUE(Repair(path_, options).ok());
  EXPECT_EQ(Scanned(OpenTable(), {}).size(), 2u);
}

TEST_F(MergeRuleTest, CompactMeetsANewKeyInAnOlderPart) {
  Begin({.deleted_column = kDeleted});
  for (int32_t day = 0; day < 3; ++day) ASSERT_TRUE(Append({{{day, "a"}, {}}}).ok());
  const auto now = internal::ReadTable(*TableLocation(path_).storage(), {});
  ASSERT_TRUE(now.ok()) << now.status();
  const std::vector<std::string> names = {OpenTable().part(2)->name};
  const auto edit = [&](int32_t day) {
    const std::string key = BytesOf({day, "a"});
    return internal::EditManifest(**now, {.removed = names, .left_out = {{key, key}}}).status();
  };
  EXPECT_TRUE(absl::IsAborted(edit(1)));
  EXPECT_TRUE(edit(2).ok());
}

// A choice of the program could bring back rows that the rule has replaced.
TEST_F(MergeRuleTest, TheRuleChoosesTheRows) {
  Begin({});
  for (int value = 0; value < 2; ++value)
    ASSERT_TRUE(Append({{{7, "a"}, {.value = value, .deleted = {}, .time = {}}}}).ok());
  const auto report = Compact(path_, {}, {}, [](const auto&, auto, auto&) {
    ADD_FAILURE();
    return absl::OkStatus();
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(report.status())) << report.status();
  EXPECT_THAT(report.status().message(), HasSubstr("has a merge rule"));
  EXPECT_EQ(OpenTable().num_parts(), 2u);
}

TEST_F(MergeRuleTest, AppendMergedKeepsTheBound) {
  Begin({.time_column = kTime});
  ASSERT_TRUE(Append({{{1, "a"}, {.value = {}, .deleted = {}, .time = 5}}}).ok());
  ASSERT_TRUE(RaiseTimeBound(path_, 10).ok());
  for (const bool stored : {false, true}) {
    const TableReader from = stored ? OpenTable().StoredRows() : OpenTable();
    auto to = TableWriter::Create(directory_.path("other"), schema_);
    ASSERT_TRUE(to.ok()) << to.status();
    EXPECT_EQ(absl::IsFailedPrecondition(AppendMerged(from, *to)), !stored);
  }
}

TEST_F(MergeRuleTest, WidenTimeColumn) {
  Begin({.time_column = kTime});
  schema_.columns[kTime].type = ColumnType::Int32();
  ASSERT_TRUE(Append({{{1, "a"}, {.value = 1, .deleted = {}, .time = 5}},
                      {{2, "a"}, {.value = 1, .deleted = {}, .time = 15}}})
                  .ok());
  ASSERT_TRUE(RaiseTimeBound(path_, 10).ok());
  ASSERT_TRUE(WidenColumn(path_, "time", ColumnType::Int64()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(WidenColumn(path_, "time", ColumnType::Int128())));
  auto scan = OpenTable().NewScan({.columns = {{"time"}}});
  ASSERT_TRUE(scan.ok()) << scan.status();
  const auto batch = scan->Next();
  ASSERT_TRUE(batch.ok() && batch->num_rows() == 1) << batch.status();
  EXPECT_EQ(batch->column<int64_t>(0).values[0], 15);
  auto lookup = OpenTable().NewLookup({});
  ASSERT_TRUE(lookup.ok());
  EXPECT_FALSE(*lookup->Contains(std::string_view(BytesOf({1, "a"}))));
  EXPECT_TRUE(*lookup->Contains(std::string_view(BytesOf({2, "a"}))));
}

TEST_F(MergeRuleTest, RecordsAreVerified) {
  auto records = RecordSchema::Create(
      {{.name = "r", .num_children = 2},
       {.name = "key", .type = ColumnType::Int32()},
       {.name = "tags", .repetition = Repetition::kRepeated, .type = ColumnType::Int32()}});
  ASSERT_TRUE(records.ok()) << records.status();
  Schema schema = Schema::OfRecords(*records);
  schema.key_columns = {0};
  schema.merge_rule = MergeRule();
  for (int part = 0; part < 2; ++part) {
    auto writer = CreateOrAppend(path_, schema);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const int32_t keys[] = {1, 2};
    const uint16_t repetition[] = {0, 1, 0}, definition[] = {1, 1, 0};
    ASSERT_TRUE(writer->Append<int32_t>(0, keys).ok());
    ASSERT_TRUE(writer->AppendLevels<int32_t>(1, repetition, definition, keys).ok());
    ASSERT_TRUE(writer->Finish().ok());
  }
  EXPECT_TRUE(VerifyRecords(OpenTable()).ok());
  EXPECT_EQ(OpenTable().StoredRows().num_rows(), 4u);
  auto scan = OpenTable().NewScan({});
  ASSERT_TRUE(scan.ok()) << scan.status();
  const auto batch = scan->Next();
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(batch->num_rows(), 2u);
  EXPECT_EQ(batch->levels<int32_t>(1).values.size(), 2u);
}

TEST_F(MergeRuleTest, ScansCanBeCancelled) {
  Begin({});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Append({{{1, "a"}, {}}, {{3, "a"}, {}}}).ok());
  const std::atomic<bool> cancelled = true;
  auto scan = OpenTable().NewScan({.cancelled = &cancelled});
  ASSERT_TRUE(scan.ok());
  EXPECT_TRUE(absl::IsCancelled(scan->Next().status()));
}

}  // namespace cfile::merge_rule_test
