// Tests the small blocks of files with a value index (WriterOptions::seek_block_size_bytes).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cfile/block_cache.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "gtest/gtest.h"

namespace cfile::seek_blocks_test {

constexpr size_t kSmall = 8 * 1024;

// Returns ascending keys of 16 hexadecimal digits.
std::vector<std::string> HexKeys(size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::string> keys(count);
  for (std::string& key : keys) {
    for (int digit = 0; digit < 16; ++digit) key += "0123456789abcdef"[random() % 16];
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Returns ascending numbers: first with large random steps, then with steps of 1.
std::vector<int64_t> ChangingNumbers(size_t count) {
  std::mt19937_64 random(2);
  std::vector<int64_t> numbers(count);
  int64_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    last += i < count / 2 ? static_cast<int64_t>(random() >> 24) : 1;
    numbers[i] = last;
  }
  return numbers;
}

// Writes `values` in batches of up to `most` values.
template <typename T>
std::vector<uint8_t> Write(const ColumnType& type, const WriterOptions& options,
                           std::span<const T> values, size_t most = SIZE_MAX) {
  std::mt19937_64 random(3);
  std::vector<uint8_t> file;
  auto writer = Writer<T>::Create(NewMemorySink(&file, "test"), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  while (!values.empty()) {
    const size_t count = std::min(most == SIZE_MAX ? most : 1 + random() % most, values.size());
    EXPECT_TRUE(writer->Append(values.first(count)).ok());
    values = values.subspan(count);
  }
  EXPECT_TRUE(writer->Finish().ok());
  return file;
}

Reader Open(const std::vector<uint8_t>& file, ReaderOptions options = {}) {
  auto reader = Reader::Open(NewMemoryViewSource(file), options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

std::vector<BlockInfo> BlocksOf(const std::vector<uint8_t>& file) {
  std::vector<BlockInfo> blocks;
  EXPECT_TRUE(VisitBlocks(Open(file), [&](const BlockInfo& block) {
                blocks.push_back(block);
                return true;
              }).ok());
  return blocks;
}

// The size that most blocks have. The first block and the last one do not count.
uint64_t UsualBytes(const std::vector<uint8_t>& file) {
  std::vector<uint64_t> sizes;
  for (const BlockInfo& block : BlocksOf(file)) sizes.push_back(block.stored_size_bytes);
  if (sizes.size() < 4) return 0;
  std::sort(sizes.begin() + 1, sizes.end() - 1);
  return sizes[sizes.size() / 2];
}

template <typename T>
void ExpectSeeks(const Reader& reader, const std::vector<T>& values) {
  std::mt19937_64 random(4);
  auto cursor = *reader.NewCursor<T>();
  std::vector<T> keys;
  for (int i = 0; i < 2000; ++i) keys.push_back(values[random() % values.size()]);
  std::vector<KeyPosition> many(keys.size());
  for (const bool again : {false, true}) {
    ASSERT_TRUE(cursor.SeekMany(keys, many).ok());
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto at = std::lower_bound(values.begin(), values.end(), keys[i]) - values.begin();
      ASSERT_TRUE(many[i].exact);
      ASSERT_EQ(many[i].ordinal, static_cast<uint64_t>(at)) << again;
      const auto one = cursor.SeekToKey(keys[i]);
      ASSERT_TRUE(one.ok() && one->exact) << one.status();
      ASSERT_EQ(one->ordinal, many[i].ordinal);
    }
  }
}

TEST(SeekBlocks, HaveTheSizeOfTheOption) {
  const std::vector<std::string> texts = HexKeys(300'000);
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const auto write = [&](const WriterOptions& options) {
    return Write<std::string_view>(ColumnType::String(), options, keys);
  };
  const auto expect_near = [](uint64_t bytes, uint64_t expected) {
    EXPECT_GT(bytes, expected * 3 / 4);
    EXPECT_LT(bytes, expected * 5 / 4);
  };
  for (const Encoding encoding : {Encoding::kAuto, Encoding::kPrefix}) {
    for (const bool movable : {false, true}) {
      WriterOptions options{.encoding = encoding, .value_index = true, .movable_blocks = movable};
      const auto large = write(options);
      EXPECT_GT(UsualBytes(large), 4 * kSmall);
      options.seek_block_size_bytes = kSmall;
      const auto file = write(options);
      expect_near(UsualBytes(file), kSmall);
      EXPECT_EQ(BlocksOf(file)[0].encoding, BlocksOf(large)[0].encoding);
      ExpectSeeks(Open(file), keys);
    }
  }
  EXPECT_EQ(write({}), write({.seek_block_size_bytes = kSmall}));
}

// The bytes in the file count, so that compressed blocks have more values. They have four times as
// many bytes as the option says.
TEST(SeekBlocks, CountStoredBytes) {
  std::vector<std::string> texts;
  for (int i = 100'000; i < 400'000; ++i) {
    texts.push_back("https://example.org/a/long/path/to/" + std::to_string(i / 10) + "/" +
                    std::to_string(i % 10));
  }
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const auto file = Write<std::string_view>(ColumnType::String(),
                                            {.encoding = Encoding::kPrefix,
                                             .compression = Compression::kZstd,
                                             .value_index = true,
                                             .seek_block_size_bytes = 1000},
                                            keys);
  EXPECT_GT(UsualBytes(file), 3000u);
  EXPECT_LT(UsualBytes(file), 5000u);
  const std::vector<BlockInfo> blocks = BlocksOf(file);
  EXPECT_GT(blocks[blocks.size() / 2].encoded_size_bytes, 8000u);
  ExpectSeeks(Open(file), keys);
}

TEST(SeekBlocks, BatchesDoNotMatter) {
  const std::vector<std::string> texts = HexKeys(100'000);
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const std::vector<int64_t> numbers = ChangingNumbers(400'000);
  const WriterOptions options{.value_index = true, .seek_block_size_bytes = kSmall};
  for (const size_t most : {10, 1000, 50'000}) {
    EXPECT_EQ(Write<std::string_view>(ColumnType::String(), options, keys, most),
              Write<std::string_view>(ColumnType::String(), options, keys));
    EXPECT_EQ(Write<int64_t>(ColumnType::Int64(), options, numbers, most),
              Write<int64_t>(ColumnType::Int64(), options, numbers));
  }
}

TEST(SeekBlocks, TheEncodingFollowsTheValues) {
  const std::vector<int64_t> numbers = ChangingNumbers(1'000'000);
  const WriterOptions options{.value_index = true, .seek_block_size_bytes = kSmall};
  const auto file = Write<int64_t>(ColumnType::Int64(), options, numbers);
  const std::vector<BlockInfo> blocks = BlocksOf(file);
  EXPECT_NE(blocks[2].encoding, blocks[blocks.size() - 2].encoding);
  // The second half takes almost no space.
  const auto half =
      Write<int64_t>(ColumnType::Int64(), options, std::span(numbers).first(numbers.size() / 2));
  EXPECT_LT(file.size(), half.size() + half.size() / 20);
  ExpectSeeks(Open(file), numbers);
}

// After 65,536 blocks, blocks become larger.
TEST(SeekBlocks, TheirNumberIsLimited) {
  std::vector<int32_t> numbers(200'000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i);
  const auto file = Write<int32_t>(
      ColumnType::Int32(),
      {.encoding = Encoding::kPlain, .value_index = true, .seek_block_size_bytes = 1}, numbers);
  const std::vector<BlockInfo> blocks = BlocksOf(file);
  EXPECT_EQ(blocks[1000].num_rows, 1u);
  EXPECT_GT(blocks[blocks.size() - 2].num_rows, 1u);
  EXPECT_LT(blocks.size(), numbers.size() * 3 / 4);
  ExpectSeeks(Open(file), numbers);
}

// A search in a block that is used in place does not ask the cache.
TEST(SeekBlocks, BlocksInPlaceAreNotLookedUp) {
  const std::vector<std::string> texts = HexKeys(100'000);
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const auto file = Write<std::string_view>(
      ColumnType::String(), {.value_index = true, .seek_block_size_bytes = kSmall}, keys);
  const auto cache = std::make_shared<BlockCache>(size_t{1} << 20);
  const Reader reader = Open(file, {.block_cache = cache});
  ASSERT_NE(reader.info().compression, Compression::kNone);
  const std::vector<BlockInfo> blocks = BlocksOf(file);
  for (const BlockInfo& block : blocks) ASSERT_FALSE(block.compressed);
  ExpectSeeks(reader, keys);
  EXPECT_LE(cache->counters().misses, blocks.size());
  EXPECT_EQ(cache->counters().blocks, 0u);
}

// SeekMany goes from leaf to leaf of the index.
TEST(SeekBlocks, SeekManyInManyLeaves) {
  const std::vector<std::string> texts = HexKeys(50'000);
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  const auto file = Write<std::string_view>(ColumnType::String(),
                                            {.encoding = Encoding::kPrefix,
                                             .value_index = true,
                                             .seek_block_size_bytes = 1000,
                                             .index_block_size_bytes = 200},
                                            keys);
  ExpectSeeks(Open(file), keys);
}

}  // namespace cfile::seek_blocks_test
