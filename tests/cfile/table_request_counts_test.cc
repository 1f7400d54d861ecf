// How many requests the readers of a table with latency make.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gtest/gtest.h"
#include "tests/cfile/request_counts.h"

namespace cfile::table_request_counts_test {

using namespace testing_support;  // NOLINT

constexpr uint64_t kRowsPerPart = 40'000;

// The value of a column that cannot be compressed to a small file, so that blocks are not in the
// ends of the file.
int64_t Mixed(uint64_t row) { return static_cast<int64_t>(row * 0x9E3779B97F4A7C15u >> 1); }

struct Form {
  size_t num_parts;
  bool compound = false;  // "key" and "a" are key columns; otherwise "key" has a value index
  bool opens_whole = false;
  uint64_t rows_per_part = kRowsPerPart;
  bool packed = false;
};

// Returns a table with a sorted column "key" and the columns "a", "b" and "c", in blocks of 16 KiB.
std::shared_ptr<Storage> TableOf(const Form& form) {
  using Key = std::tuple<size_t, bool, uint64_t, bool>;
  static auto& tables = *new std::map<Key, std::shared_ptr<Storage>>;
  std::shared_ptr<Storage>& storage =
      tables[{form.num_parts, form.compound, form.rows_per_part, form.packed}];
  if (storage != nullptr) return storage;
  storage = NewMemoryStorage();
  Schema schema;
  for (const char* name : {"key", "a", "b", "c"})
    schema.columns.push_back({.name = name, .type = ColumnType::Int64()});
  if (form.compound) schema.key_columns = {0, 1};
  WriterOptions options{.encoding = Encoding::kPlain,
                        .block_size_bytes = 16 << 10,
                        .max_packed_part_bytes = form.packed ? SIZE_MAX : 0};
  std::vector<WriterOptions> column_options(4, options);
  column_options[0].value_index = !form.compound;
  for (size_t part = 0; part < form.num_parts; ++part) {
    auto writer = part == 0 ? TableWriter::Create(storage, schema, column_options)
                            : TableWriter::Open(storage, column_options);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (size_t column = 0; column < 4; ++column) {
      std::vector<int64_t> values(form.rows_per_part);
      for (uint64_t i = 0; i < form.rows_per_part; ++i) {
        const uint64_t row = part * form.rows_per_part + i;
        values[i] = column == 0 ? static_cast<int64_t>(2 * row) : Mixed(row + column);
      }
      EXPECT_TRUE(writer->Append<int64_t>(column, values).ok());
    }
    const absl::Status status = writer->Finish();
    EXPECT_TRUE(status.ok()) << status;
  }
  return storage;
}

Row Table(const Form& form, const ReaderOptions& options, std::vector<Step> steps) {
  const auto open = [=] {
    Target target{.trips = std::make_shared<Trips>(/*of_storage=*/true)};
    const auto storage = std::make_shared<ScriptedStorage>(
        TableOf(form), [trips = target.trips](const IoCall& call) { return trips->Call(call); });
    storage->is_remote = true;
    storage->opens_whole = form.opens_whole;
    auto table = TableReader::Open(storage, options);
    EXPECT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->num_parts(), form.num_parts);
    target.table.emplace(*std::move(table));
    return target;
  };
  steps.insert(steps.begin(), Step{"open", 1, 1, {}, [](Target&) {}});
  return {absl::StrCat("a table of ", form.num_parts, " parts", form.compound ? ", two keys" : "",
                       form.opens_whole ? ", whole files" : "", form.packed ? ", packed" : ""),
          open, std::move(steps)};
}

// The row and its key are found in part 5. For the first row, a reader has only table.cft.
constexpr uint64_t kFirst = 5 * kRowsPerPart + 20'000;
constexpr uint64_t kSecond = 5 * kRowsPerPart + 30'000;

std::function<void(Target&)> Get(uint64_t row) {
  return [=](Target& target) { EXPECT_EQ(**target.OfColumn(1).Get(row), Mixed(row + 1)); };
}

void ExpectFound(const absl::StatusOr<KeyPosition>& found, uint64_t row) {
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->exact);
  EXPECT_EQ(found->ordinal, row);
}

std::function<void(Target&)> SeekToKey(uint64_t row) {
  return [=](Target& target) {
    ExpectFound(target.OfColumn(0).SeekToKey(static_cast<int64_t>(2 * row)), row);
  };
}

std::function<void(Target&)> SeekToKeys(uint64_t row) {
  return [=](Target& target) {
    const Schema& schema = target.table->schema();
    if (!target.key_cursor)
      target.key_cursor = *target.table->NewCursor<std::string_view>(*schema.key_index());
    CompoundKey key(schema.key_types());
    key.Add(static_cast<int64_t>(2 * row)).Add(Mixed(row + 1));
    ExpectFound(target.key_cursor->SeekToKey(key.bytes()), row);
  };
}

// Takes 1,000 rows of column "a".
std::function<void(Target&)> Take(std::function<uint64_t(uint64_t)> row_of) {
  return [=](Target& target) {
    std::vector<uint64_t> ordinals(1000);
    for (size_t i = 0; i < ordinals.size(); ++i) ordinals[i] = row_of(i);
    OwnedBatch<int64_t> taken;
    ASSERT_TRUE(target.OfColumn(1).Take(ordinals, taken).ok());
    for (size_t i = 0; i < ordinals.size(); ++i)
      ASSERT_EQ(taken.batch().values[i], Mixed(ordinals[i] + 1)) << i;
  };
}

// Divides a scan of 100 parts into ranges of whole parts.
void Divide(Target& target) {
  for (const size_t ranges : {1, 7, 64, 100}) {
    const auto split = target.table->SplitScan({}, ranges);
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_EQ(split->size(), ranges);
    uint64_t row = 0;
    for (const OrdinalRange& range : *split) {
      EXPECT_EQ(range.begin, row);
      EXPECT_EQ(range.begin % kRowsPerPart, 0u);
      EXPECT_LE(range.size(), 100 * kRowsPerPart / ranges + kRowsPerPart);
      row = range.end;
    }
    EXPECT_EQ(row, 100 * kRowsPerPart);
  }
}

// Scans the two halves of a table of 20 parts. A row in the middle is in both scans.
void ScanHalves(Target& target) {
  constexpr uint64_t kMiddle = 10 * kRowsPerPart;
  auto first = *target.table->NewScan({.columns = {{"b"}}, .range = {0, kMiddle + 1}});
  auto second = *target.table->NewScan({.columns = {{"b"}}, .range = {kMiddle - 1, 2 * kMiddle}});
  ASSERT_TRUE(first.Next().ok() && second.Next().ok());
}

std::vector<Row> RowsOfTables() {
  const auto scan_row = [](uint64_t row) {
    return ScanRows({.range = {row, row + 1}}, 1, 2 * row);
  };
  const auto by_key = [](uint64_t row) {
    return ScanRows({.where = Eq("key", static_cast<int64_t>(2 * row))}, 1, 2 * row);
  };
  const auto by_keys = [](uint64_t row) {
    const Filter keys = And(Eq("key", static_cast<int64_t>(2 * row)), Eq("a", Mixed(row + 1)));
    return ScanRows({.where = keys}, 1, 2 * row);
  };
  const auto divide_more = [](Target& target) {
    EXPECT_EQ(target.table->SplitScan({}, 300)->size(), 300u);
  };
  const auto tenth = [](uint64_t i) { return i / 10 * (4 * kRowsPerPart / 100) + i % 10; };
  const auto each_part = [](uint64_t i) { return i % 100 * kRowsPerPart + i; };
  // Every value of "a" must be compared, and about one of 1,000 rows matches.
  const Filter few = Lt("a", INT64_MAX / 1000);
  constexpr uint64_t kAll = 100 * kRowsPerPart, kHalf = kAll / 2;
  const auto all = ScanRows({}, kAll, kAll * (kAll - 1));
  const auto all_of_b = [](uint64_t rows) { return ScanRows({.columns = {{"b"}}}, rows); };
  const ReaderOptions cache = {.block_cache = std::make_shared<BlockCache>(64 << 20)};
  const ReaderOptions none = {.block_cache = std::make_shared<BlockCache>(0)};
  const ReaderOptions short_ranges = {.block_cache = none.block_cache,
                                      .read_ahead_bytes = 16 << 10};
  const ReaderOptions few_requests = {
      .block_cache = none.block_cache, .read_ahead_bytes = 16 << 10, .max_requests_in_flight = 4};
  const Form whole{.num_parts = 100, .opens_whole = true};
  const Form packed{.num_parts = 20, .packed = true};
  const Form packed_keys{.num_parts = 20, .compound = true, .packed = true};
  return {
      // The file, and the block.
      Table({20}, cache, {{"Get", 2, {}, {}, Get(kFirst)}, {"again", 1, {}, {}, Get(kSecond)}}),
      // All columns together.
      Table({20}, cache,
            {{"row", 2, {}, {}, scan_row(kFirst)}, {"again", 1, {}, {}, scan_row(kSecond)}}),
      Table({20}, cache,
            {{"key", 2, {}, {}, SeekToKey(kFirst)}, {"again", 1, {}, {}, SeekToKey(kSecond)}}),
      // The block of the key column, and then those of the other columns.
      Table({20}, cache,
            {{"row by key", AtMost(3), {}, {}, by_key(kFirst)},
             {"again", AtMost(2), {}, {}, by_key(kSecond)}}),
      Table({20, true}, cache,
            {{"keys", 2, {}, {}, SeekToKeys(kFirst)}, {"again", 1, {}, {}, SeekToKeys(kSecond)}}),
      Table({20, true}, cache,
            {{"row by keys", AtMost(4), {}, {}, by_keys(kFirst)},
             {"again", AtMost(2), {}, {}, by_keys(kSecond)}}),
      // The packed file, the ends of the column, and the block.
      Table(packed, cache, {{"Get", 3, {}, {}, Get(kFirst)}, {"again", 1, {}, {}, Get(kSecond)}}),
      Table(packed, cache,
            {{"row", 3, {}, {}, scan_row(kFirst)}, {"again", 1, {}, {}, scan_row(kSecond)}}),
      Table(packed, cache,
            {{"key", 3, {}, {}, SeekToKey(kFirst)}, {"again", 1, {}, {}, SeekToKey(kSecond)}}),
      Table(packed, cache,
            {{"row by key", 4, {}, {}, by_key(kFirst)}, {"again", 2, {}, {}, by_key(kSecond)}}),
      Table(packed_keys, cache,
            {{"keys", 3, {}, {}, SeekToKeys(kFirst)}, {"again", 1, {}, {}, SeekToKeys(kSecond)}}),
      Table(packed_keys, cache,
            {{"row by keys", 4, {}, {}, by_keys(kFirst)}, {"again", 2, {}, {}, by_keys(kSecond)}}),
      // The ends of four files together, and two for the blocks of each file.
      Table({10}, {.block_cache = cache.block_cache, .read_ahead_bytes = 16 << 10},
            {{"Take from 100 blocks", AtMost(9), {}, {}, Take(tenth)}}),
      // 400 files with about 80 blocks each, in one range each. Scans read all columns and the next
      // parts together.
      Table({100}, none, {{"scan", AtMost(32), {}, {12, 64}, all}}),
      Table({100}, none, {{"scan of a column", AtMost(14), {}, AtLeast(12), all_of_b(kAll)}}),
      // 3 * 20 blocks. The first part begins with 1, 2, 4, 8 reads. Then there are up to 16 reads
      // of the part and 16 of those after it.
      Table({3}, short_ranges,
            {{"scan of a column", AtMost(8), {}, {15, 16 + 16}, all_of_b(3 * kRowsPerPart)}}),
      // One for the rows of each part, and some for ends and for "a".
      Table({50}, none,
            {{"filter", AtMost(60), {}, {}, ScanRows({.columns = {{"b"}}, .where = few}, 1999)}}),
      // Small files are read with their opening.
      Table({.num_parts = 30, .rows_per_part = 1000}, cache,
            {{"scan", AtMost(5), 30 * 4, {}, ScanRows({}, 30'000)}}),
      // The chunk, the parts 0, 1 to 4, 5 to 20, and then 16 parts at a time.
      Table(whole, none, {{"scan", AtMost(9), 1 + 400, AtMost(24 * 4), all}}),
      // The caller has chosen the rows, so the scan begins 16 parts at once. While it decodes the
      // first half of these parts, the second half and further parts are being read.
      Table(whole, none,
            {{"half",
              AtMost(1 + 4),
              1 + 200,
              {},
              ScanRows({.range = {0, kHalf}}, kHalf, kHalf * (kHalf - 1))}}),
      // A scan that stops has begun few files.
      Table(whole, none,
            {{"limit",
              {},
              1 + 4,
              {},
              ScanRows({.range = {10, 99 * kRowsPerPart}, .limit = 10}, 10)}}),
      // All scans of a table read a file only once.
      Table({.num_parts = 20, .opens_whole = true}, none, {{"halves", {}, 20, {}, ScanHalves}}),
      // For 64 parts, and for the others.
      Table(whole, cache, {{"Take from 100 parts", AtMost(1 + 2), 1 + 100, {}, Take(each_part)}}),
      // Only the chunk is read. Then parts that are divided are opened together.
      Table({100}, cache,
            {{"SplitScan", 1, {}, {}, Divide}, {"300 ranges", AtMost(4), {}, {}, divide_more}}),
      // There are 245 blocks. Ranges have 1 block at first, then up to 12 blocks. The limit is the
      // memory of 64 ranges of 16 KiB, which 4 requests and one more range in the cursor share. The
      // cursor waits for the fifth.
      Table({.num_parts = 1, .rows_per_part = 500'000}, few_requests,
            {{"scan of 4 MB", {}, AtMost(40), AtMost(4 + 1), all_of_b(500'000)}}),
      Table({50}, cache,
            {{"limit", {}, AtMost(4), {}, ScanRows({.columns = {{"b"}}, .limit = 10}, 10)}}),
  };
}

TEST(TableRequestCounts, OfTables) { ExpectCounts(RowsOfTables()); }

}  // namespace cfile::table_request_counts_test
