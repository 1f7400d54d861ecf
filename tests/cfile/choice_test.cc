// Tests what automatic choice is worth: beside the smallest file that an encoding with or without
// zstd makes, for columns whose best form is known, and what the trials cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "cfile/core/write/auto_encoder.h"
#include "cfile/inspect.h"
#include "cfile/writer.h"
#include "column_testing.h"
#include "encodings/registry.h"

namespace cfile::testing_support::choice_test {

template <typename T>
std::vector<uint8_t> WriteValues(const ColumnType& type, const WriterOptions& options,
                                 std::span<const T> values) {
  std::vector<uint8_t> file;
  auto writer = Writer<T>::Create(NewMemorySink(&file), type, options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(values).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return file;
}

// The size of the smallest file that one encoding makes, of those that automatic choice takes, with
// zstd or without a codec.
template <typename T>
size_t SmallestBytes(const ColumnType& type, std::span<const T> values) {
  size_t smallest = SIZE_MAX;
  for (const encodings::EncodingRow& row : encodings::Encodings()) {
    if (row.automatic != encodings::Automatic::kAlways || !row.Supports(type.physical())) continue;
    for (const Compression codec : {Compression::kNone, Compression::kZstd}) {
      if (!CheckCompressionBuiltIn(codec).ok()) continue;
      smallest = std::min(
          smallest,
          WriteValues<T>(type, {.encoding = row.encoding, .compression = codec}, values).size());
    }
  }
  return smallest;
}

// Expects that the goal kSize writes at most `size` times as many bytes as the smallest file, and
// kBalanced at most `balanced` times as many.
template <typename T>
void ExpectSmall(const ColumnType& type, std::span<const T> values, double balanced,
                 double size = 1.03) {
  const auto smallest = static_cast<double>(SmallestBytes(type, values));
  for (const auto& [goal, factor] : {std::pair(Goal::kSize, size), {Goal::kBalanced, balanced}}) {
    const auto bytes = static_cast<double>(WriteValues(type, {.goal = goal}, values).size());
    EXPECT_LE(bytes, factor * smallest + 16) << "goal " << static_cast<int>(goal);
  }
}

std::vector<std::string_view> Views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// `count` indexes below `distinct`; small ones are much more frequent than large ones.
std::vector<size_t> Skewed(size_t count, size_t distinct, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::geometric_distribution<size_t> index(8.0 / static_cast<double>(distinct));
  std::vector<size_t> indexes(count);
  for (size_t& each : indexes) each = std::min(index(random), distinct - 1);
  return indexes;
}

// The codes of a dictionary column are compressed where that pays: here some codes are frequent.
TEST(Choice, CodesOfADictionaryAreCompressed) {
  std::vector<std::string> words;
  for (const size_t index : Skewed(30'000, 200, 1)) {
    words.push_back(std::to_string(1.8 * static_cast<double>(index)));
  }
  ExpectSmall<std::string_view>(ColumnType::String(), Views(words), 1.15);
  std::vector<double> numbers;
  for (const size_t index : Skewed(30'000, 200, 2)) {
    numbers.push_back(std::sqrt(static_cast<double>(index)));
  }
  ExpectSmall<double>(ColumnType::Double(), numbers, 1.15);
}

// Names that take turns: a dictionary with compressed codes needs a few hundred bytes.
TEST(Choice, SevenSensorNames) {
  std::vector<std::string> names;
  for (size_t i = 0; i < 50'000; ++i) names.push_back("sensor-" + std::to_string(i % 7));
  ExpectSmall<std::string_view>(ColumnType::String(), Views(names), 1.5);
}

// Each name occurs three times in a row and never again. A sample has few names that occur once, so
// that the column seems to have few names; but the names continue to be new.
TEST(Choice, NewValuesContinueToCome) {
  std::mt19937_64 random(9);
  std::vector<std::string> names;
  while (names.size() < 120'000) {
    const std::string name = absl::StrFormat("%012x", random() % (uint64_t{1} << 48));
    names.insert(names.end(), 3, name);
  }
  ExpectSmall<std::string_view>(ColumnType::String(), Views(names), 1.15, 1.15);
}

// Blocks of numbers hold as many values as fit without anything beside them, and the sample has as
// many.
TEST(Choice, TheSampleHasABlockOfNumbers) {
  std::mt19937_64 random(10);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < 28'000; ++i) {
    values.push_back(i < 22'000 ? i : static_cast<int64_t>(random()));
  }
  ExpectSmall<int64_t>(ColumnType::Int64(), values, 1.15);
}

// A column of one block is tried as a whole: the first values do not show what the others are.
TEST(Choice, AllValuesOfASmallColumnCount) {
  std::mt19937_64 random(3);
  std::vector<int64_t> values(5000, 7);
  for (int64_t i = 0; i < 15'000; ++i) {
    values.push_back(1'700'000'000 + 60 * i + static_cast<int64_t>(random() % 4));
  }
  ExpectSmall<int64_t>(ColumnType::Int64(), values, 1.15);
}

TEST(Choice, LargeColumns) {
  std::mt19937_64 random(4);
  std::vector<int32_t> hours, delays;
  std::vector<double> prices;
  std::vector<int64_t> times;
  for (int i = 0; i < 300'000; ++i) {
    hours.push_back(i / 40 % 24);
    delays.push_back(static_cast<int32_t>(random() % 64) - 10);
    prices.push_back(static_cast<double>(random() % 20'000) / 100);
    times.push_back(1'700'000'000'000 + 1000 * i + static_cast<int64_t>(random() % 900));
  }
  // This file has a few hundred bytes. A sample does not show how small such a file becomes.
  ExpectSmall<int32_t>(ColumnType::Int32(), hours, 2, 2);
  ExpectSmall<int32_t>(ColumnType::Int32(), delays, 1.15);
  ExpectSmall<double>(ColumnType::Double(), prices, 1.15);
  ExpectSmall<int64_t>(ColumnType::Int64(), times, 1.15);
}

// Sums of small steps, with two decimals.
std::vector<double> WalkOfPrices(size_t count) {
  std::mt19937_64 random(5);
  std::vector<double> prices;
  for (int64_t cents = 10'000; prices.size() < count;
       cents += static_cast<int64_t>(random() % 3) - 1)
    prices.push_back(static_cast<double>(cents) / 100);
  return prices;
}

// The smallest encodings decode many values to read one. They are left out on request, but not from
// files that are to be small.
TEST(Choice, SingleValues) {
  std::vector<std::string> notes;
  for (uint64_t i = 0; i < 100'000; ++i) {
    notes.push_back(
        absl::StrFormat("note %d of row %d", (i * 0x9E3779B97F4A7C15 >> 20) % 100'003, i));
  }
  const auto encoding_of = [](const std::vector<uint8_t>& file) {
    return Reader::Open(NewMemoryViewSource(file))->info().encoding;
  };
  for (const Goal goal : {Goal::kBalanced, Goal::kSize}) {
    for (const bool single_values : {false, true}) {
      const bool smallest = goal == Goal::kSize || !single_values;
      const WriterOptions options{.goal = goal, .single_values = single_values};
      EXPECT_EQ(encoding_of(WriteValues<double>(ColumnType::Double(), options,
                                                WalkOfPrices(100'000))) == Encoding::kCompact,
                smallest);
      EXPECT_EQ(
          encoding_of(WriteValues<std::string_view>(ColumnType::String(), options, Views(notes))) ==
              Encoding::kParquetDeltaByteArray,
          smallest);
    }
  }
}

// Expects that a block begins soon after the values change at `change`: at most two intervals of
// `interval` values later, and the values of a look. Returns the encoding of this block.
template <typename T>
Encoding ExpectABlockAfter(uint64_t change, uint64_t interval, const ColumnType& type,
                           std::span<const T> values) {
  const auto file = WriteValues<T>(type, {}, values);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::optional<uint64_t> begin;
  Encoding encoding = Encoding::kAuto;
  EXPECT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                if (block.first_ordinal > change) {
                  begin = block.first_ordinal;
                  encoding = block.encoding;
                }
                return !begin;
              }).ok());
  EXPECT_TRUE(begin && *begin <= change + 2 * interval + 512)
      << type.ToString() << " " << begin.value_or(0);
  return encoding;
}

// A block ends soon after its values change, so that they get an encoding of their own. The samples
// of short values have more values than the block had when it was first looked at.
TEST(Choice, ABlockEndsWhereValuesChange) {
  constexpr int kChange = 300'000, kTextChange = 60'000, kLook = 1 << 15, kTextLook = 1 << 13;
  std::mt19937_64 random(5);
  std::vector<int64_t> longs;
  std::vector<int16_t> shorts;
  for (int i = 0; i < 2 * kChange; ++i) {
    const auto any = static_cast<int64_t>(random());
    longs.push_back(i < kChange ? int64_t{1000} * i + (any & 31) : any);
    shorts.push_back(static_cast<int16_t>(random() % (i < kChange ? 50 : 65536)));
  }
  std::vector<std::string> texts;
  for (int i = 0; i < 2 * kTextChange; ++i) {
    texts.push_back(absl::StrFormat("%08d", i < kTextChange ? i : random() % 100'000'000));
  }
  EXPECT_EQ(ExpectABlockAfter<int64_t>(kChange, kLook, ColumnType::Int64(), longs),
            Encoding::kPlain);
  ExpectABlockAfter<int16_t>(kChange, kLook, ColumnType::Int16(), shorts);
  ExpectABlockAfter<std::string_view>(kTextChange, kTextLook, ColumnType::String(), Views(texts));
}

// The same values give the same bytes, however many values each call appends.
template <typename T>
void ExpectSameBytes(const ColumnType& type, std::span<const T> values) {
  for (const Goal goal : {Goal::kBalanced, Goal::kSize, Goal::kSpeed}) {
    const auto expected = WriteValues(type, {.goal = goal}, values);
    EXPECT_EQ(WriteValues(type, {.goal = goal}, values), expected);
    for (const size_t piece_values : {777u, 4096u, 100'000u}) {
      SCOPED_TRACE(testing::Message()
                   << "goal " << static_cast<int>(goal) << ", pieces of " << piece_values);
      std::vector<uint8_t> file;
      auto writer = Writer<T>::Create(NewMemorySink(&file), type, {.goal = goal});
      ASSERT_TRUE(writer.ok()) << writer.status();
      for (std::span<const T> rest = values; !rest.empty();) {
        const auto piece = rest.first(std::min(rest.size(), piece_values));
        ASSERT_TRUE(writer->Append(piece).ok());
        rest = rest.subspan(piece.size());
      }
      ASSERT_TRUE(writer->Finish().ok());
      EXPECT_TRUE(file == expected);
    }
  }
}

TEST(Choice, PiecesDoNotMatter) {
  std::mt19937_64 random(8);
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;
  for (int64_t i = 0; i < 200'000; ++i) {
    numbers.push_back(i / 60'000 % 2 == 0 ? 1000 * i : static_cast<int64_t>(random() % 5000));
    texts.push_back(i / 60'000 % 2 == 0 ? "key-" + std::to_string(1'000'000 + i)
                                        : std::to_string(random() % 500));
  }
  ExpectSameBytes<int64_t>(ColumnType::Int64(), numbers);
  ExpectSameBytes<std::string_view>(ColumnType::String(), Views(texts));
}

// A dictionary does not suit the values that follow the words. The block that holds them is stored
// without codes, but compressed, and the next block gets an encoding of its own.
TEST(Choice, ABlockWithoutCodesIsCompressed) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "no zstd";
  std::mt19937_64 random(9);
  std::vector<std::string> texts;
  for (int i = 0; i < 30'000; ++i) texts.push_back("word " + std::to_string(random() % 100));
  for (int i = 0; i < 200'000; ++i) {
    texts.push_back("a longer text, which no other text equals: " + std::to_string(random()));
  }
  const auto file = WriteValues<std::string_view>(ColumnType::String(), {}, Views(texts));
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  bool uses_dictionary = false;
  ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                const bool has_codes = encodings::FindEncoding(block.encoding)->has_dictionary;
                uses_dictionary |= has_codes;
                EXPECT_TRUE(has_codes || block.compressed) << "block " << block.index;
                return true;
              }).ok());
  EXPECT_TRUE(uses_dictionary);
}

// A page of strings, or of int96, needs many bytes beside short values. If blocks may be only a
// little larger than this, a block ends before the sample does.
TEST(Choice, SamplesFitIntoTheSmallestBlocks) {
  for (size_t largest = 600; largest < 1400; largest += 50) {
    SCOPED_TRACE(largest);
    const WriterOptions options{
        .encoding = Encoding::kAuto, .block_size_bytes = 230, .max_block_size_bytes = largest};
    std::vector<Int96> numbers;
    std::vector<std::string> strings;
    for (uint64_t i = 0; i < 2000; ++i) {
      numbers.push_back(Int96(encodings::uint128_t{i / 300 * 0x9E3779B97F4A7C15u}));
      strings.push_back(std::to_string(i / 300 * 1'000'003));
    }
    std::vector<uint8_t> of_numbers, of_strings;
    auto first = Writer<Int96>::Create(NewMemorySink(&of_numbers), ColumnType::Int96(), options);
    ASSERT_TRUE(first.ok()) << first.status();
    ASSERT_EQ(first->Append(numbers), absl::OkStatus());
    ASSERT_EQ(first->Finish(), absl::OkStatus());
    EXPECT_EQ(Reader::Open(NewMemoryViewSource(of_numbers))->Read<Int96>()->size(), 2000u);
    const std::vector<std::string_view> views(strings.begin(), strings.end());
    auto second =
        Writer<std::string_view>::Create(NewMemorySink(&of_strings), ColumnType::String(), options);
    ASSERT_TRUE(second.ok()) << second.status();
    ASSERT_EQ(second->Append(views), absl::OkStatus());
    ASSERT_EQ(second->Finish(), absl::OkStatus());
    EXPECT_EQ(Reader::Open(NewMemoryViewSource(of_strings))->Read<std::string_view>()->size(),
              2000u);
  }
}

// The cost of the trials: what they encode and compress, beside the bytes of the values.
template <typename T>
uint64_t TrialCost(PhysicalType type, Goal goal, size_t count,
                   const std::function<T(size_t)>& value) {
  const auto encoder = internal::MakeAutoEncoder(
      type, {}, {.goal = goal, .compression = Compression::kZstd, .compression_level = 1});
  encodings::EncodedBlock block;
  std::vector<T> values(1000);
  for (size_t i = 0; i < count; i += values.size()) {
    for (size_t j = 0; j < values.size(); ++j) values[j] = value(i + j);
    for (std::span<const T> rest = values; !rest.empty();) {
      rest = rest.subspan(encoder->AppendAny(rest));
      if (encoder->full()) encoder->Finish(0, block);
    }
  }
  return encoder->trial_cost_bytes();
}

// Comments in random order share words, but no prefixes. The smallest files have a table of
// symbols, unless their blocks may be copied into other files.
TEST(Choice, CommentsInRandomOrder) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "no zstd";
  const std::vector<std::string> words = {
      "delivery", "account", "request", "customer", "product",  "service", "quickly", "after",
      "the",      "regular", "special", "order",    "packages", "pending", "above",   "final",
      "deposits", "sleep",   "along",   "furious",  "ironic",   "theory",  "against", "bold"};
  std::mt19937_64 random(13);
  std::vector<std::string> comments(40'000);
  for (std::string& comment : comments) {
    for (size_t left = 3 + random() % 6; left > 0; --left)
      comment += (comment.empty() ? "" : " ") + words[random() % words.size()];
  }
  const auto values = Views(comments);
  const std::span<const std::string_view> all = values;
  for (const bool movable : {false, true}) {
    const auto file = WriteValues<std::string_view>(
        ColumnType::String(), {.goal = Goal::kSize, .movable_blocks = movable}, all);
    const auto reader = Reader::Open(NewMemoryViewSource(file));
    ASSERT_TRUE(reader.ok()) << reader.status();
    ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                  EXPECT_EQ(block.encoding == Encoding::kFsst, !movable);
                  return true;
                }).ok());
    if (!movable) {
      EXPECT_LE(file.size() * 20, SmallestBytes<std::string_view>(ColumnType::String(), all) * 19);
    }
  }
}

// The trials of numbers cost at most a tenth of the bytes of a column of 8 MB or more, and those of
// strings a sixth. If the values change often, there are some trials more, but not one for each
// change.
TEST(Choice, TrialsCostATenth) {
  if (!CheckCompressionBuiltIn(Compression::kZstd).ok()) GTEST_SKIP() << "no zstd";
  std::mt19937_64 random(6);
  const auto numbers = [&](size_t bytes, Goal goal, const std::function<int64_t(size_t)>& value) {
    const uint64_t cost =
        TrialCost<int64_t>(PhysicalType::kInt64, goal, bytes / sizeof(int64_t), value);
    EXPECT_GT(cost, 100'000u);
    return cost;
  };
  const std::map<std::string, std::function<int64_t(size_t)>> columns = {
      {"random", [&](size_t) { return static_cast<int64_t>(random()); }},
      {"ascending", [&](size_t i) { return static_cast<int64_t>(10 * i + random() % 10); }},
  };
  const auto changing = [&](size_t i) {
    return static_cast<int64_t>(i / 40'000 % 2 == 0 ? random() : 3 * i);
  };
  for (const Goal goal : {Goal::kBalanced, Goal::kSize, Goal::kSpeed}) {
    for (const auto& [name, value] : columns) {
      for (const size_t bytes : {size_t{8'000'000}, size_t{32'000'000}}) {
        SCOPED_TRACE(testing::Message() << name << ", goal " << static_cast<int>(goal));
        EXPECT_LE(numbers(bytes, goal, value), bytes / 10) << bytes << " bytes";
      }
    }
    EXPECT_LE(numbers(16'000'000, goal, changing), 1'600'000u + (4 << 20) + (1 << 20));
  }
  const uint64_t texts =
      TrialCost<std::string_view>(PhysicalType::kBytes, Goal::kBalanced, 400'000,
                                  [&](size_t i) { return i % 2 == 0 ? "an even number" : "odd"; });
  EXPECT_LE(texts, 400'000 * (16 + 8) / 6);
}

}  // namespace cfile::testing_support::choice_test
