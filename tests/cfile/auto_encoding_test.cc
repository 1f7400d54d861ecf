// Tests the automatic choice of encodings: every column reads back, no file exceeds the PLAIN file
// by more than the metadata of its blocks, and the choice depends on the Goal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cfile/inspect.h"
#include "column_testing.h"
#include "encodings/registry.h"
#include "level_testing.h"

namespace cfile::testing_support::auto_encoding_test {

constexpr Goal kGoals[] = {Goal::kBalanced, Goal::kSize, Goal::kSpeed};

enum class Kind { kUniform, kFew, kConstant, kSorted, kWalk, kNulls, kRuns, kLong, kChanging };
constexpr Kind kKinds[] = {Kind::kUniform, Kind::kFew,  Kind::kConstant,
                           Kind::kSorted,  Kind::kWalk, Kind::kNulls,
                           Kind::kRuns,    Kind::kLong, Kind::kChanging};

// Returns a number slightly above `previous`, or a string that shares a prefix with `previous`.
template <typename T, typename Random>
Owned<T> Next(const ColumnType& type, const Owned<T>& previous, Random& random) {
  if constexpr (encodings::kIsBytes<T>) {
    std::string next = previous;
    if (type.physical() == PhysicalType::kFixedBytes || next.size() > 2) {
      next.back() = static_cast<char>(next.back() + random() % 3);
    } else {
      next += "some text";
    }
    return next;
  } else if constexpr (encodings::kIsFloat<T>) {
    return previous + static_cast<T>(random() % 100) / 100;
  } else if constexpr (encodings::kIsInteger<T>) {
    return static_cast<T>(static_cast<encodings::uint128_t>(previous) + random() % 100);
  } else {
    return RandomValue<T>(type, 1, random);
  }
}

template <typename T, typename Random>
Column<T> MakeColumn(Kind kind, const ColumnType& type, size_t rows, Random& random) {
  Column<T> column;
  Owned<T> value = RandomValue<T>(type, 1, random);
  for (size_t i = 0; i < rows; ++i) {
    const bool late = i > rows / 2;
    switch (kind) {
      case Kind::kUniform:
      case Kind::kSorted:
        value = RandomValue<T>(type, 1, random);
        break;
      case Kind::kFew:
        value = RandomValue<T>(type, 0, random);
        break;
      case Kind::kWalk:
        value = Next<T>(type, value, random);
        break;
      case Kind::kRuns:
        if (random() % 50 == 0) value = RandomValue<T>(type, 1, random);
        break;
      case Kind::kLong:
        if constexpr (encodings::kIsBytes<T>) {
          if (type.physical() == PhysicalType::kBytes && i % 1000 == 500) {
            value = std::string(100'000, static_cast<char>(random()));
          } else {
            value = RandomValue<T>(type, 1, random);
          }
        }
        break;
      case Kind::kChanging:
        value = late ? RandomValue<T>(type, 1, random) : Next<T>(type, value, random);
        break;
      case Kind::kConstant:
      case Kind::kNulls:
        break;
    }
    const bool null = kind == Kind::kNulls || (kind == Kind::kFew && random() % 3 == 0);
    column.rows.push_back(null ? std::nullopt : std::optional<Owned<T>>(value));
  }
  if (kind == Kind::kSorted) {
    std::sort(column.rows.begin(), column.rows.end(),
              [](const auto& a, const auto& b) { return encodings::KeyLess<T>(T(*a), T(*b)); });
  }
  return column;
}

Reader OpenFile(const std::vector<uint8_t>& file) {
  auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  const VerifyReport report = Verify(*reader);
  EXPECT_TRUE(report.ok()) << report.damages.at(0).status;
  return *reader;
}

std::vector<BlockInfo> BlocksOf(const Reader& reader) {
  std::vector<BlockInfo> blocks;
  EXPECT_TRUE(VisitBlocks(reader, [&](const BlockInfo& block) {
                blocks.push_back(block);
                return true;
              }).ok());
  return blocks;
}

template <typename T>
std::vector<uint8_t> WriteValues(const ColumnType& type, const WriterOptions& options,
                                 std::span<const T> values) {
  std::vector<uint8_t> file;
  auto writer = Writer<T>::Create(NewMemorySink(&file, "test"), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(values).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return file;
}

std::vector<int64_t> Sequence(size_t count) {
  std::mt19937_64 random(1);
  std::vector<int64_t> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<int64_t>(i * 1000 + random() % 1000));
  return values;
}
std::vector<int64_t> Uniform(size_t count) {
  std::mt19937_64 random(2);
  std::vector<int64_t> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<int64_t>(random()));
  return values;
}
std::vector<double> Walk(size_t count) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> step(0, 0.01);
  std::vector<double> values;
  double value = 100;
  for (size_t i = 0; i < count; ++i) values.push_back(value += step(random));
  return values;
}
std::vector<std::string> Keys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    std::string number = std::to_string(12345 + 7 * i);
    keys.push_back("key-" + std::string(12 - number.size(), '0') + number);
  }
  return keys;
}
std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

TEST(AutoEncoding, EveryColumnReadsBackAndIsNoLargerThanPlain) {
  std::mt19937_64 random(1);
  for (const ColumnType& type : AllColumnTypes()) {
    encodings::VisitPhysicalType(type.physical(), [&]<typename T>(std::type_identity<T>) {
      for (const Kind kind : kKinds) {
        for (const size_t rows : {0, 1, 10, 3000, 30'000}) {
          const auto column = MakeColumn<T>(kind, type, rows, random);
          for (const size_t block_size : {300, 20'000}) {
            if (rows == 30'000 && block_size == 300) continue;
            WriterOptions options{.encoding = Encoding::kPlain, .nullable = true};
            options.block_size_bytes = block_size;
            const auto plain = WriteColumn<T>(type, options, column);
            const size_t plain_blocks = BlocksOf(OpenFile(plain)).size();
            options.encoding = Encoding::kAuto;
            for (const Goal goal : kGoals) {
              SCOPED_TRACE(testing::Message()
                           << type.ToString() << ", kind " << static_cast<int>(kind) << ", " << rows
                           << " rows, block size " << block_size << ", goal "
                           << static_cast<int>(goal));
              options.goal = goal;
              const auto file = WriteColumn<T>(type, options, column);
              const Reader reader = OpenFile(file);
              ASSERT_NE(reader.info().encoding, Encoding::kAuto);
              auto cursor = reader.template NewCursor<T>();
              ASSERT_TRUE(cursor.ok()) << cursor.status();
              ASSERT_NO_FATAL_FAILURE(ExpectRest(*cursor, column, random));
              const auto blocks = BlocksOf(reader);
              // A block may be larger than its PLAIN form: by its envelope, its uncompressed size,
              // alignment and an index entry, and by an overhead of the encoding. This overhead is
              // larger if the first values of a block do not predict the later values.
              const bool misleading = kind == Kind::kChanging || kind == Kind::kRuns ||
                                      kind == Kind::kLong || block_size == 300;
              ASSERT_LE(file.size(), plain.size() + 128 + 128 * (blocks.size() + plain_blocks) +
                                         (misleading ? 5 * rows : rows / 50));
            }
          }
        }
      }
    });
  }
}

// Batches of different sizes produce the same file.
TEST(AutoEncoding, BatchesDoNotMatter) {
  std::mt19937_64 random(2);
  for (const ColumnType& type :
       {ColumnType::Int64(), ColumnType::Double(), ColumnType::String(), ColumnType::Bool()}) {
    encodings::VisitPhysicalType(type.physical(), [&]<typename T>(std::type_identity<T>) {
      for (const Kind kind : kKinds) {
        SCOPED_TRACE(testing::Message() << type.ToString() << ", kind " << static_cast<int>(kind));
        const auto column = MakeColumn<T>(kind, type, 40'000, random);
        const std::vector<T> list = column.Values();
        std::unique_ptr<T[]> values(new T[list.size()]);
        std::copy(list.begin(), list.end(), values.get());
        const std::vector<uint8_t> validity = column.Validity();
        const WriterOptions options{.nullable = true, .block_size_bytes = 30'000};
        const auto expected = WriteColumn<T>(type, options, column);
        std::vector<uint8_t> file;
        auto writer = Writer<T>::Create(NewMemorySink(&file, "test"), type, options);
        ASSERT_TRUE(writer.ok());
        for (size_t begin = 0; begin < list.size();) {
          // Each batch except the last fills whole bytes of the validity bitmap.
          const size_t count = std::min<size_t>(8 + 8 * (random() % 1000), list.size() - begin);
          ASSERT_TRUE(
              writer->Append({&values[begin], count}, {&validity[begin / 8], (count + 7) / 8})
                  .ok());
          begin += count;
        }
        ASSERT_TRUE(writer->Finish().ok());
        ASSERT_TRUE(file == expected);
      }
    });
  }
}

// When the kind of the values changes within a file, later blocks get another encoding.
TEST(AutoEncoding, BlocksOfOneFileDiffer) {
  std::vector<int64_t> values = Uniform(500'000);
  const std::vector<int64_t> sequence = Sequence(500'000);
  values.insert(values.end(), sequence.begin(), sequence.end());
  values.insert(values.end(), 500'000, 42);
  const auto file = WriteValues<int64_t>(ColumnType::Int64(), {}, values);
  const Reader reader = OpenFile(file);
  std::map<Encoding, uint64_t> sequential, uniform;
  for (const BlockInfo& block : BlocksOf(reader)) {
    if (block.first_ordinal < 450'000) ++uniform[block.encoding];
    if (block.first_ordinal > 550'000 && block.first_ordinal < 900'000)
      ++sequential[block.encoding];
  }
  ASSERT_EQ(uniform.size(), 1u);
  ASSERT_EQ(sequential.size(), 1u);
  EXPECT_EQ(uniform.begin()->first, Encoding::kPlain);
  EXPECT_NE(sequential.begin()->first, Encoding::kPlain);
  // The bound allows for one block that holds values of both kinds.
  EXPECT_LT(file.size(), 500'000 * 8 + 500'000 * 1.5 + 400'000);
  // Most bytes of the file are in PLAIN blocks.
  EXPECT_EQ(reader.info().encoding, Encoding::kPlain);
  auto cursor = reader.NewCursor<int64_t>();
  for (size_t ordinal = 0; ordinal < values.size(); ordinal += 997)
    ASSERT_EQ(**cursor->Get(ordinal), values[ordinal]);
}

TEST(AutoEncoding, GoalsDiffer) {
  const std::vector<double> walk = Walk(200'000);
  const std::vector<std::string> keys = Keys(200'000);
  std::map<Goal, size_t> walk_bytes, key_bytes;
  for (const Goal goal : kGoals) {
    walk_bytes[goal] = WriteValues<double>(ColumnType::Double(), {.goal = goal}, walk).size();
    const auto file =
        WriteValues<std::string_view>(ColumnType::String(), {.goal = goal}, Views(keys));
    key_bytes[goal] = file.size();
    const Reader reader = OpenFile(file);
    const bool compresses = CheckCompressionBuiltIn(Compression::kZstd).ok();
    EXPECT_EQ(reader.info().compression,
              goal == Goal::kSpeed || !compresses ? Compression::kNone : Compression::kZstd);
    for (const BlockInfo& block : BlocksOf(reader))
      EXPECT_EQ(block.compressed, goal != Goal::kSpeed && compresses);
  }
  // With kSpeed a random walk stays PLAIN: no encoding halves its size.
  EXPECT_GT(walk_bytes[Goal::kSpeed], 200'000 * 8);
  EXPECT_LT(walk_bytes[Goal::kBalanced], 200'000 * 6);
  EXPECT_LE(walk_bytes[Goal::kSize], walk_bytes[Goal::kBalanced]);
  if (CheckCompressionBuiltIn(Compression::kZstd).ok()) {
    EXPECT_LE(key_bytes[Goal::kSize], 200'000 * 0.2);
    EXPECT_LE(key_bytes[Goal::kBalanced], 200'000 * 0.25);
  }
  EXPECT_LT(key_bytes[Goal::kSpeed], 200'000 * 8);
}

// With kBalanced, a block is stored uncompressed unless compression saves much, so that scans are
// fast.
TEST(AutoEncoding, BalancedBlocksAreCompressedWhereItSavesMuch) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "no zstd";
  std::mt19937_64 random(5);
  std::vector<std::string> texts(20'000, std::string(40, ' '));
  for (std::string& text : texts) {
    for (char& letter : text) letter = static_cast<char>(random() % 128);  // 7 bits of 8
  }
  for (const Goal goal : {Goal::kBalanced, Goal::kSize}) {
    const auto file =
        WriteValues<std::string_view>(ColumnType::Binary(), {.goal = goal}, Views(texts));
    for (const BlockInfo& block : BlocksOf(OpenFile(file)))
      EXPECT_EQ(block.compressed, goal == Goal::kSize);
  }
  // A codec that the options name is always used.
  const auto file = WriteValues<std::string_view>(
      ColumnType::Binary(), {.compression = Compression::kZstd}, Views(texts));
  for (const BlockInfo& block : BlocksOf(OpenFile(file))) EXPECT_TRUE(block.compressed);
}

// In a file with a codec, a block that does not compress well is stored raw. Batches of this block
// point into the bytes of the file.
TEST(AutoEncoding, RawPlainBlocksArePointedAt) {
  const std::vector<int64_t> values = Uniform(100'000);
  const auto file = WriteValues<int64_t>(ColumnType::Int64(), {}, values);
  const Reader reader = OpenFile(file);
  if (CheckCompressionBuiltIn(Compression::kZstd).ok()) {
    EXPECT_EQ(reader.info().compression, Compression::kZstd);
  }
  auto cursor = reader.NewCursor<int64_t>();
  ASSERT_TRUE(cursor.ok());
  size_t rows = 0;
  for (auto batch = cursor->Next(1000); !batch->empty(); batch = cursor->Next(1000)) {
    const auto* begin = reinterpret_cast<const uint8_t*>(batch->values.data());
    ASSERT_GE(begin, file.data());
    ASSERT_LT(begin, file.data() + file.size());
    rows += batch->size();
  }
  EXPECT_EQ(rows, values.size());
  for (const BlockInfo& block : BlocksOf(reader)) {
    EXPECT_EQ(block.encoding, Encoding::kPlain);
    EXPECT_FALSE(block.compressed);
    // A block consists of the count, the first ordinal and the values.
    const size_t values_at = static_cast<size_t>(block.bytes.data() - file.data()) +
                             block.bytes.size() - block.num_rows * sizeof(int64_t);
    EXPECT_EQ(values_at % 64, 0u);
  }
}

// The trial finds short decimals. The rest of each block has none, and is stored as PLAIN.
TEST(AutoEncoding, BlocksThatBecomeLargerThanPlainAreStoredAsPlain) {
  std::mt19937_64 random(6);
  std::vector<double> values(300'000);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool decimal = i % 32'768 < 600;
    values[i] = decimal ? static_cast<double>(random() % 10'000) / 100
                        : std::bit_cast<double>(random() >> 2);
  }
  const uint64_t plain_bytes = values.size() * sizeof(double);
  for (const Goal goal : kGoals) {
    const auto file = WriteValues<double>(ColumnType::Double(), {.goal = goal}, values);
    EXPECT_LT(file.size(), plain_bytes + plain_bytes / 500) << static_cast<int>(goal);
    auto cursor = OpenFile(file).NewCursor<double>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    size_t row = 0;
    for (const auto& batch : cursor->Batches()) {
      ASSERT_TRUE(batch.ok()) << batch.status();
      for (const double value : batch->values) ASSERT_EQ(value, values[row++]);
    }
    EXPECT_EQ(row, values.size());
  }
}

// At first, there are too few values for a dictionary. Other encodings do not exclude it for ever.
TEST(AutoEncoding, ADictionaryIsStillPossibleLater) {
  std::mt19937_64 random(7);
  std::vector<std::string> words(10'000);
  for (std::string& word : words) {
    word.resize(4 + random() % 9);
    for (char& c : word) c = static_cast<char>('a' + random() % 26);
  }
  std::vector<std::string_view> values(1'000'000);
  for (std::string_view& value : values) value = words[random() % words.size()];
  std::map<Goal, size_t> sizes;
  for (const Goal goal : kGoals) {
    sizes[goal] =
        WriteValues<std::string_view>(ColumnType::String(), {.goal = goal}, values).size();
  }
  EXPECT_LE(sizes[Goal::kSize], 1.01 * static_cast<double>(sizes[Goal::kBalanced]));
  EXPECT_LT(sizes[Goal::kSize], 2.5 * static_cast<double>(values.size()));
}

// A file has a dictionary only if a block uses the dictionary. The encoding of this file is then a
// dictionary encoding.
TEST(AutoEncoding, DictionariesAreStoredWhereUsed) {
  std::mt19937_64 random(4);
  std::vector<std::string> words(1000);
  for (std::string& word : words)
    word = RandomValue<std::string_view>(ColumnType::Binary(), 1, random) + "word";
  std::vector<std::string_view> values;
  for (size_t i = 0; i < 100'000; ++i) values.push_back(words[random() % words.size()]);
  {
    const auto file = WriteValues<std::string_view>(ColumnType::Binary(), {}, values);
    const Reader reader = OpenFile(file);
    EXPECT_TRUE(reader.info().dictionary.has_value());
    EXPECT_TRUE(encodings::FindEncoding(reader.info().encoding)->has_dictionary);
    EXPECT_LT(file.size(), 100'000 * 2);
  }
  // After the repeated strings, the column holds distinct strings, which take more space.
  const std::vector<std::string> keys = Keys(1'000'000);
  values.insert(values.end(), keys.begin(), keys.end());
  {
    const auto file =
        WriteValues<std::string_view>(ColumnType::Binary(), {.goal = Goal::kSpeed}, values);
    const Reader reader = OpenFile(file);
    EXPECT_TRUE(reader.info().dictionary.has_value());
    EXPECT_TRUE(encodings::FindEncoding(reader.info().encoding)->has_dictionary);
    EXPECT_NE(BlocksOf(reader).back().encoding, reader.info().encoding);
    auto cursor = reader.NewCursor<std::string_view>();
    for (size_t ordinal = 0; ordinal < values.size(); ordinal += 997)
      ASSERT_EQ(**cursor->Get(ordinal), values[ordinal]);
  }
  {
    const auto file = WriteValues<std::string_view>(ColumnType::Binary(), {}, Views(keys));
    EXPECT_FALSE(OpenFile(file).info().dictionary.has_value());
  }
}

// With a value index, kBalanced and kSpeed choose an encoding whose keys are compared without
// decoding; with each goal, searches find the keys.
TEST(AutoEncoding, SortedKeysCanBeSearchedInPlace) {
  const std::vector<std::string> keys = Keys(100'000);
  for (const Goal goal : kGoals) {
    const auto file = WriteValues<std::string_view>(
        ColumnType::String(), {.goal = goal, .value_index = true}, Views(keys));
    const Reader reader = OpenFile(file);
    if (goal != Goal::kSize) {
      for (const BlockInfo& block : BlocksOf(reader))
        EXPECT_FALSE(encodings::FindEncoding(block.encoding)->scan_cost.decodes_to_search);
    }
    auto cursor = reader.NewCursor<std::string_view>();
    for (size_t ordinal = 0; ordinal < keys.size(); ordinal += 501) {
      const auto found = cursor->SeekToKey(keys[ordinal]);
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_TRUE(found->exact);
      ASSERT_EQ(found->ordinal, ordinal);
    }
  }
}

// The writer keeps an encoding or codec that the options name. Files of version 1 and files for
// Kudu have only one encoding.
TEST(AutoEncoding, LeavesAloneWhatIsNamed) {
  const std::vector<int64_t> values = Sequence(100'000);
  for (const Compression compression : BuiltInCompressions()) {
    const auto file =
        WriteValues<int64_t>(ColumnType::Int64(), {.compression = compression}, values);
    EXPECT_EQ(OpenFile(file).info().compression, compression);
  }
  {
    const auto file = WriteValues<int64_t>(
        ColumnType::Int64(), {.encoding = Encoding::kBitShuffle, .goal = Goal::kSize}, values);
    const Reader reader = OpenFile(file);
    EXPECT_EQ(reader.info().encoding, Encoding::kBitShuffle);
    EXPECT_EQ(reader.info().compression, Compression::kNone);
    EXPECT_FALSE(reader.info().has_extended_blocks());
  }
  {
    const auto file = WriteValues<int64_t>(
        ColumnType::Int64(), {.goal = Goal::kSize, .oldest_reader = OldestReader::kKudu}, values);
    const Reader reader = OpenFile(file);
    EXPECT_EQ(reader.info().encoding, Encoding::kBitShuffle);
    EXPECT_EQ(reader.info().compression, Compression::kNone);
    EXPECT_FALSE(reader.info().has_extended_blocks());
  }
  {
    const auto file =
        WriteValues<int64_t>(ColumnType::Int64(), {.version = FormatVersion::kV1}, values);
    EXPECT_EQ(OpenFile(file).info().encoding, Encoding::kPlain);
  }
  std::vector<uint8_t> file;
  EXPECT_EQ(
      Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(), {.compression_level = 23})
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(AutoEncoding, LevelsDeepenCompression) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "no zstd";
  const std::vector<std::string> keys = Keys(50'000);
  std::map<int, size_t> bytes;
  for (const int level : {0, 1, 19}) {
    const auto file = WriteValues<std::string_view>(ColumnType::String(),
                                                    {.encoding = Encoding::kPlain,
                                                     .compression = Compression::kZstd,
                                                     .compression_level = level},
                                                    Views(keys));
    OpenFile(file);
    bytes[level] = file.size();
  }
  EXPECT_LT(bytes[19], bytes[1]);
  EXPECT_NE(bytes[0], bytes[19]);
}

// The writer's counts of blocks equal the counts that a reader finds.
TEST(AutoEncoding, WriterCountsBlocks) {
  std::mt19937_64 random(6);
  std::vector<std::string> texts = Keys(200'000);
  for (size_t i = 0; i < 50'000; ++i) {
    std::string& text = texts.emplace_back(20, ' ');
    for (char& byte : text) byte = static_cast<char>(random());
  }
  std::vector<uint8_t> file;
  auto writer = Writer<std::string_view>::Create(NewMemorySink(&file), ColumnType::Binary(),
                                                 {.goal = Goal::kSize});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Append(Views(texts)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  std::map<Encoding, std::array<uint64_t, 3>> found, said;
  const Reader reader = OpenFile(file);
  uint64_t compressed = 0;
  for (const BlockInfo& block : BlocksOf(reader)) {
    ++found[block.encoding][0];
    found[block.encoding][1] += block.compressed;
    found[block.encoding][2] += block.pointer.size;
    compressed += block.compressed;
  }
  const ColumnTotals written = writer->totals();
  for (const EncodingTotals& totals : written.encodings)
    said[totals.encoding] = {totals.blocks, totals.compressed_blocks, totals.stored_bytes};
  EXPECT_EQ(said, found);
  EXPECT_GE(said.size(), 2u);
  if (CheckCompressionBuiltIn(Compression::kZstd).ok()) {
    EXPECT_GE(compressed, 1u);
  }
  EXPECT_EQ(writer->totals().encoding, reader.info().encoding);
  EXPECT_EQ(writer->totals().compression, reader.info().compression);
}

// Blocks with levels get an encoding by automatic choice, too.
TEST(AutoEncoding, ValuesOfRecordsAreChosenFor) {
  const std::vector<int64_t> values = Sequence(200'000);
  std::vector<uint16_t> repetition, definition(values.size(), 1);
  for (size_t i = 0; i < values.size(); ++i) repetition.push_back(i % 3 == 0 ? 0 : 1);
  for (const Goal goal : kGoals) {
    std::vector<uint8_t> file;
    auto writer =
        LevelWriter<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                                     {.max_repetition = 1, .max_definition = 1}, {.goal = goal});
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Append(repetition, definition, values).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const Reader reader = OpenFile(file);
    for (const BlockInfo& block : BlocksOf(reader)) EXPECT_NE(block.encoding, Encoding::kPlain);
    EXPECT_LT(file.size(), values.size() * 2);
  }
}

}  // namespace cfile::testing_support::auto_encoding_test
