#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/inspect.h"
#include "cfile/table.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/table_fixture.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::table_compact_test {

using testing::HasSubstr;

struct Row {
  int64_t key;
  int64_t id;  // counts the rows in the order in which they were written
  std::optional<std::string> text;
  std::vector<int32_t> list;
  friend bool operator==(const Row&, const Row&) = default;
};

enum class Sorted { kNo, kByValueIndex, kByCompoundKey };

class CompactTest : public testing::TestWithParam<Sorted> {
 protected:
  void Write(size_t num_rows, std::mt19937_64& random, uint64_t num_keys = 3000) {
    const auto tree = RecordSchema::Parse(
        "message r { required int64 key; required int64 id; optional string text; "
        "repeated int32 list }");
    ASSERT_TRUE(tree.ok()) << tree.status();
    Schema schema = Schema::OfRecords(*tree);
    if (GetParam() == Sorted::kByCompoundKey) schema.key_columns = {0};
    std::vector<WriterOptions> options(4, {.block_size_bytes = 900});
    options[0].value_index = GetParam() == Sorted::kByValueIndex;
    auto writer = CreateOrAppend(path_, schema, options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    std::vector<int64_t> keys, ids;
    for (size_t i = 0; i < num_rows; ++i) keys.push_back(static_cast<int64_t>(random() % num_keys));
    if (GetParam() != Sorted::kNo) std::sort(keys.begin(), keys.end());
    std::vector<std::string> texts, compound;
    std::vector<uint16_t> text_levels, repetition, definition;
    std::vector<int32_t> elements;
    for (const int64_t key : keys) {
      Row row{.key = key, .id = static_cast<int64_t>(rows_.size())};
      if (random() % 5 != 0) row.text = absl::StrCat("text ", random() % 1000);
      for (size_t n = random() % 3; n > 0; --n) row.list.push_back(static_cast<int32_t>(n));
      ids.push_back(row.id);
      text_levels.push_back(row.text.has_value());
      if (row.text) texts.push_back(*row.text);
      repetition.push_back(0);
      definition.push_back(!row.list.empty());
      for (size_t k = 1; k < row.list.size(); ++k) {
        repetition.push_back(1);
        definition.push_back(1);
      }
      elements.insert(elements.end(), row.list.begin(), row.list.end());
      CompoundKey bytes({ColumnType::Int64()});
      compound.emplace_back(bytes.Add<int64_t>(key).bytes());
      rows_.push_back(std::move(row));
    }
    const std::vector<std::string_view> text_views(texts.begin(), texts.end());
    const std::vector<std::string_view> key_views(compound.begin(), compound.end());
    ASSERT_EQ(writer->Append<int64_t>(0, keys), absl::OkStatus());
    ASSERT_EQ(writer->Append<int64_t>(1, ids), absl::OkStatus());
    ASSERT_EQ(writer->AppendLevels<std::string_view>(2, {}, text_levels, text_views),
              absl::OkStatus());
    ASSERT_EQ(writer->AppendLevels<int32_t>(3, repetition, definition, elements), absl::OkStatus());
    if (GetParam() == Sorted::kByCompoundKey) {
      ASSERT_EQ(writer->Append<std::string_view>(4, key_views), absl::OkStatus());
    }
    ASSERT_EQ(writer->Finish(), absl::OkStatus());
  }

  static std::vector<Row> Read(const TableReader& table) {
    std::vector<Row> rows;
    auto scan = table.NewScan({});
    EXPECT_TRUE(scan.ok()) << scan.status();
    for (const auto& batch : scan->Batches()) {
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok()) break;
      const size_t begin = rows.size();
      const Batch<std::string_view>& texts = batch->column<std::string_view>(2);
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        Row& row = rows.emplace_back();
        row.key = batch->column<int64_t>(0).values[i];
        row.id = batch->column<int64_t>(1).values[i];
        if (texts.IsValid(i)) row.text = std::string(texts.values[i]);
      }
      const LevelBatch<int32_t>& lists = batch->levels<int32_t>(3);
      size_t row = begin;
      size_t value = 0;
      for (size_t i = 0; i < lists.num_entries; ++i) {
        if (i > 0 && lists.repetition[i] == 0) ++row;
        if (lists.definition[i] == 1) rows[row].list.push_back(lists.values[value++]);
      }
    }
    return rows;
  }

  // The rows in the order that Compact gives them.
  std::vector<Row> Expected() const {
    std::vector<Row> rows = rows_;
    if (GetParam() != Sorted::kNo) {
      std::stable_sort(rows.begin(), rows.end(),
                       [](const Row& a, const Row& b) { return a.key < b.key; });
    }
    return rows;
  }

  TableReader Open() const { return TableReader::Open(path_).value(); }

  static std::vector<std::string> Names(const TableReader& table, size_t begin, size_t end) {
    std::vector<std::string> names;
    for (size_t part = begin; part < end; ++part) names.push_back(table.part(part)->name);
    return names;
  }

  // Returns the rows of a copy of the table after Compact(copy, {}, {}, kept).
  template <typename Kept>
  std::vector<Row> Compacted(const std::string& name, const Kept& kept) const {
    const std::string copy = directory_.path(name);
    std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
    const auto report = Compact(copy, {}, {}, kept);
    EXPECT_TRUE(report.ok()) << report.status();
    return Read(TableReader::Open(copy).value());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
  std::vector<Row> rows_;
};

TEST_P(CompactTest, MergesAllParts) {
  std::mt19937_64 random(3);
  for (const size_t rows : {2000, 0, 1, 3000, 500}) Write(rows, random);
  const TableReader before = Open();
  ASSERT_EQ(Compact(path_).status(), absl::OkStatus());
  const TableReader after = Open();
  EXPECT_EQ(after.num_parts(), 1u);
  EXPECT_EQ(Read(after), Expected());
  std::vector<size_t> columns = {0, 1, 2, 3};
  if (after.schema().key_index()) columns.push_back(*after.schema().key_index());
  for (const size_t column : columns) EXPECT_TRUE(after.VerifyColumn(0, column).ok()) << column;
  EXPECT_EQ(after.has_value_index(0).value(), GetParam() == Sorted::kByValueIndex);
  // A reader that was open keeps the rows as they were.
  EXPECT_EQ(before.num_parts(), 5u);
  EXPECT_EQ(Read(before), rows_);
  // One part needs no merging.
  const std::string name = after.part(0)->name;
  ASSERT_EQ(Compact(path_).status(), absl::OkStatus());
  EXPECT_EQ(Open().part(0)->name, name);
}

TEST_P(CompactTest, CopiesBlocks) {
  std::mt19937_64 random(7);
  for (const size_t rows : {2000, 0, 1, 3000, 500}) Write(rows, random);
  const WriterOptions options = {.block_size_bytes = 900};
  const auto report = Compact(path_, {}, {&options, 1});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows, rows_.size());
  // Sorted parts overlap here, so the rows of a block do not stay together and cannot be copied.
  EXPECT_EQ(report->copied_blocks > 20, GetParam() == Sorted::kNo);
  EXPECT_GT(report->recoded_blocks, 0u);
  const TableReader table = Open();
  EXPECT_EQ(Read(table), Expected());
  for (size_t column = 0; column < 4; ++column) {
    const VerifyReport verified = table.VerifyColumn(0, column);
    EXPECT_TRUE(verified.ok()) << column << ": " << verified.damages[0].status;
  }
  // Merging an empty part changes no rows. So all blocks can be copied, also those of the lists.
  Write(0, random);
  const auto again = Compact(path_, {}, {&options, 1});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(again->copied_blocks, 30u);
  EXPECT_EQ(Read(Open()), Expected());
  EXPECT_TRUE(Open().VerifyColumn(0, 3).ok());
}

TEST_P(CompactTest, MergesChosenParts) {
  std::mt19937_64 random(4);
  for (const size_t rows : {300, 400, 500, 600}) Write(rows, random);
  const TableReader before = Open();
  const std::vector<std::string> names = {before.part(1)->name, before.part(2)->name};
  ASSERT_EQ(Compact(path_, names).status(), absl::OkStatus());
  const TableReader after = Open();
  ASSERT_EQ(after.num_parts(), 3u);
  std::vector<Row> read = Read(after);
  std::vector<Row> expected = rows_;
  const auto by_id = [](const Row& a, const Row& b) { return a.id < b.id; };
  std::sort(read.begin(), read.end(), by_id);
  EXPECT_EQ(read, expected);
  const std::vector<std::string> unknown = {"part-x"};
  const absl::Status status = Compact(path_, unknown).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("the table has no part part-x"));
}

TEST_P(CompactTest, RefusesPartsThatAreNotNeighbours) {
  std::mt19937_64 random(5);
  for (const size_t rows : {30, 40, 0, 60}) Write(rows, random);
  const TableReader before = Open();
  std::vector<std::string> names;
  for (size_t part = 0; part < 4; ++part) names.push_back(before.part(part)->name);
  const std::vector<std::vector<std::string>> choices = {
      {names[0], names[2]}, {names[3], names[1]}, {names[3], names[0], names[2]}};
  for (const std::vector<std::string>& chosen : choices) {
    const absl::Status status = Compact(path_, chosen).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(
        std::string(status.message()),
        HasSubstr(chosen[0] == names[3] && chosen.size() == 2
                      ? "part " + names[2] + " is between the parts " + names[1] + " and "
                      : "part " + names[1] + " is between the parts " + names[0] + " and "));
    EXPECT_EQ(Read(Open()), rows_);
  }
  ASSERT_EQ(Compact(path_, std::vector{names[3], names[1], names[2]}).status(), absl::OkStatus());
  EXPECT_EQ(Open().num_parts(), 2u);
}

// Rows with equal keys keep the order of the parts when rows below a key are removed.
TEST_P(CompactTest, DropRowsBelowKeepsTheOrderOfVersions) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(8);
  for (int round = 0; round < 30; ++round) {
    const std::string path = directory_.path(absl::StrCat("versions", round));
    Schema schema = {.columns = {{.name = "key", .type = ColumnType::Int64()},
                                 {.name = "version", .type = ColumnType::Int64()}}};
    std::vector<WriterOptions> options(2);
    if (GetParam() == Sorted::kByCompoundKey) {
      schema.key_columns = {0};
    } else {
      options[0].value_index = true;
    }
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int64_t version = 0; version < 6; ++version) {
      auto writer = version == 0 ? TableWriter::Create(path, schema, options)
                                 : TableWriter::Open(path, options);
      std::vector<int64_t> keys;
      const int64_t low = static_cast<int64_t>(random() % 20);
      for (int64_t key = low; key < 20 && keys.size() < 1 + random() % 12; ++key)
        keys.push_back(key);
      const std::vector<int64_t> versions(keys.size(), version);
      ASSERT_TRUE(writer->Append<int64_t>(0, keys).ok() &&
                  writer->Append<int64_t>(1, versions).ok() && writer->Finish().ok());
      for (const int64_t key : keys) {
        if (key >= 9) rows.emplace_back(key, version);
      }
    }
    if (schema.key_index()) {
      CompoundKey key({ColumnType::Int64()});
      ASSERT_EQ(DropRowsBelow<std::string_view>(path, 2, key.Add<int64_t>(9).bytes()),
                absl::OkStatus());
    } else {
      ASSERT_EQ(DropRowsBelow<int64_t>(path, 0, 9), absl::OkStatus());
    }
    std::vector<std::pair<int64_t, int64_t>> found;
    const TableReader table = TableReader::Open(path).value();
    auto scan = table.NewScan({});
    for (const auto& batch : scan->Batches()) {
      ASSERT_TRUE(batch.ok());
      for (size_t i = 0; i < batch->num_rows(); ++i) {
        found.emplace_back(batch->column<int64_t>(0).values[i],
                           batch->column<int64_t>(1).values[i]);
      }
    }
    const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(found.begin(), found.end(), by_key);
    std::stable_sort(rows.begin(), rows.end(), by_key);
    EXPECT_EQ(found, rows) << round;
  }
}

TEST_P(CompactTest, AppendsMergedRowsToAnotherTable) {
  std::mt19937_64 random(6);
  for (const size_t rows : {2000, 0, 1, 3000}) Write(rows, random);
  const TableReader from = Open();
  std::vector<WriterOptions> options(4);
  options[0].value_index = GetParam() == Sorted::kByValueIndex;
  const std::string path = directory_.path("merged");
  auto to = TableWriter::Create(path, from.schema(), options);
  ASSERT_TRUE(to.ok()) << to.status();
  uint64_t last = 0;
  const auto progress = [&](uint64_t rows) {
    EXPECT_GE(rows, last);
    last = rows;
    return absl::OkStatus();
  };
  ASSERT_EQ(AppendMerged(from, *to, progress), absl::OkStatus());
  EXPECT_EQ(last, rows_.size());
  ASSERT_EQ(to->Finish(), absl::OkStatus());
  EXPECT_EQ(Read(TableReader::Open(path).value()), Expected());

  auto more = TableWriter::Open(path, options);
  ASSERT_TRUE(more.ok()) << more.status();
  const absl::Status stop = absl::CancelledError("stop");
  EXPECT_EQ(AppendMerged(from, *more, [&](uint64_t) { return stop; }), stop);
  const Schema other = {.columns = {{.name = "key", .type = ColumnType::Int64()}}};
  auto wrong = TableWriter::Create(directory_.path("other"), other);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  const absl::Status status = AppendMerged(from, *wrong);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("has another schema"));
}

TEST_P(CompactTest, DropsRowsBelowAKey) {
  std::mt19937_64 random(5);
  for (const size_t rows : {700, 0, 800, 900}) Write(rows, random);
  const auto drop = [&](int64_t key) {
    CompoundKey bytes({ColumnType::Int64()});
    bytes.Add<int64_t>(key);
    return GetParam() == Sorted::kByCompoundKey
               ? DropRowsBelow<std::string_view>(path_, 4, bytes.bytes())
               : DropRowsBelow<int64_t>(path_, 0, key);
  };
  if (GetParam() == Sorted::kNo) {
    const absl::Status status = drop(1);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("the table is not sorted by this column"));
    return;
  }
  const TableReader before = Open();
  ASSERT_EQ(drop(-1), absl::OkStatus());
  EXPECT_EQ(Open().num_parts(), 4u);
  for (const int64_t key : {1000, 1000, 1700, 5000}) {
    ASSERT_EQ(drop(key), absl::OkStatus());
    std::vector<Row> expected;
    for (const Row& row : Expected()) {
      if (row.key >= key) expected.push_back(row);
    }
    std::vector<Row> read = Read(Open());
    std::stable_sort(read.begin(), read.end(),
                     [](const Row& a, const Row& b) { return a.key < b.key; });
    EXPECT_EQ(read, expected) << key;
  }
  EXPECT_EQ(Open().num_rows(), 0u);
  EXPECT_EQ(Read(before), rows_);
}

// The program chooses rows by their values, until one part is left and then some more rounds.
TEST_P(CompactTest, TheProgramChoosesRows) {
  std::mt19937_64 random(11);
  for (const size_t rows : {300, 400, 0, 500, 1, 600}) Write(rows, random, 200);
  for (uint64_t round = 0, alone = 0; alone < 2; ++round) {
    const TableReader before = Open();
    const std::vector<Row> rows = Read(before);
    const size_t begin = random() % before.num_parts();
    const size_t end = begin + 1 + random() % (before.num_parts() - begin);
    alone += before.num_parts() == 1;
    const auto first = static_cast<ptrdiff_t>(before.part(begin)->first_ordinal);
    ptrdiff_t last = first;
    for (size_t part = begin; part < end; ++part)
      last += static_cast<ptrdiff_t>(before.part(part)->num_rows);
    std::map<int64_t, std::vector<uint64_t>> of_key;  // the ordinals of the merged rows
    for (ptrdiff_t row = first; row < last; ++row)
      of_key[rows[static_cast<size_t>(row)].key].push_back(static_cast<uint64_t>(row));
    const auto stays = [&](int64_t id) {
      return (static_cast<uint64_t>(id) * 7 + round) * 2'654'435'761 % 1000 < 700;
    };
    std::vector<Row> expected(rows.begin(), rows.begin() + first);
    for (const auto& [key, ordinals] : of_key) {
      for (const uint64_t ordinal : ordinals) {
        if (stays(rows[ordinal].id)) expected.push_back(rows[ordinal]);
      }
    }
    const size_t kept_rows = expected.size() - static_cast<size_t>(first);
    expected.insert(expected.end(), rows.begin() + last, rows.end());

    auto next = of_key.begin();
    std::optional<TableCursor<int64_t>> ids;
    const auto report =
        Compact(path_, Names(before, begin, end), {},
                [&](const TableReader& table, std::span<const uint64_t> ordinals,
                    std::vector<bool>& kept) -> absl::Status {
                  EXPECT_EQ(kept, std::vector<bool>(ordinals.size(), true));
                  if (next == of_key.end()) return absl::InternalError("no key is left");
                  EXPECT_EQ(std::vector(ordinals.begin(), ordinals.end()), next++->second);
                  if (!ids) ids = table.NewCursor<int64_t>(1).value();
                  for (size_t i = 0; i < ordinals.size(); ++i)
                    kept[i] = stays(**ids->Get(ordinals[i]));
                  return absl::OkStatus();
                });
    if (GetParam() == Sorted::kNo) {
      EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(report.status().message(), HasSubstr("has neither key columns nor a column"));
      EXPECT_EQ(Read(Open()), rows);
      return;
    }
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(next == of_key.end());
    EXPECT_EQ(report->rows, kept_rows);
    EXPECT_EQ(report->copied_blocks, 0u);
    const TableReader after = Open();
    EXPECT_EQ(after.num_parts(), before.num_parts() - (end - begin) + 1);
    EXPECT_EQ(Read(after), expected) << round;
    for (size_t column = 0; column < 4; ++column)
      EXPECT_TRUE(after.VerifyColumn(begin, column).ok()) << column;
    EXPECT_EQ(Read(before), rows);
  }
}

// The merge returns the rows of a key in several batches.
TEST_P(CompactTest, TheProgramChoosesAmongManyRowsOfAKey) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(12);
  for (int part = 0; part < 2; ++part) Write(kMaxBatchRows + 5000, random, 2);
  size_t calls = 0;
  const auto choose = [&](const TableReader&, std::span<const uint64_t> ordinals,
                          std::vector<bool>& kept) {
    ++calls;
    EXPECT_GT(ordinals.size(), kMaxBatchRows);
    EXPECT_TRUE(std::is_sorted(ordinals.begin(), ordinals.end()));
    for (size_t i = 0; i < ordinals.size(); ++i) kept[i] = ordinals[i] / 500 % 3 == 1;
    return absl::OkStatus();
  };
  const auto report = Compact(path_, {}, {}, choose);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(calls, 2u);
  std::vector<Row> expected = Expected();
  std::erase_if(expected, [](const Row& row) { return row.id / 500 % 3 != 1; });
  EXPECT_EQ(Read(Open()), expected);
}

TEST_P(CompactTest, ChoicesThatAreLikeOtherCompactions) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(13);
  for (const size_t rows : {300, 0, 400, 500}) Write(rows, random, 200);
  const auto all = [](const TableReader&, std::span<const uint64_t>, std::vector<bool>&) {
    return absl::OkStatus();
  };
  EXPECT_EQ(Compacted("all", KeptRows::kAll), Expected());
  EXPECT_EQ(Compacted("all chosen", all), Expected());
  const auto last = [](const TableReader&, std::span<const uint64_t>, std::vector<bool>& kept) {
    std::fill(kept.begin(), kept.end() - 1, false);
    return absl::OkStatus();
  };
  const std::vector<Row> newest = Compacted("newest", KeptRows::kNewestOfKey);
  EXPECT_LE(newest.size(), 200u);
  EXPECT_EQ(Compacted("last chosen", last), newest);
}

TEST_P(CompactTest, TheProgramKeepsNoRow) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(14);
  for (const size_t rows : {300, 400}) Write(rows, random);
  const auto none = [](const TableReader&, std::span<const uint64_t>, std::vector<bool>& kept) {
    kept.assign(kept.size(), false);
    return absl::OkStatus();
  };
  const auto report = Compact(path_, {}, {}, none);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows, 0u);
  EXPECT_EQ(Open().num_parts(), 1u);
  EXPECT_EQ(Open().num_rows(), 0u);
  // The table still has its order.
  rows_.clear();
  for (const size_t rows : {200, 300}) Write(rows, random);
  ASSERT_EQ(Compact(path_).status(), absl::OkStatus());
  EXPECT_EQ(Read(Open()), Expected());
  ASSERT_EQ(Compact(path_, {}, {}, none).status(), absl::OkStatus());
  ASSERT_EQ(Compact(path_, {}, {}, none).status(), absl::OkStatus());
  EXPECT_EQ(Open().num_rows(), 0u);
}

TEST_P(CompactTest, TheProgramChoosesForEachRow) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(16);
  for (const size_t rows : {30, 40}) Write(rows, random);
  for (const int change : {-1, 1}) {
    const auto report = Compact(
        path_, {}, {}, [&](const TableReader&, std::span<const uint64_t>, std::vector<bool>& kept) {
          kept.resize(kept.size() + static_cast<size_t>(change));
          return absl::OkStatus();
        });
    EXPECT_TRUE(absl::IsInvalidArgument(report.status())) << report.status();
    EXPECT_EQ(Open().num_parts(), 2u);
  }
}

TEST_P(CompactTest, AnErrorOfTheProgramEndsTheCompaction) {
  if (GetParam() == Sorted::kNo) return;
  std::mt19937_64 random(15);
  for (const size_t rows : {300, 400, 500}) Write(rows, random);
  const TableReader before = Open();
  std::set<int64_t> keys;
  for (const Row& row : rows_) keys.insert(row.key);
  const absl::Status stop = absl::CancelledError("stop");
  for (const size_t failing : {size_t{1}, size_t{7}, keys.size()}) {
    size_t calls = 0;
    const auto report = Compact(
        path_, {}, {}, [&](const TableReader&, std::span<const uint64_t>, std::vector<bool>&) {
          return ++calls == failing ? stop : absl::OkStatus();
        });
    EXPECT_EQ(report.status(), stop);
    EXPECT_EQ(calls, failing);
    EXPECT_EQ(Names(Open(), 0, Open().num_parts()), Names(before, 0, 3));
    EXPECT_EQ(Read(Open()), rows_);
    EXPECT_TRUE(CollectGarbage(path_, std::chrono::seconds(0))->empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, CompactTest,
                         testing::Values(Sorted::kNo, Sorted::kByValueIndex,
                                         Sorted::kByCompoundKey));

}  // namespace cfile::table_compact_test
