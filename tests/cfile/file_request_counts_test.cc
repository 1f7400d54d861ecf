// How many requests the readers of a file with latency make.
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/scan.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"
#include "tests/cfile/request_counts.h"

namespace cfile::file_request_counts_test {

using namespace testing_support;  // NOLINT

constexpr uint64_t kBlocks = 31;
constexpr uint64_t kRowsPerBlock = 4000;
constexpr uint64_t kRows = kBlocks * kRowsPerBlock;

// A file with 31 blocks of 32 KB. Each value is the number of its row.
// A reader of this file keeps the last two blocks and the index in memory from the start.
const std::vector<uint8_t>& FileOf31Blocks() {
  static const auto* const file = [] {
    std::vector<int64_t> values(kRows);
    std::iota(values.begin(), values.end(), 0);
    auto* const bytes = new std::vector<uint8_t>;
    auto writer = *Writer<int64_t>::Create(NewMemorySink(bytes), ColumnType::Int64(),
                                           {.encoding = Encoding::kPlain,
                                            .compression = Compression::kNone,
                                            .value_index = true,
                                            .block_size_bytes = 1'000'000,
                                            .max_values_per_block = kRowsPerBlock});
    EXPECT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
    return bytes;
  }();
  return *file;
}

// With these options each block is a request of its own.
ReaderOptions OneBlockPerRequest(size_t max_requests_in_flight = 16) {
  return {.block_cache = std::make_shared<BlockCache>(size_t{64} << 20),
          .read_ahead_bytes = kRowsPerBlock * 8 + 100,
          .max_requests_in_flight = max_requests_in_flight};
}

Row File(const std::string& options_name, const ReaderOptions& options, std::vector<Step> steps) {
  const auto open = [options] {
    Target target{.trips = std::make_shared<Trips>(/*of_storage=*/false)};
    target.file.emplace(
        *Reader::Open(std::make_shared<ScriptedSource>(
                          NewMemoryViewSource(FileOf31Blocks()),
                          [trips = target.trips](const IoCall& call) { return trips->Call(call); }),
                      options));
    return target;
  };
  const bool alone = options.max_requests_in_flight <= 1;
  steps.insert(steps.begin(), Step{"open", alone ? 2 : 1, 2, {}, [](Target&) {}});
  return {absl::StrCat("a file, ", options_name), open, std::move(steps)};
}
Row File(std::vector<Step> steps) {
  return File("one block per request", OneBlockPerRequest(), std::move(steps));
}

// Reads `next`() until it is empty. EXPECTs all rows.
template <typename Next>
void ExpectAllRows(const Next& next) {
  uint64_t rows = 0;
  while (const uint64_t more = next()) rows += more;
  EXPECT_EQ(rows, kRows);
}

void ReadAll(Target& target) { EXPECT_EQ(target.file->Read<int64_t>()->batch().size(), kRows); }

void TakeFromAllBlocks(Target& target) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> ordinals(1000);
  for (size_t i = 0; i < ordinals.size(); ++i)
    ordinals[i] = i % kBlocks * kRowsPerBlock + random() % kRowsPerBlock;
  OwnedBatch<int64_t> taken;
  ASSERT_TRUE(target.file->Take<int64_t>(ordinals, taken).ok());
  for (size_t i = 0; i < ordinals.size(); ++i)
    ASSERT_EQ(taken.batch().values[i], static_cast<int64_t>(ordinals[i]));
}

void SeekMany(Target& target) {
  std::vector<int64_t> keys(1000);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<int64_t>((i * 7) % kBlocks * kRowsPerBlock + i);
  std::vector<KeyPosition> positions(keys.size());
  ASSERT_TRUE(target.Of31Blocks().SeekMany(keys, positions).ok());
  for (size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(positions[i].ordinal, static_cast<uint64_t>(keys[i]));
}

std::vector<Row> RowsOfFiles() {
  const auto index = [](Target& target) {
    uint64_t blocks = 0;
    const auto count = [&](const BlockInfo&) { return ++blocks > 0; };
    ASSERT_TRUE(VisitBlocks(*target.file, count).ok());
    ASSERT_EQ(blocks, kBlocks);
  };
  const auto next = [](Target& target) {
    auto cursor = *target.file->NewCursor<int64_t>();
    ExpectAllRows([&] { return cursor.Next(1000)->size(); });
  };
  const auto levels = [](Target& target) {
    auto cursor = *target.file->NewLevelCursor<int64_t>();
    ExpectAllRows([&] { return cursor.Next(1000)->num_records; });
  };
  const auto scan_all = [](Target& target) {
    auto scan = *target.file->NewScan<int64_t>(Predicate<int64_t>::IsNotNull());
    ExpectAllRows([&] { return scan.Next()->size(); });
  };
  const auto previous = [](Target& target) {
    auto cursor = *target.file->NewCursor<int64_t>();
    ASSERT_TRUE(cursor.SeekToOrdinal(kRows).ok());
    ExpectAllRows([&] {
      const auto batch = *cursor.Previous(1000);
      EXPECT_TRUE(batch.empty() || batch.values[0] == static_cast<int64_t>(cursor.ordinal()));
      return batch.size();
    });
  };
  std::vector<Row> rows = {File("default options", {}, {})};
  // A scan makes 1, 2, 4 and 8 requests at once, and then those for the rest of the 31 blocks. The
  // reader has up to two blocks since it opened the file.
  const Limits rounds = {3, 6}, at_once = {14, 16};
  rows.push_back(File({{"index", {}, {}, {}, index},
                       {"Cursor", rounds, {}, at_once, next},
                       {"Read", rounds, {}, at_once, ReadAll},
                       {"LevelCursor", rounds, {}, at_once, levels},
                       {"Scan", rounds, {}, at_once, scan_all},
                       {"Previous", rounds, {}, at_once, previous},
                       {"TableScan", rounds, {}, at_once, ScanRows({}, kRows)},
                       {"backward", rounds, {}, at_once, ScanRows({.reverse = true}, kRows)}}));
  rows.back().most_bytes = FileOf31Blocks().size();

  // Short reads read little: no block after the range, even if a larger group of requests would be
  // allowed.
  const OrdinalRange five = {10 * kRowsPerBlock, 15 * kRowsPerBlock};
  const OrdinalRange four = {16 * kRowsPerBlock, 20 * kRowsPerBlock};
  const auto ten_rows = [](Target& target) {
    ASSERT_EQ(target.Of31Blocks().Next(10)->size(), 10u);
  };
  const auto batches = [=](Target& target) {
    ASSERT_TRUE(target.Of31Blocks().SeekToRange(five).ok());
    for (const auto& batch : target.Of31Blocks().Batches()) ASSERT_TRUE(batch.ok());
  };
  const auto forward = [=](Target& target) {
    Cursor<int64_t>& cursor = target.Of31Blocks();
    ASSERT_TRUE(cursor.SeekToRange(five).ok());
    while (cursor.ordinal() < five.end) ASSERT_TRUE(cursor.Next(kRowsPerBlock).ok());
  };
  const auto backward = [=](Target& target) {
    Cursor<int64_t>& cursor = target.Of31Blocks();
    while (cursor.ordinal() > five.begin) ASSERT_TRUE(cursor.Previous(kRowsPerBlock).ok());
  };
  const auto get = [](Target& target) {
    EXPECT_EQ(*target.Of31Blocks().Get(22 * kRowsPerBlock), 22 * kRowsPerBlock);
  };
  const auto last = [=](uint64_t limit) {
    return ScanRows({.range = four, .limit = limit, .reverse = true}, limit);
  };
  rows.push_back(File({{"10 rows", {}, 1, {}, ten_rows},
                       {"5 blocks", {}, 5, {}, batches},
                       {"scan 4 blocks", {}, 4, {}, ScanRows({.range = four}, four.size())},
                       {"5 blocks forward", {}, {}, {}, forward},
                       {"and backward", {}, AtMost(5), {}, backward},
                       {"10 rows backward", {}, 1, {}, last(10)},
                       {"4 blocks backward", {}, 2, {}, last(four.size())},  // two are in the cache
                       {"a lookup", {}, 1, {}, get}}));

  rows.push_back(File({{"Take from 31 blocks", AtMost(5), {}, 16, TakeFromAllBlocks}}));
  // Take reads only the wanted blocks, and no block that is in the cache. After Take, a seek reads
  // only the block that it needs.
  const auto take_few = [](Target& target) {
    OwnedBatch<int64_t> taken;
    const std::vector<uint64_t> few = {1, 5 * kRowsPerBlock, 20 * kRowsPerBlock};
    ASSERT_TRUE(target.Of31Blocks().Take(few, taken).ok());
  };
  const auto seek = [](Target& target) {
    ASSERT_TRUE(target.Of31Blocks().SeekToOrdinal(10 * kRowsPerBlock).ok());
  };
  rows.push_back(File({{"Take from 3 blocks", 1, 3, {}, take_few},
                       {"again", 0, 0, {}, take_few},
                       {"seek", 1, 1, {}, seek}}));
  rows.push_back(File({{"SeekMany", AtMost(5), {}, 16, SeekMany}}));

  // A scan with a filter reads only blocks with matches, several at once. If nearly all rows match,
  // the groups of requests double as in a scan without a filter. The filter reads the first and the
  // last key, and then its blocks.
  std::vector<Literal> few;  // one row in each block, so that the filter must read all blocks
  for (uint64_t block = 0; block < kBlocks; ++block)
    few.push_back(static_cast<int64_t>(block * kRowsPerBlock + 17));
  const Filter in = In("value", few), out = Not(in);
  const OrdinalRange range{4 * kRowsPerBlock, 8 * kRowsPerBlock};
  for (const bool reverse : {false, true}) {
    const TableScanOptions options[] = {
        {.where = in, .reverse = reverse},
        {.columns = std::vector<std::string>{}, .where = out, .reverse = reverse},
        {.where = out, .reverse = reverse},
        {.where = out, .range = range, .reverse = reverse},
    };
    rows.push_back(File(
        {{"few rows", AtMost(2 + 6 + (reverse ? 6 : 5)), {}, {}, ScanRows(options[0], kBlocks)}}));
    rows.push_back(
        File({{"filter alone", AtMost(2 + 6), {}, {}, ScanRows(options[1], kRows - kBlocks)}}));
    rows.push_back(
        File({{"many rows", AtMost(2 + 6 + 7), {}, {}, ScanRows(options[2], kRows - kBlocks)}}));
    rows.push_back(File(
        {{"many rows of a range", {}, AtMost(10), {}, ScanRows(options[3], range.size() - 4)}}));
  }

  for (const size_t most : {size_t{0}, size_t{1}, size_t{3}, SIZE_MAX}) {
    const Limits limits = most < 2 ? Limits(1) : Limits(2, most);
    rows.push_back(File(absl::StrCat("at most ", most, " requests"), OneBlockPerRequest(most),
                        {{"Read", {}, {}, limits, ReadAll}}));
  }
  // If blocks are larger than read_ahead_bytes, they are requested one at a time.
  ReaderOptions options = OneBlockPerRequest();
  options.read_ahead_bytes = 1;
  rows.push_back(File("large blocks", options, {{"Read", {}, {}, 1, ReadAll}}));
  return rows;
}

TEST(FileRequestCounts, OfFiles) { ExpectCounts(RowsOfFiles()); }

}  // namespace cfile::file_request_counts_test
