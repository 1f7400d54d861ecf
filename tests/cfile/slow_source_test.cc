// Tests reads from sources with latency: which requests threads share, what happens if one of
// several requests fails, and what counters say. No test measures time. For the numbers of
// requests, see file_request_counts_test.cc.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/read/cached_blocks.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/inspect.h"
#include "cfile/parts/salvage/hole_filling_source.h"
#include "cfile/reader.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/scripted_io.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::slow_source_test {

using testing::HasSubstr;
using testing_support::IoCall;
using testing_support::MadeToFail;
using testing_support::Script;
using testing_support::ScriptedSource;
using testing_support::ScriptedStorage;
using testing_support::UnreadableByte;

constexpr uint64_t kBlocks = 31;
constexpr uint64_t kRowsPerBlock = 4000;
constexpr uint64_t kRows = kBlocks * kRowsPerBlock;

// Returns a file with 31 blocks of 32 KB. Each value is the number of its row.
// A reader of this file keeps the last two blocks and the index in memory from the start.
std::vector<uint8_t> FileOf31Blocks(WriterOptions options = {}) {
  options.encoding = Encoding::kPlain;
  options.compression = Compression::kNone;
  options.block_size_bytes = 1'000'000;
  options.max_values_per_block = kRowsPerBlock;
  std::vector<int64_t> values(kRows);
  std::iota(values.begin(), values.end(), 0);
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(), options);
  EXPECT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  return file;
}

// With these options each block is a request of its own.
ReaderOptions OneBlockPerRequest() {
  return {.block_cache = std::make_shared<BlockCache>(size_t{64} << 20),
          .read_ahead_bytes = kRowsPerBlock * 8 + 100};
}

// While `broken`, each read of the byte at `byte` fails.
Script UnreadableWhile(const std::atomic<bool>& broken, uint64_t byte) {
  return [&broken, fail = UnreadableByte(byte)](const IoCall& call) {
    return broken ? fail(call) : absl::OkStatus();
  };
}

// Waits until `begun` threads have begun, unless none has begun. Then waits a little, so that other
// threads can ask for the same bytes.
void WaitForThreads(const std::atomic<size_t>& begun, size_t num_threads) {
  while (begun > 0 && begun < num_threads) std::this_thread::yield();
  for (int i = 0; i < 300; ++i) std::this_thread::yield();
}

class SlowSourceTest : public testing::Test {
 protected:
  std::shared_ptr<ScriptedSource> Source(std::string identity = "") const {
    return std::make_shared<ScriptedSource>(NewMemoryViewSource(file_, "slow"), nullptr,
                                            std::move(identity));
  }

  const std::vector<uint8_t> file_ = FileOf31Blocks({.value_index = true});
  const std::shared_ptr<ScriptedSource> source_ = Source();
};

TEST_F(SlowSourceTest, CountersSayWhatWasRead) {
  const Reader reader = *Reader::Open(source_, OneBlockPerRequest());
  const auto expect = [&](uint64_t blocks_read, uint64_t blocks_cached) {
    const ReaderCounters counters = reader.counters();
    EXPECT_EQ(counters.source_requests, source_->reads());
    EXPECT_EQ(counters.source_bytes, source_->bytes());
    EXPECT_EQ(counters.blocks_read, blocks_read);
    EXPECT_EQ(counters.blocks_cached, blocks_cached);
    EXPECT_EQ(counters.files_opened, 1u);
  };
  expect(0, 0);
  EXPECT_EQ(reader.counters().index_nodes_read, 0u);
  const size_t opened_bytes = reader.memory_usage_bytes();
  EXPECT_GT(opened_bytes, 64u << 10);
  EXPECT_EQ(**reader.Get<int64_t>(0), 0);
  EXPECT_EQ(reader.counters().index_nodes_read, 1u);
  EXPECT_GT(reader.memory_usage_bytes(), opened_bytes + kBlocks * sizeof(uint64_t));
  expect(1, 0);
  EXPECT_EQ(**reader.Get<int64_t>(1), 1);
  expect(1, 1);
  EXPECT_EQ(reader.Read<int64_t>()->size(), kRows);
  expect(kBlocks, 2);
  EXPECT_EQ(reader.counters().index_nodes_read, 1u);
}

TEST_F(SlowSourceTest, CountersOfASourceInMemory) {
  const Reader reader = *Reader::Open(NewMemoryViewSource(file_, "fast"));
  EXPECT_EQ(reader.Read<int64_t>()->size(), kRows);
  EXPECT_EQ(reader.counters(),
            (ReaderCounters{.blocks_read = kBlocks, .index_nodes_read = 1, .files_opened = 1}));
  EXPECT_LT(reader.memory_usage_bytes(), 64u << 10);
}

// A cursor may turn around at any time.
TEST_F(SlowSourceTest, CursorsTurnAround) {
  const Reader reader = *Reader::Open(source_, OneBlockPerRequest());
  auto cursor = *reader.NewCursor<int64_t>();
  std::mt19937_64 random(1);
  uint64_t row = 0;
  for (int i = 0; i < 40; ++i) {
    const bool backward = i % 2 == 1;
    for (uint64_t batches = random() % 60; batches > 0; --batches) {
      const auto batch = backward ? cursor.Previous(1000) : cursor.Next(1000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      if (backward) row -= batch->size();
      ASSERT_EQ(batch->values[0], static_cast<int64_t>(row));
      if (!backward) row += batch->size();
    }
  }
}

// If several conditions are about one column, the scan reads this column only once.
TEST_F(SlowSourceTest, ConditionsOnOneColumnReadItTogether) {
  const std::vector<uint8_t> file = FileOf31Blocks();  // without a value index
  std::vector<Literal> few[2];
  for (uint64_t block = 0; block < kBlocks; ++block) {
    for (const int i : {0, 1})
      few[i].push_back(static_cast<int64_t>(block * kRowsPerBlock + 17 + i * 100));
  }
  const Filter a = In("value", few[0]);
  const Filter b = In("value", few[1]);
  for (const bool reverse : {false, true}) {
    const auto read = [&](const Filter& filter, uint64_t expected_rows) {
      const auto source = std::make_shared<ScriptedSource>(NewMemoryViewSource(file));
      const Reader reader = *Reader::Open(source, OneBlockPerRequest());
      source->Reset();
      auto scan = *NewTableScan(
          reader, {.columns = std::vector<std::string>{}, .where = filter, .reverse = reverse});
      uint64_t rows = 0;
      for (const auto& batch : scan.Batches()) rows += batch->num_rows();
      EXPECT_EQ(rows, expected_rows);
      uint64_t blocks = 0;
      for (const ConditionCounters& condition : scan.counters().conditions)
        blocks += condition.blocks_read;
      EXPECT_EQ(blocks, kBlocks);
      return std::pair(source->rounds(), source->bytes());
    };
    const auto one = read(a, kBlocks);
    EXPECT_EQ(read(Or(a, b), 2 * kBlocks), one);
    EXPECT_EQ(read(And(Not(a), Not(b)), kRows - 2 * kBlocks), one);
    EXPECT_EQ(read(And(Or(a, b), Not(a), IsNotNull("value")), kBlocks), one);
  }
}

TEST_F(SlowSourceTest, AnErrorIsReturnedWhereItsBlockIsNeeded) {
  constexpr uint64_t kBad = 12;
  std::vector<BlockInfo> blocks;
  const Reader intact = *Reader::Open(source_);
  ASSERT_TRUE(VisitBlocks(intact, [&](const BlockInfo& block) {
                blocks.push_back(block);
                return true;
              }).ok());
  std::atomic<bool> broken = false;
  const auto fragile = std::make_shared<ScriptedSource>(
      source_, UnreadableWhile(broken, blocks[kBad].pointer.offset + 5000));
  const Reader reader = *Reader::Open(fragile, OneBlockPerRequest());
  broken = true;
  // The error of a request for only this block.
  const absl::Status alone = reader.Get<int64_t>(kBad * kRowsPerBlock).status();
  EXPECT_THAT(std::string(alone.message()),
              HasSubstr(absl::StrCat("block at offset ", blocks[kBad].pointer.offset, ", ")));
  for (const bool recovers_early : {false, true}) {
    broken = true;
    auto cursor = *reader.NewCursor<int64_t>();
    uint64_t row = 0;
    for (; row < kBad * kRowsPerBlock; row += 1000) {
      const auto batch = cursor.Next(1000);
      ASSERT_TRUE(batch.ok()) << row << batch.status();
      ASSERT_EQ(batch->values[0], static_cast<int64_t>(row));
    }
    // The block was already requested together with the blocks before, and this request failed.
    // The cursor does not return the error of this request.
    // The cursor requests the block alone, and returns the result of the second request.
    if (!recovers_early) {
      for (int i = 0; i < 2; ++i) EXPECT_EQ(cursor.Next(1000).status(), alone);
    }
    broken = false;
    for (row = cursor.ordinal(); row < kRows; row = cursor.ordinal()) {
      const auto batch = cursor.Next(1000);
      ASSERT_TRUE(batch.ok() && !batch->empty()) << row << batch.status();
      ASSERT_EQ(batch->values[0], static_cast<int64_t>(row));
    }
  }
  // A read that does not need the block does not fail.
  broken = true;
  EXPECT_TRUE(reader.Read<int64_t>({0, kBad * kRowsPerBlock}).ok());
  EXPECT_TRUE(reader.Read<int64_t>({(kBad + 1) * kRowsPerBlock, kRows}).ok());
  OwnedBatch<int64_t> taken;
  EXPECT_FALSE(reader.Take<int64_t>(std::vector<uint64_t>{1, kBad * kRowsPerBlock}, taken).ok());
  EXPECT_TRUE(
      reader.Take<int64_t>(std::vector<uint64_t>{1, (kBad - 1) * kRowsPerBlock}, taken).ok());
}

// Small blocks are read together. If one block cannot be read, the blocks around it still can.
TEST(SlowSource, BlocksNextToAnUnreadableOneAreRead) {
  constexpr uint64_t kBad = 51;
  constexpr uint64_t kSmall = 500;  // rows of a block
  std::vector<int64_t> values(100 * kSmall);
  std::iota(values.begin(), values.end(), 0);
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                         {.encoding = Encoding::kPlain,
                                          .compression = Compression::kNone,
                                          .max_values_per_block = kSmall});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const auto memory = NewMemoryViewSource(file);
  std::vector<BlockPointer> blocks;
  ASSERT_TRUE(VisitBlocks(*Reader::Open(memory), [&](const BlockInfo& block) {
                blocks.push_back(block.pointer);
                return true;
              }).ok());
  std::atomic<bool> broken = false;
  const auto fragile =
      std::make_shared<ScriptedSource>(memory, UnreadableWhile(broken, blocks[kBad].offset + 100));
  const Reader reader = *Reader::Open(fragile);
  broken = true;
  OwnedBatch<int64_t> taken;
  const std::vector<uint64_t> around = {(kBad - 1) * kSmall, (kBad + 1) * kSmall};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(reader.Take<int64_t>(around, taken).ok());
  fragile->Reset();
  auto cursor = *reader.NewCursor<int64_t>();
  uint64_t row = 0;
  absl::Status status;
  while (status.ok() && row < values.size()) {
    const auto batch = cursor.Next(kSmall);
    status = batch.status();
    if (status.ok()) row += batch->size();
  }
  EXPECT_EQ(row, kBad * kSmall);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("block at offset ", blocks[kBad].offset, ", ")));
  EXPECT_LE(fragile->reads() - fragile->failures(), 30u);
}

// The library uses the memory of a range that was read in advance again for later ranges.
// But a small range does not keep the memory of an earlier large range.
TEST(SlowSource, AFetcherFreesItsMemory) {
#ifdef __GLIBC__
  const auto used_bytes = [] {
    const auto heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  // There are eight groups of eight strings. Each group has one large string.
  // In the first group, the large string is at the first place.
  // In the second group, the large string is at the second place, and so on.
  // Between these strings are other strings that the test does not read.
  std::vector<std::string> rows;
  std::vector<std::vector<uint64_t>> groups(8);
  for (size_t group = 0; group < 8; ++group) {
    for (size_t i = 0; i < 8; ++i) {
      groups[group].push_back(rows.size());
      rows.emplace_back(i == group ? 7'000'000 : 150'000, 'a');
      rows.emplace_back(100'000, 'b');
    }
  }
  const std::vector<std::string_view> values(rows.begin(), rows.end());
  std::vector<uint8_t> file;
  auto writer = *Writer<std::string_view>::Create(
      NewMemorySink(&file), ColumnType::Binary(),
      {.encoding = Encoding::kPlain, .compression = Compression::kNone, .max_values_per_block = 1});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const auto source = std::make_shared<ScriptedSource>(NewMemoryViewSource(file));
  const Reader reader =
      *Reader::Open(source, {.block_cache = std::make_shared<BlockCache>(size_t{1} << 16)});
  auto cursor = *reader.NewCursor<std::string_view>();
  const size_t before = used_bytes();
  for (const std::vector<uint64_t>& group : groups) {
    OwnedBatch<std::string_view> taken;
    ASSERT_TRUE(cursor.Take(group, taken).ok());
  }
  EXPECT_GE(source->at_once(), 2u);
  EXPECT_LE(used_bytes(), before + 25'000'000);
#endif
}

// In a damaged file, the entries of two indexes may point to the same bytes.
// If two threads read these bytes at the same time, each thread gets a node of its own index.
TEST(SlowSource, ThreadsDoNotShareDifferentNodes) {
  std::vector<uint32_t> values(100'000);
  std::iota(values.begin(), values.end(), 0u);
  std::vector<uint8_t> file;
  auto writer = *Writer<uint32_t>::Create(NewMemorySink(&file), ColumnType::Uint32(),
                                          {.encoding = Encoding::kPlain,
                                           .compression = Compression::kNone,
                                           .value_index = true,
                                           .max_values_per_block = 100,
                                           .index_block_size_bytes = 2000});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const auto intact = *internal::FileReader::Open(NewMemoryViewSource(file), {});
  const internal::LoadedNode* root = *intact->IndexRoot(IndexKind::kPositional);
  ASSERT_FALSE(root->leaf());
  const auto with_value_root = [&](const BlockPointer& pointer) {
    FileInfo info = intact->info();
    std::vector<uint8_t> bytes(file.begin(), file.end() - info.footer_size_bytes);
    info.value_index_root = pointer;
    info.statistics.reset();
    info.compatible_features = 0;
    // Open keeps the end of the file in memory. A large footer keeps the nodes out of this memory.
    info.footer_metadata.push_back({"x", std::string(100'000, 'x')});
    encodings::ByteWriter footer;
    internal::AppendFooter(info, true, footer);
    bytes.insert(bytes.end(), footer.data(), footer.data() + footer.size());
    return bytes;
  };
  const std::vector<uint8_t> bad = with_value_root(root->entry_pointer(0));
  for (int i = 0; i < 5; ++i) {
    std::atomic<size_t> begun = 0;
    const auto source =
        std::make_shared<ScriptedSource>(NewMemoryViewSource(bad), [&](const IoCall& call) {
          if (call.index == 0) WaitForThreads(begun, 2);
          return absl::OkStatus();
        });
    const auto reader = internal::FileReader::Open(source, {});
    ASSERT_TRUE(reader.ok()) << reader.status();
    const internal::LoadedNode* positional = *(*reader)->IndexRoot(IndexKind::kPositional);
    std::vector<const internal::LoadedNode*> nodes(2, nullptr);
    const auto look = [&](size_t kind) {
      ++begun;
      const auto node = kind == 0 ? (*reader)->IndexChild(IndexKind::kPositional, *positional, 0)
                                  : (*reader)->IndexRoot(IndexKind::kValue);
      if (node.ok()) nodes[kind] = *node;
    };
    std::thread other(look, 0);
    look(1);
    other.join();
    ASSERT_NE(nodes[0], nullptr);
    EXPECT_NE(nodes[0], nodes[1]);
  }
  const std::vector<uint8_t> equal = with_value_root(*intact->info().positional_index_root);
  EXPECT_THAT(std::string(Reader::Open(NewMemoryViewSource(equal)).status().message()),
              HasSubstr("both indexes have their root at offset"));
}

TEST(SlowSource, ThreadsOpenAFileOfATableOnce) {
  std::atomic<uint64_t> opened = 0;
  std::atomic<size_t> begun = 0;
  const auto storage =
      std::make_shared<ScriptedStorage>(NewMemoryStorage(), [&](const IoCall& call) {
        if (call.kind == IoCall::kOpen) {
          ++opened;
          WaitForThreads(begun, 8);
        }
        return absl::OkStatus();
      });
  const Schema schema{.columns = {{.name = "value", .type = ColumnType::Int64()}}};
  auto writer = TableWriter::Create(storage, schema);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<int64_t> values(1000, 7);
  ASSERT_TRUE(writer->Append<int64_t>(0, values).ok() && writer->Finish().ok());
  const auto table = TableReader::Open(storage);
  ASSERT_TRUE(table.ok()) << table.status();
  const uint64_t before = opened;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ++begun;
      auto cursor = table->NewCursor<int64_t>(0);
      ASSERT_TRUE(cursor.ok() && cursor->SeekToOrdinal(500).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, before + 1);
}

// HoleFillingSource gives zeros for unreadable pages. It reads several ranges in one round.
TEST_F(SlowSourceTest, HoleFillingSourcesReadSeveralRanges) {
  const auto fragile = std::make_shared<ScriptedSource>(source_, UnreadableByte(5000));
  const internal::HoleFillingSource over_holes(fragile);
  const internal::HoleFillingSource over_counting(source_);
  EXPECT_TRUE(over_holes.HasLatency());
  EXPECT_FALSE(internal::HoleFillingSource(*OpenPreadSource(CFILE_SOURCE_DIR "/CMakeLists.txt"))
                   .HasLatency());
  std::vector<uint8_t> bytes(300);
  for (int i = 0; i < 2; ++i) {
    ReadRequest requests[] = {{.offset = 0, .out = std::span(bytes).first(100)},
                              {.offset = 4950, .out = std::span(bytes).subspan(100, 100)},
                              {.offset = 9000, .out = std::span(bytes).last(100)}};
    over_holes.ReadMany(requests);
    for (const ReadRequest& request : requests) EXPECT_TRUE(request.status.ok());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + 100, file_.begin()));
    EXPECT_EQ(std::count(bytes.begin() + 100, bytes.begin() + 200, 0), 100);
    EXPECT_TRUE(std::equal(bytes.begin() + 200, bytes.end(), file_.begin() + 9000));
    EXPECT_EQ(over_holes.ErrorIn(4950, 5050).code(), absl::StatusCode::kUnavailable);
    source_->Reset();
    over_counting.ReadMany(requests);
    EXPECT_EQ(source_->rounds(), 1u);
  }
}

// Eight threads that look for the same key make as many requests as one thread.
// The first request waits until all threads have begun.
// Each request takes so long that the other threads can ask for the same block.
TEST(SlowSource, ThreadsShareRequests) {
  std::vector<std::string> strings;
  for (int i = 0; i < 60'000; ++i) strings.push_back(absl::StrCat("key ", 1'000'000 + i));
  std::vector<std::string_view> values(strings.begin(), strings.end());
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kDict}) {
    std::vector<uint8_t> file;
    auto writer = *Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                                    {.encoding = encoding,
                                                     .value_index = true,
                                                     .block_size_bytes = 4000,
                                                     .max_values_per_block = 500,
                                                     .index_block_size_bytes = 500});
    ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
    const auto requests_of = [&](size_t num_threads) {
      std::atomic<size_t> begun = 0;
      const auto source =
          std::make_shared<ScriptedSource>(NewMemoryViewSource(file), [&](const IoCall& call) {
            if (call.index == 0) WaitForThreads(begun, num_threads);
            return absl::OkStatus();
          });
      const Reader reader =
          *Reader::Open(source, {.block_cache = std::make_shared<BlockCache>(size_t{8} << 20)});
      source->Reset();
      std::vector<std::thread> threads;
      for (size_t i = 0; i < num_threads; ++i) {
        threads.emplace_back([&] {
          ++begun;
          EXPECT_TRUE(reader.Statistics().ok());
          auto cursor = reader.NewCursor<std::string_view>();
          ASSERT_TRUE(cursor.ok());
          const auto position = cursor->SeekToKey(values[20'123]);
          ASSERT_TRUE(position.ok());
          EXPECT_EQ(position->ordinal, 20'123u);
          EXPECT_EQ(**cursor->Get(5'000), values[5'000]);
        });
      }
      for (std::thread& thread : threads) thread.join();
      return source->reads();
    };
    const uint64_t alone = requests_of(1);
    EXPECT_GE(alone, 4u);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(requests_of(8), alone);
  }
}

// If threads share a request and the request fails, all these threads get the error.
// The next call makes a new request.
TEST_F(SlowSourceTest, ThreadsShareErrors) {
  std::atomic<bool> broken = false;
  const auto fragile =
      std::make_shared<ScriptedSource>(source_, UnreadableWhile(broken, file_.size() / 2));
  const Reader reader = *Reader::Open(fragile, OneBlockPerRequest());
  broken = true;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      auto cursor = *reader.NewCursor<int64_t>();
      uint64_t failed = 0;
      for (uint64_t block = 0; block < kBlocks; ++block) {
        const auto value = cursor.Get(block * kRowsPerBlock);
        failed += !value.ok();
        if (!value.ok()) {
          EXPECT_THAT(std::string(value.status().message()), HasSubstr("made to fail"));
        }
      }
      EXPECT_EQ(failed, 1u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  broken = false;
  EXPECT_EQ(reader.Read<int64_t>()->batch().size(), kRows);
}

// Threads also share a failed request for a dictionary. A late thread makes its own request.
TEST(SlowSource, ThreadsShareTheErrorOfADictionary) {
  std::vector<std::string> strings;
  for (int i = 0; i < 60'000; ++i) strings.push_back(absl::StrCat("key ", i % 20'000));
  const std::vector<std::string_view> values(strings.begin(), strings.end());
  std::vector<uint8_t> file;
  auto writer = *Writer<std::string_view>::Create(
      NewMemorySink(&file), ColumnType::Binary(),
      {.encoding = Encoding::kDict, .compression = Compression::kNone});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const BlockPointer dictionary = *Reader::Open(NewMemoryViewSource(file))->info().dictionary;
  ASSERT_GT(dictionary.size, 100'000u);
  uint64_t fewest = 8;
  for (int i = 0; i < 5; ++i) {
    std::atomic<size_t> begun = 0;
    std::atomic<bool> broken = false;
    const auto fragile =
        std::make_shared<ScriptedSource>(NewMemoryViewSource(file), [&](const IoCall& call) {
          if (!broken || !call.Reads(dictionary.offset)) return absl::OkStatus();
          WaitForThreads(begun, 8);
          return MadeToFail(call);
        });
    const Reader reader = *Reader::Open(fragile);
    broken = true;
    std::atomic<uint64_t> failed = 0;
    std::vector<std::thread> threads;
    for (int j = 0; j < 8; ++j) {
      threads.emplace_back([&] {
        ++begun;
        failed += !reader.NewCursor<std::string_view>().ok();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 8u);
    fewest = std::min<uint64_t>(fewest, fragile->failures());
    broken = false;
    EXPECT_TRUE(reader.NewCursor<std::string_view>().ok());
  }
  EXPECT_LT(fewest, 8u);
}

TEST_F(SlowSourceTest, AReopenedFileFindsItsBlocks) {
  ReaderOptions options = OneBlockPerRequest();
  const auto reads_of = [&](const std::string& identity) {
    const auto source = Source(identity);
    const Reader reader = *Reader::Open(source, options);
    source->Reset();
    EXPECT_EQ(**reader.Get<int64_t>(50'000), 50'000);
    return source->reads();
  };
  EXPECT_EQ(reads_of("bucket/file v1"), 1u);
  EXPECT_EQ(reads_of("bucket/file v1"), 0u);
  EXPECT_EQ(reads_of("bucket/file v2"), 1u);
  EXPECT_EQ(reads_of(""), 1u);
  EXPECT_EQ(reads_of(""), 1u);
  // Readers with other limits, or another choice for checksums, do not share cached blocks.
  options.verify_checksums = false;
  EXPECT_EQ(reads_of("bucket/file v1"), 1u);
  EXPECT_EQ(reads_of("bucket/file v1"), 0u);
  options.max_block_size_bytes /= 2;
  EXPECT_EQ(reads_of("bucket/file v1"), 1u);
}

// The cache recognises a file by its identity, even if many other files were opened after it.
TEST(SlowSource, TheCacheKnowsFilesByTheirIdentity) {
  using Cache = internal::CachedBlocks;
  const Cache::File first = Cache::FileOf("first");
  std::set<std::pair<uint64_t, uint64_t>> files = {{first.high, first.low}};
  for (int i = 0; i < 20'000; ++i) {
    const Cache::File file = Cache::FileOf(absl::StrCat("file ", i));
    EXPECT_TRUE(files.insert({file.high, file.low}).second);
  }
  EXPECT_EQ(Cache::FileOf("first"), first);
  EXPECT_NE(Cache::FileOf(""), Cache::FileOf(""));
  const std::string very_long(10'000, 'x');
  EXPECT_EQ(Cache::FileOf(very_long), Cache::FileOf(very_long));
}

// The blocks that are in use stay. Other blocks come and go, in any order of their hashes.
TEST(SlowSource, TheCacheKeepsTheBlocksInUse) {
  constexpr uint64_t kUsed = 200, kOthers = 1000;  // five of six blocks in the cache are in use
  constexpr uint64_t kCapacityBytes = 300'000;
  internal::CachedBlocks cache(kCapacityBytes);
  const auto key = [](uint64_t number) {
    return internal::CachedBlocks::Key{{1, 2}, {.offset = number, .size = 1}};
  };
  const auto insert = [&](uint64_t number) {
    auto block = std::make_shared<internal::ResidentBlock>();
    block->bytes.Extend(1000);
    block->head.first_ordinal = static_cast<uint32_t>(number);
    cache.Insert(key(number), std::move(block));
    EXPECT_LE(cache.counters().size_bytes, kCapacityBytes);
  };
  const auto holds = [&](uint64_t number) {
    const auto found = cache.Find(key(number));
    EXPECT_TRUE(found == nullptr || found->head.first_ordinal == number);
    return found != nullptr;
  };
  for (uint64_t number = 0; number < kUsed; ++number) insert(number);
  std::mt19937 random(1);
  for (uint64_t i = 0; i < 20'000; ++i) {
    EXPECT_TRUE(holds(i % kUsed)) << i;
    const uint64_t other = kUsed + random() % kOthers;
    if (i % 8 == 0 && !holds(other)) insert(other);
  }
  const BlockCache::Counters counters = cache.counters();
  EXPECT_GT(counters.evictions, 2000u);
  EXPECT_GT(counters.blocks, kUsed);
  uint64_t held = 0;
  for (uint64_t number = 0; number < kUsed + kOthers; ++number)
    held += cache.Peek(key(number)) != nullptr;
  EXPECT_EQ(held, counters.blocks);
}

TEST(SlowSource, IdentitiesOfLocalFiles) {
  // A golden file was not changed in the last seconds, so it has an identity.
  const std::string golden = CFILE_SOURCE_DIR "/tests/golden/kudu/key_string_dict_seq.cfile";
  const auto mapped = OpenMappedSource(golden);
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  EXPECT_FALSE((*mapped)->identity().empty());
  EXPECT_EQ((*mapped)->identity(), (*OpenPreadSource(golden))->identity());
  // A new file may change again and keep its modification time, so it has no identity.
  const TemporaryDirectory directory;
  std::vector<uint8_t> file = FileOf31Blocks();
  auto sink = *NewFileSink(directory.path("new"));
  ASSERT_TRUE(sink->Append(file).ok() && sink->Finish().ok());
  EXPECT_EQ((*OpenMappedSource(directory.path("new")))->identity(), "");
  EXPECT_EQ(NewMemorySource(file)->identity(), "");
}

// The default ReadMany reads the ranges one after another. Each range has its own status.
TEST_F(SlowSourceTest, ReadManyByDefault) {
  const ScriptedSource fragile(NewMemoryViewSource(file_), UnreadableByte(1000));
  std::vector<uint8_t> bytes(300);
  ReadRequest requests[] = {{.offset = 0, .out = std::span(bytes).first(100)},
                            {.offset = 950, .out = std::span(bytes).subspan(100, 100)},
                            {.offset = 2000, .out = std::span(bytes).last(100)}};
  fragile.Source::ReadMany(requests);
  EXPECT_TRUE(requests[0].status.ok());
  EXPECT_EQ(requests[1].status.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(requests[2].status.ok());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.begin() + 100, file_.begin()));
  EXPECT_TRUE(std::equal(bytes.begin() + 200, bytes.end(), file_.begin() + 2000));
}

}  // namespace cfile::slow_source_test
