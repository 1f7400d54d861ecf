// How often readers of a table in an object store have to wait for it, and how many reads are under
// way at the same time.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/compound_key.h"
#include "cfile/key_cursor.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/round_trip_storage.h"

namespace cfile {
namespace {

using testing_support::RoundTripStorage;

constexpr uint64_t kRowsPerPart = 40'000;

// The value of a column that cannot be compressed to a small file, so that blocks are not in the ends
// of the file.
int64_t Mixed(uint64_t row) { return static_cast<int64_t>(row * 0x9E3779B97F4A7C15u >> 1); }

// A table with a sorted column "key" and the columns "a", "b" and "c", in blocks of 16 KiB.
// `compound`: if true, "key" and "a" are key columns. If false, "key" has a value index.
// `opens_whole`: of the storage.
std::shared_ptr<RoundTripStorage> MakeTable(size_t num_parts, bool compound = false,
                                            uint64_t rows_per_part = kRowsPerPart,
                                            bool opens_whole = false) {
  const auto base = NewMemoryStorage();
  Schema schema;
  for (const char* name : {"key", "a", "b", "c"})
    schema.columns.push_back({.name = name, .type = ColumnType::Int64()});
  if (compound) schema.key_columns = {0, 1};
  WriterOptions options{.encoding = Encoding::kPlain, .block_size_bytes = 16 << 10};
  std::vector<WriterOptions> column_options(4, options);
  column_options[0].value_index = !compound;
  for (size_t part = 0; part < num_parts; ++part) {
    auto writer = part == 0 ? TableWriter::Create(base, schema, column_options)
                            : TableWriter::Append(base, column_options);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (size_t column = 0; column < 4; ++column) {
      std::vector<int64_t> values(rows_per_part);
      for (uint64_t i = 0; i < rows_per_part; ++i) {
        const uint64_t row = part * rows_per_part + i;
        values[i] = column == 0 ? static_cast<int64_t>(2 * row) : Mixed(row + column);
      }
      EXPECT_TRUE(writer->Append<int64_t>(column, values).ok());
    }
    const absl::Status status = writer->Finish();
    EXPECT_TRUE(status.ok()) << status;
  }
  return std::make_shared<RoundTripStorage>(base, opens_whole);
}

ReaderOptions WithoutCache() { return {.block_cache = std::make_shared<BlockCache>(0)}; }

TableReader Open(const std::shared_ptr<RoundTripStorage>& storage, ReaderOptions options = {}) {
  if (options.block_cache == nullptr) options.block_cache = std::make_shared<BlockCache>(64 << 20);
  auto table = TableReader::Open(storage, options);
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

// Reads a scan to its end. Returns the sum of the first column, as if the numbers were unsigned.
uint64_t Sum(const TableReader& table, const TableScanOptions& options, uint64_t& rows) {
  auto scan = table.NewScan(options);
  EXPECT_TRUE(scan.ok()) << scan.status();
  uint64_t sum = 0;
  rows = 0;
  for (const auto& batch : scan->Batches()) {
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok()) break;
    rows += batch->num_rows();
    if (scan->columns().empty()) continue;
    for (const int64_t value : batch->template column<int64_t>(0).values)
      sum += static_cast<uint64_t>(value);
  }
  return sum;
}

TEST(RoundTrips, OpeningATableOf100Parts) {
  const auto storage = MakeTable(100);
  const TableReader table = Open(storage);
  EXPECT_EQ(table.num_parts(), 100u);
  EXPECT_EQ(storage->trips().Take(), 1u);
  EXPECT_EQ(storage->trips().TakeRequests(), 1u);
}

TEST(RoundTrips, LookUpByOrdinal) {
  const auto storage = MakeTable(20);
  const TableReader table = Open(storage);
  auto cursor = *table.NewCursor<int64_t>(1);
  EXPECT_EQ(**cursor.Get(5 * kRowsPerPart + 20'000), Mixed(5 * kRowsPerPart + 20'001));
  EXPECT_EQ(storage->trips().Take(), 3u);  // table.cft, the file, the block
  EXPECT_EQ(**cursor.Get(5 * kRowsPerPart + 30'000), Mixed(5 * kRowsPerPart + 30'001));
  EXPECT_EQ(storage->trips().Take(), 1u);
}

TEST(RoundTrips, RowByOrdinal) {
  const auto storage = MakeTable(20);
  const TableReader table = Open(storage);
  for (const auto& [row, expected] : {std::pair<uint64_t, uint64_t>{20'000, 3}, {30'000, 1}}) {
    uint64_t rows = 0;
    const uint64_t ordinal = 5 * kRowsPerPart + row;
    EXPECT_EQ(Sum(table, {.range = {ordinal, ordinal + 1}}, rows), 2 * ordinal);
    EXPECT_EQ(storage->trips().Take(), expected) << row;  // all columns together
  }
}

TEST(RoundTrips, LookUpByKey) {
  const auto storage = MakeTable(20);
  const TableReader table = Open(storage);
  auto cursor = *table.NewCursor<int64_t>(0);
  for (const auto& [row, expected] : {std::pair<uint64_t, uint64_t>{20'000, 3}, {30'000, 1}}) {
    const uint64_t ordinal = 5 * kRowsPerPart + row;
    const auto found = cursor.SeekToKey(static_cast<int64_t>(2 * ordinal));
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->exact);
    EXPECT_EQ(found->ordinal, ordinal);
    EXPECT_EQ(storage->trips().Take(), expected) << row;
  }
}

TEST(RoundTrips, RowByKey) {
  const auto storage = MakeTable(20);
  const TableReader table = Open(storage);
  // Warm, the block of the key column and those of the other columns are read one after the other.
  for (const auto& [row, expected] : {std::pair<uint64_t, uint64_t>{20'000, 4}, {30'000, 2}}) {
    const auto key = static_cast<int64_t>(2 * (5 * kRowsPerPart + row));
    uint64_t rows = 0;
    EXPECT_EQ(Sum(table, {.where = Eq("key", key)}, rows), static_cast<uint64_t>(key));
    EXPECT_EQ(rows, 1u);
    EXPECT_LE(storage->trips().Take(), expected) << row;
  }
}

TEST(RoundTrips, LookUpByCompoundKey) {
  const auto storage = MakeTable(20, /*compound=*/true);
  const TableReader table = Open(storage);
  auto cursor = *table.NewCursor<std::string_view>(*table.schema().key_index());
  for (const auto& [row, expected] : {std::pair<uint64_t, uint64_t>{20'000, 3}, {30'000, 1}}) {
    const uint64_t ordinal = 5 * kRowsPerPart + row;
    CompoundKey key(table.schema().key_types());
    key.Add(static_cast<int64_t>(2 * ordinal)).Add(Mixed(ordinal + 1));
    const auto found = cursor.SeekToKey(key.bytes());
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_TRUE(found->exact);
    EXPECT_EQ(found->ordinal, ordinal);
    EXPECT_EQ(storage->trips().Take(), expected) << row;
  }
}

TEST(RoundTrips, RowByCompoundKey) {
  const auto storage = MakeTable(20, /*compound=*/true);
  const TableReader table = Open(storage);
  // Warm: the block of the keys, and then the blocks of all other columns.
  for (const auto& [row, expected] : {std::pair<uint64_t, uint64_t>{20'000, 5}, {30'000, 2}}) {
    const uint64_t ordinal = 5 * kRowsPerPart + row;
    const auto key = static_cast<int64_t>(2 * ordinal);
    uint64_t rows = 0;
    EXPECT_EQ(Sum(table, {.where = And(Eq("key", key), Eq("a", Mixed(ordinal + 1)))}, rows),
              static_cast<uint64_t>(key));
    EXPECT_EQ(rows, 1u);
    EXPECT_LE(storage->trips().Take(), expected) << row;
  }
}

TEST(RoundTrips, TakeFrom100Blocks) {
  const auto storage = MakeTable(10);
  const TableReader table = Open(storage, {.read_ahead_bytes = 16 << 10});
  std::vector<uint64_t> ordinals(1000);
  for (size_t i = 0; i < ordinals.size(); ++i)
    ordinals[i] = i / 10 * (4 * kRowsPerPart / 100) + i % 10;
  auto cursor = *table.NewCursor<int64_t>(1);
  OwnedBatch<int64_t> taken;
  ASSERT_TRUE(cursor.Take(ordinals, taken).ok());
  EXPECT_EQ(taken.batch().values[999], Mixed(ordinals[999] + 1));
  // table.cft, the ends of four files together, and two for the blocks of each file.
  EXPECT_LE(storage->trips().Take(), 10u);
}

TEST(RoundTrips, ScansReadAllColumnsAndTheNextPartsTogether) {
  const auto storage = MakeTable(100);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().Take();
  uint64_t rows = 0;
  const uint64_t num_rows = 100 * kRowsPerPart;
  EXPECT_EQ(Sum(table, {}, rows), num_rows * (num_rows - 1));
  EXPECT_EQ(rows, num_rows);
  // 400 files with about 80 blocks each, in one range each.
  EXPECT_LE(storage->trips().Take(), 32u);
  const uint64_t most = storage->trips().TakeMostPending();
  EXPECT_GE(most, 12u);
  EXPECT_LE(most, 64u);
}

TEST(RoundTrips, OneColumnOfManyParts) {
  const auto storage = MakeTable(100);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().Take();
  uint64_t rows = 0;
  Sum(table, {.columns = {{"b"}}}, rows);
  EXPECT_EQ(rows, 100 * kRowsPerPart);
  EXPECT_LE(storage->trips().Take(), 14u);
  EXPECT_GE(storage->trips().TakeMostPending(), 12u);
}

TEST(RoundTrips, LargePartsHaveManyReadsUnderWay) {
  const auto storage = MakeTable(3);
  const TableReader table =
      Open(storage, {.block_cache = std::make_shared<BlockCache>(0), .read_ahead_bytes = 16 << 10});
  storage->trips().Take();
  uint64_t rows = 0;
  Sum(table, {.columns = {{"b"}}}, rows);
  EXPECT_EQ(rows, 3 * kRowsPerPart);
  // 3 * 20 blocks. The first part begins with 1, 2, 4, 8 reads.
  EXPECT_LE(storage->trips().Take(), 8u);
  const uint64_t most = storage->trips().TakeMostPending();
  EXPECT_GE(most, 15u);
  EXPECT_LE(most, 16u + 16);  // of the part, and of those after it
}

TEST(RoundTrips, FilteredScans) {
  const auto storage = MakeTable(50);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().Take();
  uint64_t rows = 0;
  // Every value of the column must be compared, and about one of 1,000 rows matches.
  Sum(table, {.columns = {{"b"}}, .where = Lt("a", INT64_MAX / 1000)}, rows);
  EXPECT_GT(rows, 50 * kRowsPerPart / 2000);
  const uint64_t trips = storage->trips().Take();
  EXPECT_LE(trips, 60u);  // one for the rows of each part, and some for ends and for "a"
}

TEST(RoundTrips, SmallFilesAreReadWithTheirOpening) {
  const auto storage = MakeTable(30, /*compound=*/false, /*rows_per_part=*/1000);
  const TableReader table = Open(storage);
  storage->trips().Take();
  storage->trips().TakeRequests();
  uint64_t rows = 0;
  Sum(table, {}, rows);
  EXPECT_EQ(rows, 30'000u);
  EXPECT_EQ(storage->trips().TakeRequests(), 30 * 4u);
  EXPECT_LE(storage->trips().Take(), 5u);
}

// With 100 parts, the table has one chunk. Reading the chunk takes one request.
std::shared_ptr<RoundTripStorage> MakeTableOfWholeFiles(size_t num_parts) {
  return MakeTable(num_parts, /*compound=*/false, kRowsPerPart, /*opens_whole=*/true);
}

TEST(RoundTrips, ScansReadWholeFiles) {
  const auto storage = MakeTableOfWholeFiles(100);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().Take();
  storage->trips().TakeRequests();
  uint64_t rows = 0;
  const uint64_t num_rows = 100 * kRowsPerPart;
  EXPECT_EQ(Sum(table, {}, rows), num_rows * (num_rows - 1));
  EXPECT_EQ(storage->trips().TakeRequests(), 1 + 400u);
  // The chunk, the parts 0, 1 to 4, 5 to 20, and then 16 parts at a time.
  EXPECT_LE(storage->trips().Take(), 9u);
  EXPECT_LE(storage->trips().TakeMostPending(), 24u * 4);
  // The caller has chosen the rows, so the scan begins 16 parts at once. While it decodes the first
  // half of these parts, the second half and further parts are being read.
  const uint64_t half = num_rows / 2;
  EXPECT_EQ(Sum(Open(storage, WithoutCache()), {.range = {0, half}}, rows), half * (half - 1));
  EXPECT_LE(storage->trips().Take(), 2 + 4u);
  EXPECT_EQ(storage->trips().TakeRequests(), 2 + 200u);
}

TEST(RoundTrips, AScanThatStopsHasBegunFewFiles) {
  const auto storage = MakeTableOfWholeFiles(100);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().TakeRequests();
  uint64_t rows = 0;
  Sum(table, {.range = {10, 99 * kRowsPerPart}, .limit = 10}, rows);
  EXPECT_EQ(rows, 10u);
  EXPECT_EQ(storage->trips().TakeRequests(), 1 + 4u);
}

TEST(RoundTrips, FilesAreReadOnceByAllThreads) {
  const auto storage = MakeTableOfWholeFiles(20);
  const TableReader table = Open(storage, WithoutCache());
  storage->trips().TakeRequests();
  const uint64_t half = 10 * kRowsPerPart;
  auto first = *table.NewScan({.columns = {{"b"}}, .range = {0, half + 1}});
  auto second = *table.NewScan({.columns = {{"b"}}, .range = {half - 1, 2 * half}});
  ASSERT_TRUE(first.Next().ok() && second.Next().ok());
  EXPECT_EQ(storage->trips().TakeRequests(), 20u);
}

TEST(RoundTrips, TakeFrom100Parts) {
  const auto storage = MakeTableOfWholeFiles(100);
  const TableReader table = Open(storage);
  storage->trips().Take();
  storage->trips().TakeRequests();
  std::vector<uint64_t> ordinals(1000);
  for (size_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i % 100 * kRowsPerPart + i;
  auto cursor = *table.NewCursor<int64_t>(1);
  OwnedBatch<int64_t> taken;
  ASSERT_TRUE(cursor.Take(ordinals, taken).ok());
  for (size_t i = 0; i < ordinals.size(); ++i)
    ASSERT_EQ(taken.batch().values[i], Mixed(ordinals[i] + 1)) << i;
  EXPECT_EQ(storage->trips().TakeRequests(), 1 + 100u);
  EXPECT_LE(storage->trips().Take(), 1 + 2u);  // for 64 parts, and for the others
}

TEST(RoundTrips, DividingAScanOpensOnlyLongParts) {
  const auto storage = MakeTable(100);
  const TableReader table = Open(storage);
  storage->trips().Take();
  for (const size_t ranges : {1, 7, 64, 100}) {
    const auto split = table.SplitScan({}, ranges);
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
  EXPECT_EQ(storage->trips().Take(), 1u);  // the chunk
  // Parts that are divided are opened together.
  EXPECT_EQ(table.SplitScan({}, 300)->size(), 300u);
  EXPECT_LE(storage->trips().Take(), 4u);
}

TEST(RoundTrips, RangesGrow) {
  constexpr uint64_t kRows = 500'000;  // 4 MB
  const auto storage = MakeTable(1, /*compound=*/false, kRows);
  const TableReader table = Open(storage, {.block_cache = std::make_shared<BlockCache>(0),
                                           .read_ahead_bytes = 16 << 10,
                                           .max_requests_in_flight = 4});
  storage->trips().TakeRequests();
  uint64_t rows = 0;
  Sum(table, {.columns = {{"b"}}}, rows);
  EXPECT_EQ(rows, kRows);
  // There are 245 blocks. Ranges have 1 block at first, then up to 12 blocks. The limit is the
  // memory of 64 ranges of 16 KiB, which 4 requests and one more range in the cursor share.
  EXPECT_LE(storage->trips().TakeRequests(), 40u);
  EXPECT_LE(storage->trips().TakeMostPending(), 4u + 1);  // the cursor waits for the fifth
}

TEST(RoundTrips, ALimitReadsLittle) {
  const auto storage = MakeTable(50);
  const TableReader table = Open(storage);
  storage->trips().TakeRequests();
  uint64_t rows = 0;
  Sum(table, {.columns = {{"b"}}, .limit = 10}, rows);
  EXPECT_EQ(rows, 10u);
  EXPECT_LE(storage->trips().TakeRequests(), 4u);
}

}  // namespace
}  // namespace cfile
