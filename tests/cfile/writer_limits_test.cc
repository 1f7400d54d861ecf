// A writer never writes a file that a reader with the same limits refuses. The tests use sizes at,
// below and above each limit, and inputs whose size is hard to predict.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cfile/reader.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/limits_property.h"
#include "tests/encodings/columns.h"

namespace cfile::writer_limits_test {

using encodings::int128_t;
using testing::HasSubstr;
using namespace testing_support;
using Random = std::mt19937_64;
using Text = std::string_view;
using Bytes = std::vector<uint8_t>;

void ExpectAbove(const absl::Status& status, const std::string& option) {
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("raise " + option));
}

// Returns the numbers below `count` as strings, each `times` times in a row.
Column<Text> Distinct(size_t count, size_t times) {
  Column<Text> column;
  for (size_t i = 0; i < count * times; ++i) column.rows.push_back(std::to_string(i / times));
  return column;
}

std::string RandomText(size_t size, Random& random) {
  std::string text(size, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

Leaf<Text> ListsOf(const std::vector<std::vector<std::string>>& lists) {
  Leaf<Text> leaf{.limits = {1, 1}};
  for (const auto& list : lists) {
    for (size_t i = 0; i < list.size(); ++i) {
      leaf.repetition.push_back(i > 0);
      leaf.definition.push_back(1);
      leaf.values.push_back(list[i]);
    }
  }
  Index(leaf);
  return leaf;
}

TEST(WriterLimits, OfDictionaryValues) {
  Random random(1);
  for (const Encoding encoding : {Encoding::kDict, Encoding::kParquetDictionary, Encoding::kAuto}) {
    if (encoding != Encoding::kAuto && encodings::FindEncoding(encoding) == nullptr) continue;
    for (const size_t limit : {0, 1, 100}) {
      const size_t below = limit - std::min<size_t>(limit, 1);
      for (const size_t count : {below, limit, limit + 1, 50 * limit}) {
        SCOPED_TRACE(testing::Message() << EncodingName(encoding) << " " << limit << " " << count);
        const WriterOptions options{
            .encoding = encoding, .block_size_bytes = 500, .max_dictionary_values = limit};
        EXPECT_EQ(TryColumn(ColumnType::String(), options, Distinct(count, 20), random),
                  absl::OkStatus());
        std::vector<std::vector<std::string>> lists;
        for (size_t i = 0; i < 10 * count; ++i) lists.push_back({std::to_string(i / 10)});
        EXPECT_EQ(TryLeaf(ColumnType::String(), options, ListsOf(lists), random), absl::OkStatus());
        // One record holds all the values. Its first value is the value of the record before.
        lists.assign(2, {"0"});
        for (size_t i = 0; i < count; ++i) lists.back().push_back(std::to_string(i));
        EXPECT_EQ(TryLeaf(ColumnType::String(), options, ListsOf(lists), random), absl::OkStatus());
      }
    }
  }
}

// The limit of dictionary values also holds for integers. Blocks that do not use the dictionary are
// DELTA_BINARY_PACKED.
TEST(WriterLimits, OfDictionaryNumbers) {
  Random random(2);
  Column<int64_t> column;
  for (size_t i = 0; i < 20'000; ++i)
    column.rows.push_back(static_cast<int64_t>((i / 4 + 1) * uint64_t{0x9E3779B97F4A7C15}));
  for (const size_t limit : {4999, 5000, 5001}) {
    const WriterOptions options{.encoding = Encoding::kParquetDictionary,
                                .max_dictionary_values = limit};
    EXPECT_EQ(TryColumn(ColumnType::Int64(), options, column, random), absl::OkStatus());
  }
}

// A column has more distinct strings than a reader accepts in a dictionary by default. Once, a
// writer put all of them into the dictionary.
TEST(WriterLimits, OfDictionaryValuesByDefault) {
  if (encodings::FindEncoding(Encoding::kDict) == nullptr) GTEST_SKIP();
  constexpr uint64_t kCount = 4'300'000;
  constexpr uint64_t kBatch = 10'000;
  Bytes file;
  std::vector<uint32_t> numbers(kBatch);
  std::vector<Text> texts(kBatch);
  // Value number i holds the bytes of the number `first` + i.
  const auto fill = [&](uint64_t first) {
    for (size_t i = 0; i < kBatch; ++i) {
      numbers[i] = static_cast<uint32_t>(first + i);
      texts[i] = Text(reinterpret_cast<const char*>(&numbers[i]), sizeof(uint32_t));
    }
  };
  auto writer = Writer<Text>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                     {.encoding = Encoding::kDict,
                                      .block_size_bytes = size_t{50} << 20,
                                      .max_block_size_bytes = size_t{100} << 20,
                                      .statistics = false});
  ASSERT_TRUE(writer.ok()) << writer.status();
  for (uint64_t first = 0; first < kCount; first += kBatch) {
    fill(first);
    ASSERT_EQ(writer->Append(texts), absl::OkStatus());
  }
  ASSERT_EQ(writer->Finish(), absl::OkStatus());
  const auto reader = Reader::Open(NewMemoryViewSource(file), {.max_block_size_bytes = 100 << 20});
  ASSERT_TRUE(reader.ok()) << reader.status();
  auto cursor = reader->NewCursor<Text>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  for (uint64_t first = 0; first < kCount; first += kBatch) {
    fill(first);
    for (size_t done = 0; done < kBatch;) {
      const auto batch = cursor->Next(kBatch - done);
      ASSERT_TRUE(batch.ok()) << batch.status();
      ASSERT_TRUE(!batch->empty() &&
                  std::equal(batch->values.begin(), batch->values.end(), &texts[done]));
      done += batch->size();
    }
  }
}

// A file that was written with a raised limit can be opened if the reader's limit is raised, too.
TEST(WriterLimits, OfDictionaryValuesIsAnOptionOfReaders) {
  for (const Encoding encoding : {Encoding::kDict, Encoding::kParquetDictionary}) {
    if (encodings::FindEncoding(encoding) == nullptr) continue;
    const Column<Text> column = Distinct(1000, 20);
    const Bytes file = WriteColumn<Text>(ColumnType::String(), {.encoding = encoding}, column);
    const auto get = [&](size_t limit) {
      const auto reader = Reader::Open(NewMemoryViewSource(file), {.max_dictionary_values = limit});
      return reader.ok() ? reader->Get<Text>(0).status() : reader.status();
    };
    EXPECT_EQ(get(1000), absl::OkStatus());
    ExpectAbove(get(999), "max_dictionary_values");
    EXPECT_THAT(std::string(get(999).message()),
                HasSubstr("a dictionary of 1000 values is above the limit of 999"));
  }
}

// Blocks of every encoding and type stay within the limit, if values that compress well are
// followed by values that do not.
TEST(WriterLimits, OfBlocks) {
  Random random(4);
  for (const encodings::Pair& pair : encodings::AllPairs()) {
    encodings::VisitPhysicalType(pair.type, [&]<typename T>(std::type_identity<T>) {
      for (const ColumnType& type : AllColumnTypes()) {
        if (type.physical() != pair.type) continue;
        for (const bool automatic : {false, true}) {
          for (const size_t divisor : {2, 13}) {
            for (const bool nullable : {false, true}) {
              Column<T> column = RandomColumn<T>(type, 4000, nullable ? 20 : 0, false, random);
              // The first half encodes so well that the writer plans far too many values for the
              // next block.
              const auto first = column.rows[0];
              std::fill(column.rows.begin(), column.rows.begin() + 2000, first);
              const WriterOptions options{.encoding = automatic ? Encoding::kAuto : pair.encoding,
                                          .nullable = nullable,
                                          .block_size_bytes = 4000 / divisor,
                                          .max_block_size_bytes = 4000,
                                          .restart_interval = static_cast<uint32_t>(random() % 3)};
              SCOPED_TRACE(testing::Message()
                           << type.ToString() << " " << EncodingName(options.encoding) << " "
                           << divisor << " " << nullable);
              EXPECT_EQ(TryColumn<T>(type, options, column, random), absl::OkStatus());
            }
          }
        }
      }
    });
    if (HasFailure()) return;
  }
}

// Strings of every size up to the largest size that fits into a block are written. A larger string
// is refused.
TEST(WriterLimits, OfBlocksOfLongValues) {
  Random random(5);
  constexpr size_t kLargest = 6000;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (!row.Supports(PhysicalType::kBytes)) continue;
    for (const Encoding encoding : {row.encoding, Encoding::kAuto}) {
      for (const bool nullable : {false, true}) {
        for (int round = 0; round < 10; ++round) {
          Column<Text> column;
          const size_t longest = round % 2 == 0 ? kLargest - 64 : kLargest / 3;
          for (int i = 0; i < 300; ++i) {
            const bool long_one = random() % 8 == 0;
            const size_t size =
                long_one ? longest - random() % (1 + random() % longest) : random() % 20;
            column.rows.push_back(RandomText(size, random));
            if (nullable && random() % 4 == 0) column.rows.push_back(std::nullopt);
          }
          std::fill_n(column.rows.begin(), random() % 200, "the same");
          const WriterOptions options{.encoding = encoding,
                                      .nullable = nullable,
                                      .block_size_bytes = 1 + random() % (kLargest / 2),
                                      .max_block_size_bytes = kLargest};
          SCOPED_TRACE(testing::Message() << EncodingName(encoding) << " " << nullable << " round "
                                          << round << " blocks of " << options.block_size_bytes);
          ASSERT_EQ(TryColumn(ColumnType::String(), options, column, random), absl::OkStatus());
          column.rows.push_back(std::string(kLargest - 63, 'x'));
          ExpectAbove(TryColumn(ColumnType::String(), options, column, random),
                      "max_block_size_bytes");
        }
      }
    }
  }
}

// After values that encode well, the next block stays within the limit. In two bugs, this block
// became far larger.
TEST(WriterLimits, BlocksThatGrowStayWithinTheirLimit) {
  Random random(6);
  constexpr size_t kUnit = size_t{1} << 18;
  for (const Encoding encoding :
       {Encoding::kAuto, Encoding::kParquetDictionary, Encoding::kParquetDeltaByteArray}) {
    SCOPED_TRACE(EncodingName(encoding));
    // The bugs were found with blocks of 1.25 MiB and a limit of 16 MiB. An eighth of these sizes
    // is enough to see the bugs.
    const WriterOptions options{
        .encoding = encoding, .block_size_bytes = 5 * kUnit / 8, .max_block_size_bytes = 8 * kUnit};
    Column<Text> texts;
    Leaf<Text> lists{.limits = {1, 1}};
    for (size_t i = 0; i < 12'000; ++i) {
      texts.rows.push_back(i < 5000 ? std::string(1000, 'x') : RandomText(1000, random));
      lists.repetition.push_back(i % 3 != 0);
      lists.definition.push_back(1);
      lists.values.push_back(*texts.rows.back());
    }
    Index(lists);
    EXPECT_EQ(TryColumn(ColumnType::String(), options, texts, random), absl::OkStatus());
    EXPECT_EQ(TryLeaf(ColumnType::String(), options, lists, random), absl::OkStatus());
    Column<int128_t> decimals;
    for (size_t i = 0; i < 800'000; ++i) {
      const auto any = static_cast<int128_t>(random()) * 1234567;
      decimals.rows.push_back(i < 400'000 ? int128_t{7} : any);
    }
    EXPECT_EQ(TryColumn(ColumnType::Decimal(38, 2), options, decimals, random), absl::OkStatus());
  }
}

// The writer counts restart points: empty strings take no bytes, but each has a restart point of
// four bytes.
TEST(WriterLimits, RestartsCount) {
  Random random(7);
  const WriterOptions options{.encoding = Encoding::kPrefix,
                              .block_size_bytes = 5000,
                              .max_block_size_bytes = 10'000,
                              .restart_interval = 1};
  Column<Text> column;
  column.rows.assign(20'000, std::string());
  EXPECT_EQ(TryColumn(ColumnType::String(), options, column, random), absl::OkStatus());
}

// A record is never split. If the first value of a record shows that the record needs a block of
// its own, the writer begins a new block.
TEST(WriterLimits, OfRecords) {
  Random random(8);
  constexpr size_t kLargest = 100'000;
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kPrefix, Encoding::kDict,
                                  Encoding::kParquetDictionary, Encoding::kAuto}) {
    if (encoding != Encoding::kAuto && encodings::FindEncoding(encoding) == nullptr) continue;
    SCOPED_TRACE(EncodingName(encoding));
    const WriterOptions options{
        .encoding = encoding, .block_size_bytes = 20'000, .max_block_size_bytes = kLargest};
    std::vector<std::vector<std::string>> lists;
    for (int i = 0; i < 400; ++i) {
      lists.push_back({i % 7 == 0 ? RandomText(kLargest - 200 - random() % 70'000, random)
                                  : RandomText(random() % 3000, random)});
    }
    EXPECT_EQ(TryLeaf(ColumnType::String(), options, ListsOf(lists), random), absl::OkStatus());
    // The records have many different values, and take up to a third of the largest block.
    lists.clear();
    for (int i = 0; i < 100; ++i) {
      std::vector<std::string>& list = lists.emplace_back();
      for (uint64_t k = 1 + random() % 300; k > 0; --k) list.push_back(RandomText(100, random));
    }
    EXPECT_EQ(TryLeaf(ColumnType::String(), options, ListsOf(lists), random), absl::OkStatus());
    lists = {{"a"}, std::vector<std::string>(3, RandomText(kLargest / 2, random))};
    for (std::string& each : lists.back()) each[0] = static_cast<char>(random());
    ExpectAbove(TryLeaf(ColumnType::String(), options, ListsOf(lists), random),
                "max_block_size_bytes");
  }
}

// A record is accepted if its encoded values fit into a block, even if the values have far more
// bytes.
TEST(WriterLimits, OfRecordsThatEncodeWell) {
  Random random(9);
  const WriterOptions options{.block_size_bytes = 20'000, .max_block_size_bytes = 100'000};
  Leaf<int64_t> leaf{.limits = {1, 1}};
  leaf.repetition.assign(100'000, 1);
  leaf.repetition[0] = 0;
  leaf.definition.assign(100'000, 1);
  leaf.values.assign(100'000, 7);
  Index(leaf);
  EXPECT_EQ(TryLeaf(ColumnType::Int64(), options, leaf, random), absl::OkStatus());
}

TEST(WriterLimits, OfIndexes) {
  Random random(10);
  Column<Text> keys;
  for (int i = 0; i < 2000; ++i) keys.rows.push_back(std::to_string(1'000'000 + i));
  Column<Text> long_keys;
  for (int i = 0; i < 300; ++i) {
    std::string key(i % 10 == 0 ? 4500 : 100, 'k');
    key.append(std::to_string(1'000'000 + i));
    long_keys.rows.push_back(std::move(key));
  }
  std::sort(long_keys.rows.begin(), long_keys.rows.end());
  for (const Column<Text>* column : {&keys, &long_keys}) {
    bool refused = false, written = false;
    for (const size_t limit : {1000, 30'000, 100'000, 200'000, 400'000, 1'000'000, 4'000'000}) {
      for (const size_t node_size : {1, 1000, 32 * 1024}) {
        for (const bool positional : {false, true}) {
          const WriterOptions options{.encoding = Encoding::kPlain,
                                      .positional_index = positional,
                                      .value_index = true,
                                      .block_size_bytes = 200,
                                      .max_values_per_block = 3,
                                      .index_block_size_bytes = node_size,
                                      .max_block_size_bytes = 12'000,
                                      .max_index_size_bytes = limit};
          const absl::Status status = TryColumn(ColumnType::String(), options, *column, random);
          if (!status.ok()) ExpectAbove(status, "max_index_size_bytes");
          (status.ok() ? written : refused) = true;
        }
      }
    }
    EXPECT_TRUE(refused && written);
  }
}

// A node that is full of short keys may have no room for a long key. A key is the shortest prefix
// that differs from the value before, so that among values with a long common prefix all keys but
// the first are long.
TEST(WriterLimits, OfIndexNodesWithALongKey) {
  Random random(14);
  for (const int place : {1, 100, 250, 370, 600, 777, 1999}) {
    for (const int long_values : {2, 3, 4}) {
      Column<Text> column;
      for (int i = 0; i < 2000; ++i) {
        column.rows.push_back(std::to_string(1'000'000 + i));
        const std::string front = *column.rows.back() + std::string(9000, 'k');
        for (char last = 'a'; i == place && last < 'a' + long_values; ++last)
          column.rows.push_back(front + last);
      }
      for (const size_t node_size : {100, 32 * 1024}) {
        const WriterOptions options{.encoding = Encoding::kPlain,
                                    .value_index = true,
                                    .block_size_bytes = 1000,
                                    .max_values_per_block = 1,
                                    .index_block_size_bytes = node_size,
                                    .max_block_size_bytes = 12'000};
        const absl::Status status = TryColumn(ColumnType::String(), options, column, random);
        if (long_values == 2) {
          EXPECT_EQ(status, absl::OkStatus());
        } else if (long_values == 4) {  // a node would have to hold two long keys
          ExpectAbove(status, "max_block_size_bytes");
        }
      }
    }
  }
}

// The limit of a block also holds for the dictionary: a value that would make the dictionary too
// large is not added.
TEST(WriterLimits, OfDictionaryBytes) {
  Random random(15);
  for (const Encoding encoding : {Encoding::kDict, Encoding::kParquetDictionary}) {
    if (encodings::FindEncoding(encoding) == nullptr) continue;
    for (size_t size = 4970; size <= 5000; ++size) {
      Column<Text> column;
      for (int i = 0; i < 20; ++i)
        column.rows.push_back(i < 10 ? std::string(size, 'a') : std::string(5000, 'b'));
      const WriterOptions options{
          .encoding = encoding, .block_size_bytes = 5000, .max_block_size_bytes = 10'000};
      EXPECT_EQ(TryColumn(ColumnType::String(), options, column, random), absl::OkStatus());
    }
  }
}

// The writer's estimate of an index is close to the memory that the index takes in a reader.
TEST(WriterLimits, OfIndexesIsNotFarFromWhatReadersTake) {
  Random random(11);
  Column<int32_t> column = RandomColumn<int32_t>(ColumnType::Int32(), 10'000, 0, false, random);
  const auto written = [&](size_t limit) {
    const WriterOptions options{
        .encoding = Encoding::kPlain, .max_values_per_block = 1, .max_index_size_bytes = limit};
    return TryColumn(ColumnType::Int32(), options, column, random).ok();
  };
  EXPECT_FALSE(written(10'000 * 25));
  EXPECT_TRUE(written(10'000 * 60));
  // The nodes have few entries, so that the memory of the nodes themselves matters.
  column.rows.resize(60);
  for (size_t limit = 20'000; limit < 30'000; limit += 16) {
    const WriterOptions options{.encoding = Encoding::kPlain,
                                .max_values_per_block = 1,
                                .index_block_size_bytes = 1,
                                .max_index_size_bytes = limit};
    const absl::Status status = TryColumn(ColumnType::Int32(), options, column, random);
    if (!status.ok()) ExpectAbove(status, "max_index_size_bytes");
  }
}

TEST(WriterLimits, OfMetadata) {
  Random random(12);
  Column<int32_t> column = RandomColumn<int32_t>(ColumnType::Int32(), 10, 0, false, random);
  bool refused = false, written = false;
  // The pairs are few with long values, or many and empty. An empty pair takes more memory than
  // bytes in the file.
  for (const size_t pairs : {0, 1, 100, 5000}) {
    for (const size_t size : {0, 1, 900, 20'000}) {
      for (const size_t limit : {50, 1000, 20'000, 100'000}) {
        WriterOptions options{.max_metadata_size_bytes = limit};
        options.metadata.assign(pairs, {"", std::string(size, 'm')});
        const absl::Status status = TryColumn(ColumnType::Int32(), options, column, random);
        if (!status.ok()) ExpectAbove(status, "max_metadata_size_bytes");
        (status.ok() ? written : refused) = true;
      }
    }
  }
  EXPECT_TRUE(refused && written);

  // The limit also holds for the metadata of the footer.
  Bytes file;
  auto writer = Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(),
                                        {.max_metadata_size_bytes = 20'000});
  ASSERT_TRUE(writer.ok());
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(writer->AddMetadata("", ""), absl::OkStatus());
  ExpectAbove(writer->Finish(), "max_metadata_size_bytes");
  writer = absl::AbortedError("dropped");
  EXPECT_TRUE(file.empty());
}

// In version 1, blocks are compressed even if compression makes them longer. Such blocks stay
// within the limit, too.
TEST(WriterLimits, OfStoredBlocks) {
  Random random(13);
  for (const Compression codec : BuiltInCompressions()) {
    for (size_t largest = 12; largest < 60; ++largest) {
      for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
        // Version 1 supports only Kudu's codecs.
        if (version == FormatVersion::kV1 && static_cast<uint32_t>(codec) >= 100) continue;
        Column<int32_t> column = RandomColumn<int32_t>(ColumnType::Int32(), 2, 0, false, random);
        const WriterOptions options{.encoding = Encoding::kPlain,
                                    .compression = codec,
                                    .block_size_bytes = 6,
                                    .max_block_size_bytes = largest,
                                    .version = version};
        const absl::Status status = TryColumn(ColumnType::Int32(), options, column, random);
        if (!status.ok()) ExpectAbove(status, "max_block_size_bytes");
      }
    }
  }
}

}  // namespace cfile::writer_limits_test
