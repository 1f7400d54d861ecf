// Tests seeks to many rows and keys at once, ranges, splits, the block cache, and the number of
// reads.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <random>
#include <thread>

#include "cfile/block_cache.h"
#include "cfile/core/read/cached_blocks.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/scripted_io.h"

namespace cfile::seek_test {

using testing::HasSubstr;
using namespace testing_support;

// Calls check(column, reader) for files of many kinds, from sources in memory and from other
// sources.
template <typename T, typename Check>
void ForFiles(const ColumnType& type, bool ascending, Check check) {
  std::mt19937_64 random(1);
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (!row.Supports(type.physical())) continue;
    for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
      for (const size_t block_size : {1, 300, 256 * 1024}) {
        for (const bool in_memory : {true, false}) {
          SCOPED_TRACE(std::string(row.name) + " " + CompressionName(compression) + " blocks of " +
                       std::to_string(block_size) + (in_memory ? " in memory" : ""));
          const int null_percent = ascending || random() % 2 == 0 ? -1 : 20;
          const auto column = RandomColumn<T>(type, 1500, null_percent, ascending, random);
          const auto file = WriteColumn<T>(type,
                                           {.encoding = row.encoding,
                                            .compression = compression,
                                            .nullable = null_percent >= 0,
                                            .value_index = ascending,
                                            .block_size_bytes = block_size,
                                            .max_values_per_block = 700,
                                            .index_block_size_bytes = 200},
                                           column);
          std::shared_ptr<const Source> source = NewMemoryViewSource(file);
          if (!in_memory) source = std::make_shared<ScriptedSource>(source);
          const auto reader = Reader::Open(
              source, {.block_cache = std::make_shared<BlockCache>(size_t{1} << random() % 25)});
          ASSERT_TRUE(reader.ok()) << reader.status();
          check(column, *reader, random);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

template <typename T>
void ExpectTakes(const ColumnType& type) {
  ForFiles<T>(
      type, /*ascending=*/false,
      [](const Column<T>& column, const Reader& reader, std::mt19937_64& random) {
        auto cursor = *reader.NewCursor<T>();
        OwnedBatch<T> taken;
        for (const size_t size : {0, 1, 5, 400, 4000}) {
          std::vector<uint64_t> ordinals(size);
          for (uint64_t& ordinal : ordinals) ordinal = random() % column.rows.size();
          if (random() % 2 == 0) std::sort(ordinals.begin(), ordinals.end());
          const absl::Status status = cursor.Take(ordinals, taken);
          ASSERT_TRUE(status.ok()) << status;
          const Batch<T> batch = taken.batch();
          ASSERT_EQ(batch.size(), size);
          for (size_t i = 0; i < size; ++i) {
            const auto& expected = column.rows[ordinals[i]];
            ASSERT_EQ(batch.IsValid(i), expected.has_value());
            ASSERT_TRUE(encodings::KeyEqual<T>(batch.values[i], expected ? T(*expected) : T{}));
          }
          // After Take, the cursor can be used for any other call.
          const uint64_t ordinal = random() % column.rows.size();
          const auto one = cursor.Get(ordinal);
          ASSERT_TRUE(one.ok()) << one.status();
          ASSERT_EQ(one->has_value(), column.rows[ordinal].has_value());
          const auto batch_behind = cursor.Next(10);
          ASSERT_TRUE(batch_behind.ok()) << batch_behind.status();
          ExpectBatch(*batch_behind, column);
        }
      });
}

TEST(Seek, TakesRowsInAnyOrder) {
  ExpectTakes<int64_t>(ColumnType::Int64());
  ExpectTakes<int32_t>(ColumnType::Int32());
  ExpectTakes<bool>(ColumnType::Bool());
  ExpectTakes<std::string_view>(ColumnType::String());
}

template <typename T>
void ExpectFindsMany(const ColumnType& type) {
  ForFiles<T>(type, /*ascending=*/true,
              [&](const Column<T>& column, const Reader& reader, std::mt19937_64& random) {
                auto cursor = *reader.NewCursor<T>();
                auto single = *reader.NewCursor<T>();
                std::vector<Owned<T>> owned;
                for (int i = 0; i < 300; ++i) {
                  owned.push_back(random() % 2 == 0 ? *column.rows[random() % column.rows.size()]
                                                    : RandomValue<T>(type, 1, random));
                }
                const std::vector<T> keys(owned.begin(), owned.end());
                std::vector<KeyPosition> positions(keys.size());
                for (int round = 0; round < 2; ++round) {
                  const absl::Status status = cursor.SeekMany(keys, positions);
                  ASSERT_TRUE(status.ok()) << status;
                  for (size_t i = 0; i < keys.size(); ++i) {
                    const auto expected = single.SeekToKey(keys[i]);
                    ASSERT_TRUE(expected.ok()) << expected.status();
                    ASSERT_EQ(positions[i].ordinal, expected->ordinal);
                    ASSERT_EQ(positions[i].exact, expected->exact);
                  }
                  const auto batch = cursor.Next(5);
                  ASSERT_TRUE(batch.ok()) << batch.status();
                  ExpectBatch(*batch, column);
                }
              });
}

TEST(Seek, FindsManyKeysAsItFindsEach) {
  ExpectFindsMany<int64_t>(ColumnType::Int64());
  ExpectFindsMany<double>(ColumnType::Double());
  ExpectFindsMany<std::string_view>(ColumnType::String());
}

TEST(Seek, RangesEndWhereTheySay) {
  ForFiles<std::string_view>(
      ColumnType::String(), /*ascending=*/true,
      [](const auto& column, const Reader& reader, std::mt19937_64& random) {
        auto cursor = *reader.NewCursor<std::string_view>();
        const auto read_all = [&](const OrdinalRange& range) {
          uint64_t at = range.begin;
          while (true) {
            const auto batch = cursor.Next(1 + random() % 100);
            ASSERT_TRUE(batch.ok()) << batch.status();
            if (batch->empty()) break;
            ASSERT_EQ(batch->first_ordinal, at);
            ExpectBatch(*batch, column);
            at += batch->size();
          }
          ASSERT_EQ(at, range.end);
        };
        const auto less = [](const auto& row, std::string_view key) { return *row < key; };
        for (int i = 0; i < 20; ++i) {
          OrdinalRange range{random() % 1501, random() % 1501};
          if (range.end < range.begin) std::swap(range.begin, range.end);
          ASSERT_TRUE(cursor.SeekToRange(range).ok());
          ASSERT_NO_FATAL_FAILURE(read_all(range));
          // The range no longer limits the cursor after the next seek.
          ASSERT_TRUE(cursor.SeekToOrdinal(range.begin).ok());
          ASSERT_NO_FATAL_FAILURE(read_all({range.begin, 1500}));

          std::optional<std::string> low = *column.rows[random() % 1500];
          std::optional<std::string> high = RandomValue<std::string_view>(reader.type(), 1, random);
          if (i % 4 == 1) low.reset();
          if (i % 4 == 2) high.reset();
          const auto found = cursor.SeekToKeyRange(low, high);
          ASSERT_TRUE(found.ok()) << found.status();
          const auto bound = [&](const std::string& key) {
            return static_cast<uint64_t>(
                std::lower_bound(column.rows.begin(), column.rows.end(), key, less) -
                column.rows.begin());
          };
          OrdinalRange expected{low ? bound(*low) : 0, high ? bound(*high) : 1500};
          expected.begin = std::min(expected.begin, expected.end);
          ASSERT_EQ(*found, expected);
          ASSERT_NO_FATAL_FAILURE(read_all(expected));
        }
        EXPECT_TRUE(absl::IsOutOfRange(cursor.SeekToRange({0, 1501})));
      });
}

// After a seek of many keys, refused or successful, the cursor still reads the right rows.
TEST(Seek, RefusedAndManySeeksLeaveNoTrace) {
  std::vector<double> values(100'000);
  std::iota(values.begin(), values.end(), 0.0);
  std::vector<uint8_t> file;
  auto writer = *Writer<double>::Create(
      NewMemorySink(&file), ColumnType::Double(),
      {.encoding = Encoding::kPlain, .value_index = true, .block_size_bytes = 8000});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const Reader reader = *Reader::Open(NewMemoryViewSource(file));
  auto cursor = *reader.NewCursor<double>();
  const auto expect_rest = [&](uint64_t at) {
    while (at < values.size()) {
      const auto batch = cursor.Next(3000);
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_FALSE(batch->empty());
      ASSERT_EQ(batch->first_ordinal, at);
      ASSERT_EQ(batch->values[0], values[at]);
      at += batch->size();
    }
  };
  KeyPosition positions[4];
  const double with_nan[] = {50'000, std::numeric_limits<double>::quiet_NaN()};
  ASSERT_TRUE(cursor.SeekToKey(5).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(cursor.SeekMany(with_nan, std::span(positions).first(2))));
  ASSERT_NO_FATAL_FAILURE(expect_rest(cursor.ordinal()));
  // The range no longer limits the cursor after SeekMany.
  ASSERT_TRUE(cursor.SeekToRange({0, 10}).ok());
  const double keys[] = {50'000, 999.5, 999.7, 2e9};
  ASSERT_TRUE(cursor.SeekMany(keys, positions).ok());
  EXPECT_EQ(positions[0].ordinal, 50'000u);
  EXPECT_EQ(positions[1].ordinal, 1000u);
  EXPECT_EQ(positions[2].ordinal, 1000u);
  EXPECT_EQ(positions[3].ordinal, 100'000u);
  ASSERT_NO_FATAL_FAILURE(expect_rest(cursor.ordinal()));
}

// A seek to the first key of a block needs at most two reads. The cache keeps what these seeks
// read, so that the same seeks then read nothing.
TEST(Seek, KeysAtBlocksFrontsReadNoMoreThanOthers) {
  std::vector<int32_t> values(400'000);
  std::iota(values.begin(), values.end(), 0);
  std::vector<uint8_t> file;
  auto writer = *Writer<int32_t>::Create(
      NewMemorySink(&file), ColumnType::Int32(),
      {.encoding = Encoding::kPlain, .value_index = true, .block_size_bytes = 8000});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const auto source = std::make_shared<ScriptedSource>(NewMemoryViewSource(file));
  const Reader reader =
      *Reader::Open(source, {.block_cache = std::make_shared<BlockCache>(size_t{16} << 20)});
  auto cursor = *reader.NewCursor<int32_t>();
  std::vector<uint64_t> fronts;
  for (uint64_t ordinal = 0; ordinal < values.size(); ordinal += 20'000) {
    fronts.push_back(*reader.BlockBegin(ordinal));
  }
  ASSERT_TRUE(cursor.SeekToKey(0).ok());
  for (int round = 0; round < 2; ++round) {
    source->Reset();
    for (const uint64_t front : fronts) {
      EXPECT_EQ(cursor.SeekToKey(static_cast<int32_t>(front))->ordinal, front);
    }
    EXPECT_LE(source->largest(), 33'000u);
    EXPECT_LE(source->reads(), round == 0 ? 2 * fronts.size() + 2 : 0);
  }
}

// A seek index that exceeds its budget is not built. Seeks work without a seek index.
TEST(Seek, NoRoomForSeekIndexes) {
  std::mt19937_64 random(8);
  const auto column = RandomColumn<std::string_view>(ColumnType::String(), 5000, -1, true, random);
  const auto file = WriteColumn<std::string_view>(
      ColumnType::String(),
      {.encoding = Encoding::kPrefix, .value_index = true, .block_size_bytes = 3000}, column);
  for (const size_t room : {0, 100, 5000, 1 << 20}) {
    const Reader reader = *Reader::Open(NewMemoryViewSource(file), {.max_seek_index_bytes = room});
    auto cursor = *reader.NewCursor<std::string_view>();
    for (int i = 0; i < 1000; ++i) {
      const uint64_t ordinal = random() % column.rows.size();
      EXPECT_EQ(*cursor.Get(ordinal), *column.rows[ordinal]);
      EXPECT_TRUE(cursor.SeekToKey(*column.rows[ordinal])->exact);
    }
  }
}

TEST(Seek, SplitsAtBlocks) {
  std::mt19937_64 random(3);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 10'000, -1, false, random);
  const auto file = WriteColumn<int32_t>(
      ColumnType::Int32(), {.encoding = Encoding::kPlain, .block_size_bytes = 400}, column);
  const Reader reader = *Reader::Open(NewMemoryViewSource(file));
  for (const size_t ranges : {1, 2, 3, 7, 100, 5000}) {
    const auto split = reader.Split(ranges);
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_LE(split->size(), ranges);
    const bool wide = ranges <= 7;
    EXPECT_TRUE(!wide || split->size() == ranges);
    uint64_t at = 0;
    for (const OrdinalRange& range : *split) {
      EXPECT_EQ(range.begin, at);
      EXPECT_GT(range.size(), 0u);
      EXPECT_EQ(*reader.BlockBegin(range.begin), range.begin);
      const double difference =
          static_cast<double>(range.size()) - 10'000.0 / static_cast<double>(ranges);
      EXPECT_TRUE(!wide || std::abs(difference) < 250) << difference;
      at = range.end;
    }
    EXPECT_EQ(at, 10'000u);
  }
  EXPECT_EQ(reader.Split(std::numeric_limits<size_t>::max())->size(), reader.Split(10'000)->size());
  EXPECT_EQ(*reader.BlockBegin(10'000), 10'000u);
  const Reader empty = *Reader::Open(NewMemorySource(
      WriteColumn<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kPlain}, {})));
  EXPECT_TRUE(empty.Split(4)->empty());
}

// A seek in a block that is used in place does not ask the cache, although other blocks of the file
// may be compressed.
TEST(Seek, BlocksInPlaceAreNotLookedUp) {
  std::mt19937_64 random(5);
  std::vector<int64_t> values(50'000);
  for (int64_t& value : values) value = static_cast<int64_t>(random());
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(
      NewMemorySink(&file), ColumnType::Int64(),
      {.encoding = Encoding::kPlain, .compression = Compression::kZstd, .block_size_bytes = 8000});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  const auto cache = std::make_shared<BlockCache>(size_t{8} << 20);
  const Reader reader = *Reader::Open(NewMemoryViewSource(file), {.block_cache = cache});
  ASSERT_EQ(reader.info().compression, Compression::kZstd);
  auto cursor = *reader.NewCursor<int64_t>();
  for (int round = 0; round < 4; ++round) {
    for (size_t ordinal = 0; ordinal < values.size(); ordinal += 1000)
      EXPECT_EQ(*cursor.Get(ordinal), values[ordinal]);
  }
  EXPECT_EQ(cache->counters().blocks, 0u);
  EXPECT_LE(cache->counters().misses, 50u);
}

// A block that a seek decompressed stays in the cache for later seeks of all cursors, until it is
// evicted.
TEST(Seek, CacheHoldsWhatSeeksDecompress) {
  std::mt19937_64 random(4);
  const auto column = RandomColumn<int64_t>(ColumnType::Int64(), 50'000, -1, true, random);
  const auto file = WriteColumn<int64_t>(ColumnType::Int64(),
                                         {.encoding = Encoding::kPlain,
                                          .compression = Compression::kZstd,
                                          .value_index = true,
                                          .block_size_bytes = 8000},
                                         column);
  const auto cache = std::make_shared<BlockCache>(size_t{8} << 20);
  const Reader reader = *Reader::Open(NewMemoryViewSource(file), {.block_cache = cache});
  auto scan = *reader.NewCursor<int64_t>();
  for (auto batch = *scan.Next(5000); !batch.empty(); batch = *scan.Next(5000)) {
  }
  EXPECT_EQ(cache->counters().blocks, 0u);
  auto cursor = *reader.NewCursor<int64_t>();
  for (int round = 0; round < 2; ++round) {
    for (uint64_t ordinal = 0; ordinal < 50'000; ordinal += 1000) {
      EXPECT_EQ(*cursor.Get(ordinal), column.rows[ordinal]);
    }
  }
  const BlockCache::Counters full = cache->counters();
  EXPECT_EQ(full.blocks, 50u);
  EXPECT_EQ(full.evictions, 0u);
  EXPECT_GE(full.hits, 50u);
  EXPECT_GT(full.size_bytes, 50u * 8000);
  EXPECT_LT(full.size_bytes, 50u * 20'000);
  // Blocks of another reader evict the blocks.
  const auto small = std::make_shared<BlockCache>(100'000);
  const Reader one = *Reader::Open(NewMemoryViewSource(file), {.block_cache = small});
  const Reader two = *Reader::Open(NewMemoryViewSource(file), {.block_cache = small});
  auto cursor_one = *one.NewCursor<int64_t>();
  auto cursor_two = *two.NewCursor<int64_t>();
  for (uint64_t ordinal = 0; ordinal < 50'000; ordinal += 500) {
    EXPECT_EQ(*cursor_one.Get(ordinal), column.rows[ordinal]);
    EXPECT_EQ(*cursor_two.Get(49'999 - ordinal), column.rows[49'999 - ordinal]);
    EXPECT_LE(small->counters().size_bytes, 100'000u);
  }
  EXPECT_GT(small->counters().evictions, 50u);
  // A cache of size 0 keeps nothing.
  const auto none = std::make_shared<BlockCache>(0);
  const Reader bare = *Reader::Open(NewMemoryViewSource(file), {.block_cache = none});
  EXPECT_EQ(*bare.Get<int64_t>(123), column.rows[123]);
  EXPECT_EQ(none->counters().blocks, 0u);
}

TEST(Seek, ThreadsShareCacheAndSeekIndexes) {
  std::mt19937_64 random(5);
  const auto column =
      RandomColumn<std::string_view>(ColumnType::String(), 20'000, -1, true, random);
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    const auto file = WriteColumn<std::string_view>(ColumnType::String(),
                                                    {.encoding = Encoding::kPrefix,
                                                     .compression = compression,
                                                     .value_index = true,
                                                     .block_size_bytes = 3000},
                                                    column);
    const Reader reader = *Reader::Open(NewMemoryViewSource(file),
                                        {.block_cache = std::make_shared<BlockCache>(60'000)});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937_64 own(seed);
        auto cursor = *reader.NewCursor<std::string_view>();
        for (int i = 0; i < 2000; ++i) {
          const uint64_t ordinal = own() % column.rows.size();
          const std::string& key = *column.rows[ordinal];
          if (i % 2 == 0) {
            const auto found = cursor.Get(ordinal);
            wrong += !found.ok() || **found != key;
          } else {
            const auto found = cursor.SeekToKey(key);
            wrong += !found.ok() || !found->exact || found->ordinal > ordinal;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

// Counts the reads and bytes of opening a file, of seeks, of a scan and of Take. On storage with
// latency, each read is expensive.
TEST(Seek, ReadsAreFewAndBounded) {
  std::mt19937_64 random(6);
  std::vector<int64_t> values(1'000'000);
  for (int64_t& value : values) value = static_cast<int64_t>(random());
  std::sort(values.begin(), values.end());
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(
      NewMemorySink(&file), ColumnType::Int64(),
      {.encoding = Encoding::kPlain, .value_index = true, .block_size_bytes = 8000});
  ASSERT_TRUE(writer.Append(values).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const auto source = std::make_shared<ScriptedSource>(NewMemoryViewSource(file));
  const Reader reader = *Reader::Open(source, {.read_ahead_bytes = 1'000'000});
  EXPECT_EQ(source->reads(), 2u);
  EXPECT_LE(source->bytes(), 64u * 1024);
  auto cursor = *reader.NewCursor<int64_t>();

  // The first seek reads the index nodes of the path, and the data block.
  source->Reset();
  EXPECT_EQ(*cursor.Get(500'000), values[500'000]);
  EXPECT_LE(source->reads(), 3u);
  EXPECT_LE(source->largest(), 33'000u);
  source->Reset();
  EXPECT_EQ(cursor.SeekToKey(values[123'456])->ordinal, 123'456u);
  EXPECT_LE(source->reads(), 3u);
  // A seek to a row of the same block reads nothing.
  source->Reset();
  EXPECT_EQ(*cursor.Get(500'001), values[500'001]);
  EXPECT_EQ(source->reads(), 0u);

  // A scan reads the 8 MB of the file in pieces of 1 MB. There are index nodes between the blocks.
  source->Reset();
  ASSERT_TRUE(cursor.SeekToOrdinal(0).ok());
  uint64_t rows = 0;
  for (auto batch = *cursor.Next(5000); !batch.empty(); batch = *cursor.Next(5000)) {
    rows += batch.size();
  }
  EXPECT_EQ(rows, 1'000'000u);
  EXPECT_LE(source->reads(), 20u);
  EXPECT_LE(source->largest(), 1'000'000u);
  EXPECT_LE(source->bytes(), 8'200'000u);

  // Take of adjacent rows needs few reads, whatever the order of the ordinals.
  std::vector<uint64_t> ordinals(100'000);
  std::iota(ordinals.begin(), ordinals.end(), uint64_t{700'000});
  std::shuffle(ordinals.begin(), ordinals.end(), random);
  const Reader other = *Reader::Open(
      source, {.block_cache = std::make_shared<BlockCache>(0), .read_ahead_bytes = 1'000'000});
  source->Reset();
  OwnedBatch<int64_t> taken;
  ASSERT_TRUE(other.Take<int64_t>(ordinals, taken).ok());
  for (size_t i = 0; i < ordinals.size(); ++i) {
    ASSERT_EQ(taken.batch().values[i], values[ordinals[i]]);
  }
  EXPECT_LE(source->reads(), 6u);
}

// With default options, one read of a scan covers four blocks of the default size. A block is
// slightly larger than 256 KiB.
TEST(Seek, BlocksOfTheDefaultSizeAreReadInFours) {
  const auto expect_fours = [](const std::vector<uint8_t>& file, auto zero) {
    using T = decltype(zero);
    const auto source = std::make_shared<ScriptedSource>(NewMemoryViewSource(file));
    const Reader reader = *Reader::Open(source);
    uint64_t blocks = 0;
    ASSERT_TRUE(VisitBlocks(reader, [&](const BlockInfo&) { return ++blocks > 0; }).ok());
    ASSERT_GE(blocks, 13u);
    auto cursor = *reader.NewCursor<T>();
    source->Reset();
    while (!cursor.Next(65536)->empty()) {
    }
    // The index is one node, which the reader loaded with the tail of the file. This read may also
    // have covered the last blocks.
    EXPECT_LE(source->reads(), (blocks + 3) / 4) << blocks << " blocks";
    EXPECT_GE(source->reads(), (blocks - 1) / 4) << blocks << " blocks";
    EXPECT_LE(source->largest(), ReaderOptions().read_ahead_bytes);
  };
  std::mt19937_64 random(6);
  for (const Compression compression : {Compression::kNone, Compression::kLz4}) {
    SCOPED_TRACE(static_cast<int>(compression));
    std::vector<uint8_t> file;
    std::vector<int64_t> numbers(450'000);
    for (int64_t& number : numbers) number = static_cast<int64_t>(random());
    auto writer =
        *Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                 {.encoding = Encoding::kPlain, .compression = compression});
    ASSERT_TRUE(writer.Append(numbers).ok() && writer.Finish().ok());
    ASSERT_NO_FATAL_FAILURE(expect_fours(file, int64_t{}));
    file.clear();
    auto strings = *Writer<std::string_view>::Create(
        NewMemorySink(&file), ColumnType::Binary(),
        {.encoding = Encoding::kPlain, .compression = compression});
    std::string text(1000, ' ');
    for (int i = 0; i < 3600; ++i) {
      for (char& c : text) c = static_cast<char>(random());
      const std::string_view value = text;
      ASSERT_TRUE(strings.Append({&value, 1}).ok());
    }
    ASSERT_TRUE(strings.Finish().ok());
    ASSERT_NO_FATAL_FAILURE(expect_fours(file, std::string_view()));
  }
}

// A seek in a mapped file announces the block that it will read. Without this, the system would
// also read pages before and after each page of the block.
TEST(Seek, AnnouncesEachBlockBeforeItsFirstUse) {
  const std::vector<int64_t> values(200'000);
  std::vector<uint8_t> file;
  auto writer = *Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                         {.encoding = Encoding::kPlain, .block_size_bytes = 8000});
  ASSERT_TRUE(writer.Append(values).ok() && writer.Finish().ok());
  std::vector<BlockInfo> blocks;
  ASSERT_TRUE(VisitBlocks(*Reader::Open(NewMemoryViewSource(file)), [&](const BlockInfo& block) {
                blocks.push_back(block);
                return true;
              }).ok());
  std::vector<OrdinalRange> pieces;
  const auto source =
      std::make_shared<ScriptedSource>(NewMemoryViewSource(file), [&](const IoCall& call) {
        if (call.kind == IoCall::kWillRead)
          pieces.push_back({call.offset, call.offset + call.size});
        return absl::OkStatus();
      });
  source->in_memory = true;
  const Reader reader = *Reader::Open(source);
  // Reader::Open has announced the two ends of the file.
  ASSERT_EQ(pieces.size(), 2);
  EXPECT_EQ(pieces[0].begin, 0);
  EXPECT_EQ(pieces[1].end, file.size());
  auto cursor = *reader.NewCursor<int64_t>();
  ASSERT_TRUE(cursor.Get(0).ok());  // reads the root of the index
  for (size_t i = 1; i < blocks.size(); i += 7) {
    pieces.clear();
    ASSERT_TRUE(cursor.Get(blocks[i].first_ordinal + i).ok());
    ASSERT_EQ(pieces.size(), 1);
    EXPECT_EQ(pieces[0].begin, blocks[i].pointer.offset);
    EXPECT_EQ(pieces[0].end, blocks[i].pointer.end());
    ASSERT_TRUE(cursor.Get(0).ok());
    ASSERT_TRUE(cursor.Get(blocks[i].first_ordinal).ok());
    EXPECT_EQ(pieces.size(), 1);
  }
  // Take announces blocks if it skips blocks between them. If it reads each block, it announces
  // only one: the last block of the leaf, which has no next block.
  for (const size_t step : {size_t{20}, size_t{1}}) {
    const Reader again = *Reader::Open(source);
    auto taker = *again.NewCursor<int64_t>();
    ASSERT_TRUE(taker.Get(0).ok());
    std::vector<uint64_t> ordinals;
    for (size_t i = 1; i < blocks.size(); i += step) ordinals.push_back(blocks[i].first_ordinal);
    pieces.clear();
    OwnedBatch<int64_t> taken;
    ASSERT_TRUE(taker.Take(ordinals, taken).ok());
    EXPECT_EQ(pieces.size(), step == 1 ? 1 : ordinals.size());
  }
  // A scan announces nothing, because the system itself reads ahead.
  pieces.clear();
  ASSERT_TRUE(cursor.SeekToOrdinal(0).ok());
  while (!cursor.Next(3000)->empty()) {
  }
  EXPECT_TRUE(pieces.empty());
}

}  // namespace cfile::seek_test
