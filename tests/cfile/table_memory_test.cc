// Tests tables of many parts. Such a table keeps its limits for open files and for memory.
// The table counts what it reads. A chunk is a file that describes parts.
// The table reads only the chunks that it needs.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/block_cache.h"
#include "cfile/merge_cursor.h"
#include "cfile/parts/table/open_files.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "gtest/gtest.h"
#include "tests/cfile/temporary_directory.h"

namespace cfile::table_memory_test {

constexpr uint64_t kParts = 600;
constexpr uint64_t kRowsPerPart = 50;
constexpr uint64_t kRows = kParts * kRowsPerPart;

// Column "key" has the number of the row. Column "text" has a text with this number.
Schema TestSchema() {
  return {.columns = {{.name = "key", .type = ColumnType::Int64()},
                      {.name = "text", .type = ColumnType::String()}}};
}

std::string Text(uint64_t row) { return absl::StrCat("the text of row ", row); }

void AppendPart(const std::shared_ptr<Storage>& storage, uint64_t first, bool packed) {
  const std::vector<WriterOptions> options(
      2, {.value_index = true, .max_packed_part_bytes = packed ? SIZE_MAX : 0});
  auto writer = first == 0 ? TableWriter::Create(storage, TestSchema(), options)
                           : TableWriter::Open(storage, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<int64_t> keys(kRowsPerPart);
  std::iota(keys.begin(), keys.end(), static_cast<int64_t>(first));
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kRowsPerPart; ++i) texts.push_back(Text(first + i));
  std::sort(texts.begin(), texts.end());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  ASSERT_TRUE(writer->Append<int64_t>(0, keys).ok());
  ASSERT_TRUE(writer->Append<std::string_view>(1, views).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

// Copies all files of a storage into a directory.
void CopyFiles(const Storage& storage, const std::filesystem::path& directory) {
  const std::vector<StorageEntry> files = *storage.List("");
  for (const StorageEntry& entry : files) {
    const std::shared_ptr<const Source> source = *storage.Open(entry.path);
    std::vector<uint8_t> bytes(source->size());
    ASSERT_TRUE(source->ReadAt(0, bytes).ok());
    std::filesystem::create_directories((directory / entry.path).parent_path());
    std::ofstream(directory / entry.path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

class ManyPartsTest : public testing::Test {
 protected:
  void WriteParts(uint64_t parts, bool packed = true) {
    for (uint64_t part = 0; part < parts; ++part) AppendPart(storage_, part * kRowsPerPart, packed);
    CopyFiles(*storage_, path_);
  }

  // EXPECTs all rows of the table: by a scan, by seeks and by Take.
  static void ExpectAllRows(const TableReader& table) {
    auto scan = table.NewScan({.columns = std::vector<std::string>{"key", "text"}});
    uint64_t rows = 0;
    while (true) {
      const auto batch = scan->Next();
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->empty()) break;
      for (const int64_t key : batch->column<int64_t>(0).values) {
        ASSERT_EQ(key, static_cast<int64_t>(rows++));
      }
    }
    EXPECT_EQ(rows, kRows);

    auto cursor = table.NewCursor<int64_t>(0);
    auto keys = table.NewMergeCursor({.columns = {0}, .key_column = 0});
    ASSERT_TRUE(keys.ok()) << keys.status();
    std::vector<uint64_t> ordinals;
    for (uint64_t i = 0; i < 2 * kParts; ++i) {
      const uint64_t row = i * 7919 % kRows;
      const auto key = static_cast<int64_t>(row);
      const auto found = cursor->SeekToKey(key);
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_TRUE(found->ordinal == row && found->exact);
      EXPECT_TRUE(*keys->SeekToKey(key));
      EXPECT_EQ(keys->Next(1)->ordinal(0), row);
      ordinals.push_back(row);
    }
    OwnedBatch<int64_t> taken;
    ASSERT_TRUE(cursor->Take(ordinals, taken).ok());
    for (size_t i = 0; i < ordinals.size(); ++i) {
      ASSERT_EQ(taken.batch().values[i], static_cast<int64_t>(ordinals[i]));
    }
  }

  const std::shared_ptr<Storage> storage_ = NewMemoryStorage();
  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("table");
};

// An open file of this test takes at least this many bytes of memory,
// because a reader loads the whole file.
constexpr size_t kLeastFileBytes = 500;

TEST_F(ManyPartsTest, StayWithin256DescriptorsAndTheMemory) {
  WriteParts(kParts);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  {
    const auto table = TableReader::Open(path_, {.access = ReaderOptions::Access::kPread});
    ASSERT_TRUE(table.ok()) << table.status();
    ExpectAllRows(*table);
    EXPECT_GT(table->memory_usage_bytes(), 100 * kLeastFileBytes);
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);

  constexpr size_t kBudget = 128 << 10;
  const auto small = TableReader::Open(
      path_, {.access = ReaderOptions::Access::kPread, .max_table_memory_bytes = kBudget});
  ASSERT_TRUE(small.ok()) << small.status();
  ExpectAllRows(*small);
  // A file may need more memory after it was opened. Two cursors and a scan keep files open.
  // So the table may exceed the limit a little.
  EXPECT_LT(small->memory_usage_bytes(), kBudget / 2 + (16u << 10));
  EXPECT_GT(small->counters().files_opened, 2 * kParts);
}

TEST_F(ManyPartsTest, CountersIncludeClosedFiles) {
  WriteParts(5, /*packed=*/false);
  const auto table =
      TableReader::Open(path_, {.access = ReaderOptions::Access::kPread, .max_open_files = 2});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->counters(), ReaderCounters());
  EXPECT_EQ(table->memory_usage_bytes(), 0u);
  {
    auto cursor = table->NewCursor<int64_t>(0);
    for (uint64_t part = 0; part < 5; ++part) {
      EXPECT_EQ(**cursor->Get(part * kRowsPerPart), static_cast<int64_t>(part * kRowsPerPart));
    }
    const ReaderCounters counters = table->counters();
    EXPECT_EQ(counters.files_opened, 5u);
    EXPECT_EQ(counters.blocks_read, 5u);
    EXPECT_EQ(counters.index_nodes_read, 5u);
    EXPECT_EQ(counters.source_requests, 5u);  // each file is small, so one request reads it
    uint64_t bytes = 0;
    for (uint64_t part = 0; part < 5; ++part)
      bytes += table->OpenColumn(part, 0)->info().file_size_bytes;
    EXPECT_EQ(counters.source_bytes, bytes);
  }
  EXPECT_EQ(table->memory_usage_bytes(), table->OpenColumn(3, 0)->memory_usage_bytes() +
                                             table->OpenColumn(4, 0)->memory_usage_bytes());
}

TEST_F(ManyPartsTest, SeeksOpenOnlyThePartsOfTheKey) {
  WriteParts(130, /*packed=*/false);
  const TableReader table = *TableReader::Open(storage_);
  auto cursor = table.NewCursor<int64_t>(0);
  EXPECT_EQ(table.counters().files_opened, 0u);
  EXPECT_EQ(cursor->SeekToKey(70 * kRowsPerPart)->ordinal, 70 * kRowsPerPart);
  EXPECT_EQ(table.counters().files_opened, 1u);
  auto keys = table.NewMergeCursor({.key_column = 0});
  EXPECT_TRUE(*keys->SeekToKey<int64_t>(71 * kRowsPerPart));
  EXPECT_EQ(keys->Next(1)->ordinal(0), 71 * kRowsPerPart);
  EXPECT_EQ(table.counters().files_opened, 2u);
}

// A search for a few keys reads only the chunks of the parts that have these keys.
TEST_F(ManyPartsTest, SeekManyReadsOnlyItsChunks) {
  WriteParts(200);
  const TableReader table = *TableReader::Open(storage_);
  const uint64_t rows = table.num_rows();
  std::vector<int64_t> all;
  for (uint64_t row = 0; row < rows; row += 7) all.push_back(static_cast<int64_t>(row * 31 % rows));
  ASSERT_GT(all.size(), table.num_parts());
  const std::vector<int64_t> few(all.begin(), all.begin() + 100);
  for (const std::vector<int64_t>& keys : {few, all, few}) {
    auto cursor = table.NewCursor<int64_t>(0);
    for (int i = 0; i < 2; ++i) {
      std::vector<KeyPosition> positions(keys.size());
      ASSERT_EQ(cursor->SeekMany(keys, positions), absl::OkStatus());
      for (size_t k = 0; k < keys.size(); ++k) {
        EXPECT_EQ(positions[k].ordinal, static_cast<uint64_t>(keys[k]));
        EXPECT_TRUE(positions[k].exact);
      }
    }
  }
  const std::vector<StorageEntry> files = *storage_->List("");
  for (const StorageEntry& file : files) {
    if (!file.path.starts_with("chunk-")) continue;
    ASSERT_TRUE(storage_->Delete(file.path).ok());
  }
  auto cursor = TableReader::Open(storage_)->NewCursor<int64_t>(0);
  const std::vector<int64_t> keys = {static_cast<int64_t>(rows), static_cast<int64_t>(rows - 3),
                                     static_cast<int64_t>(rows - 1)};
  std::vector<KeyPosition> positions(3);
  ASSERT_EQ(cursor->SeekMany(keys, positions), absl::OkStatus());
  EXPECT_EQ(positions[0].ordinal, rows);
  EXPECT_EQ(positions[1].ordinal, rows - 3);
  EXPECT_EQ(positions[2].ordinal, rows - 1);
}

// table.cft itself describes the last parts, so a scan of their rows needs no chunk.
TEST_F(ManyPartsTest, RangesReadOnlyTheirChunks) {
  WriteParts(130);
  const TableReader table = *TableReader::Open(storage_);
  const uint64_t rows = table.num_rows();
  size_t chunks = 0;
  const std::vector<StorageEntry> files = *storage_->List("");
  for (const StorageEntry& file : files) {
    if (!file.path.starts_with("chunk-")) continue;
    ASSERT_TRUE(storage_->Delete(file.path).ok());
    ++chunks;
  }
  ASSERT_GT(chunks, 0u);
  for (const bool reverse : {false, true}) {
    const auto scan = [&](const OrdinalRange& range) {
      return table.NewScan({.range = range, .reverse = reverse});
    };
    auto last = scan({rows - 10, rows});
    const auto batch = last->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->num_rows(), 10u);
    EXPECT_EQ(batch->ordinal(0), rows - 10);
    const auto end = last->Next();
    ASSERT_TRUE(end.ok()) << end.status();
    EXPECT_TRUE(end->empty());
    EXPECT_TRUE(scan({rows, rows})->Next()->empty());
    EXPECT_EQ(scan({0, 10})->Next().status().code(), absl::StatusCode::kAborted);
  }
  const auto split = table.SplitScan({.range = {rows - 10, rows}}, 4);
  ASSERT_TRUE(split.ok()) << split.status();
  EXPECT_EQ(split->front().begin, rows - 10);
}

// Seek indexes use only the memory that other data leaves free.
TEST(TableMemory, SeekIndexesRespectTheLimit) {
  const std::shared_ptr<Storage> storage = NewMemoryStorage();
  const Schema schema{.columns = {{.name = "key", .type = ColumnType::String()}}};
  const std::vector<WriterOptions> options{{.encoding = Encoding::kPrefix,
                                            .compression = Compression::kNone,
                                            .value_index = true,
                                            .block_size_bytes = 4096}};
  constexpr uint64_t kManyRows = 50'000;
  auto writer = TableWriter::Create(storage, schema, options);
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (uint64_t row = 0; row < kManyRows; ++row) {
    const std::string key = absl::StrCat("key ", 1'000'000 + row);
    const std::string_view view = key;
    ASSERT_TRUE(writer->Append<std::string_view>(0, {&view, 1}).ok());
  }
  ASSERT_TRUE(writer->Finish().ok());

  const auto bytes_after_seeks = [&](size_t max_table_memory_bytes) {
    const auto table =
        TableReader::Open(storage, {.max_table_memory_bytes = max_table_memory_bytes});
    auto cursor = table->NewCursor<std::string_view>(0);
    for (uint64_t i = 0; i < kManyRows; ++i) {
      const uint64_t row = i * 7919 % kManyRows;
      const std::string key = absl::StrCat("key ", 1'000'000 + row);
      EXPECT_EQ(cursor->SeekToKey(key)->ordinal, row);
    }
    return table->memory_usage_bytes();
  };
  const size_t all = bytes_after_seeks(size_t{1} << 30);
  const size_t none = bytes_after_seeks(0);
  EXPECT_GT(all, none + (32u << 10));
  const size_t some = none + (all - none) / 2;
  EXPECT_LE(bytes_after_seeks(2 * some), some);
  EXPECT_GT(bytes_after_seeks(2 * some), none);
}

TEST(TableMemory, LimitsCacheAndReadAhead) {
  const ReaderOptions large = internal::OptionsOfTable({});
  EXPECT_EQ(large.block_cache, nullptr);
  EXPECT_EQ(large.read_ahead_bytes, ReaderOptions().read_ahead_bytes);
  EXPECT_EQ(large.max_requests_in_flight, ReaderOptions().max_requests_in_flight);
  EXPECT_EQ(internal::MaxRangesOfScan({}), 64u);

  const ReaderOptions medium =
      internal::OptionsOfTable({.read_ahead_bytes = 1 << 20, .max_table_memory_bytes = 12 << 20});
  EXPECT_NE(medium.block_cache, nullptr);
  EXPECT_EQ(medium.read_ahead_bytes, 1u << 20);
  EXPECT_EQ(medium.max_requests_in_flight, 3u);
  EXPECT_EQ(internal::MaxRangesOfScan(medium), 3u);

  const auto cache = std::make_shared<BlockCache>(1 << 20);
  const ReaderOptions small =
      internal::OptionsOfTable({.block_cache = cache, .max_table_memory_bytes = 4096});
  EXPECT_EQ(small.block_cache, cache);
  EXPECT_EQ(small.read_ahead_bytes, 1024u);
  EXPECT_EQ(small.max_requests_in_flight, 1u);
}

}  // namespace cfile::table_memory_test
