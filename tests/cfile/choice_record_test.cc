// Tests what a footer records about automatic choice, and in which files nothing is recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "cfile/concatenate.h"
#include "cfile/core/format/choice_message.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/file_info.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/reader.h"
#include "cfile/writer.h"
#include "tests/cfile/column_testing.h"

namespace cfile::choice_record_test {

using internal::InterpretChoice;
using testing_support::BuiltInCompressions;

using File = std::vector<uint8_t>;

File Write(const std::vector<int64_t>& values, const WriterOptions& options) {
  File file;
  auto writer = Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(), options);
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE(writer->Append(std::span(values)).ok());
  EXPECT_TRUE(writer->Finish().ok());
  return file;
}

Reader Open(const File& file) { return Reader::Open(NewMemorySource(file)).value(); }
std::optional<ChoiceInfo> ChoiceOf(const File& file) { return Open(file).info().choice; }

// Values below 2,000 in a random order: `for` needs 11 bits.
std::vector<int64_t> Delays(size_t count) {
  std::mt19937_64 random(1);
  std::vector<int64_t> values(count);
  for (int64_t& value : values) value = static_cast<int64_t>(random() % 2000);
  return values;
}

TEST(ChoiceRecord, SaysWhatTheTrialFound) {
  for (const Goal goal : {Goal::kBalanced, Goal::kSize, Goal::kSpeed}) {
    for (const size_t count : {1'000u, 20'000u, 300'000u}) {
      SCOPED_TRACE(testing::Message() << "goal " << static_cast<int>(goal) << ", " << count);
      const File file = Write(Delays(count), {.goal = goal});
      EXPECT_EQ(Write(Delays(count), {.goal = goal}), file);
      const Reader reader = Open(file);
      const auto choice = reader.info().choice;
      ASSERT_TRUE(choice.has_value());
      EXPECT_EQ(choice->goal, goal);
      EXPECT_EQ(choice->chosen.encoding, reader.info().encoding);
      EXPECT_LE(choice->num_values, count);
      EXPECT_GE(choice->num_values, std::min<size_t>(count, 4096));
      // A block needs a few bytes besides its values.
      EXPECT_GE(choice->plain_size_bytes, 8 * choice->num_values);
      EXPECT_LE(choice->plain_size_bytes, 8 * choice->num_values + 200);
      EXPECT_LE(choice->chosen.size_bytes, choice->plain_size_bytes);
      EXPECT_LE(choice->smallest.size_bytes, choice->chosen.size_bytes);
      uint64_t stored_bytes = 0;
      ASSERT_TRUE(VisitBlocks(reader, [&](const BlockInfo& block) {
                    EXPECT_EQ(block.compressed, choice->chosen.compressed);
                    stored_bytes += block.stored_size_bytes;
                    return true;
                  }).ok());
      const double scale = static_cast<double>(count) / static_cast<double>(choice->num_values);
      const double found = scale * static_cast<double>(choice->chosen.size_bytes);
      EXPECT_LE(found, 1.05 * static_cast<double>(stored_bytes) + 100);
      EXPECT_GE(found, 0.95 * static_cast<double>(stored_bytes) - 100);
    }
  }
}

// The record takes few bytes: it is in each column of each part of a table.
TEST(ChoiceRecord, IsSmall) {
  for (const size_t count : {1'000u, 300'000u}) {
    FileInfo info = Open(Write(Delays(count), {.goal = Goal::kSize})).info();
    ASSERT_TRUE(info.choice.has_value());
    encodings::ByteWriter with, without;
    internal::AppendFooter(info, /*extensions=*/true, with);
    info.choice.reset();
    internal::AppendFooter(info, /*extensions=*/true, without);
    EXPECT_EQ(with.size(), info.footer_size_bytes);
    EXPECT_LE(with.size(), without.size() + 40);
  }
}

TEST(ChoiceRecord, OfAColumnWithLevels) {
  const std::vector<int64_t> values = Delays(20'000);
  const std::vector<uint16_t> repetition(values.size(), 0), definition(values.size(), 1);
  File file;
  auto writer = LevelWriter<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(), {1, 1});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append(repetition, definition, std::span(values)).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto choice = ChoiceOf(file);
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->chosen.encoding, Open(file).info().encoding);
}

// The record is about the choice that stored the most values, not about the last one.
TEST(ChoiceRecord, OfMostValues) {
  std::vector<int64_t> values(400'000);
  std::iota(values.begin(), values.end(), int64_t{1'000'000});
  const auto expected = ChoiceOf(Write(values, {}));
  ASSERT_TRUE(expected.has_value());
  std::mt19937_64 random(1);
  for (size_t i = 0; i < 60'000; ++i) values.push_back(static_cast<int64_t>(random()));
  const auto choice = ChoiceOf(Write(values, {}));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->chosen.encoding, expected->chosen.encoding);
}

TEST(ChoiceRecord, NothingWasChosen) {
  const std::vector<int64_t> values = Delays(1000);
  EXPECT_TRUE(ChoiceOf(Write(values, {})).has_value());
  EXPECT_FALSE(ChoiceOf(Write(values, {.encoding = Encoding::kFor})).has_value());
  EXPECT_FALSE(ChoiceOf(Write(values, {.version = FormatVersion::kV1})).has_value());
  EXPECT_FALSE(ChoiceOf(Write(values, {.oldest_reader = OldestReader::kKudu})).has_value());
  EXPECT_FALSE(ChoiceOf(Write({}, {})).has_value());
  // The record would make small files noticeably larger.
  EXPECT_FALSE(ChoiceOf(Write(Delays(100), {})).has_value());
}

// A kernel may decode packed numbers faster than memory is written. A scan does not.
TEST(ChoiceRecord, SpeedOfMemory) {
  const auto choice = ChoiceOf(Write(Delays(20'000), {}));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->chosen.encoding, Encoding::kFor);
  EXPECT_EQ(choice->scan_bytes_per_second, 25'000'000'000);
}

// A file with copied blocks does not say that its writer has chosen their encoding.
TEST(ChoiceRecord, CopiedBlocks) {
  const File file = Write(Delays(300'000), {.movable_blocks = true});
  const std::vector<Reader> files = {Open(file), Open(file)};
  for (const bool movable : {true, false}) {
    File both;
    const auto report = Concatenate(files, NewMemorySink(&both), {.movable_blocks = movable});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->copied_blocks > 0, movable);
    EXPECT_EQ(ChoiceOf(both).has_value(), !movable);
  }
}

// The codec of the options, and the cost of decompression, which does not count for the choice.
TEST(ChoiceRecord, NamedCodecs) {
  std::vector<int64_t> values = Delays(20'000);
  for (int64_t& value : values) value = value % 64 * 1'000'003;
  for (const Compression codec : BuiltInCompressions()) {
    const File file = Write(values, {.goal = Goal::kSpeed, .compression = codec});
    const auto choice = ChoiceOf(file);
    ASSERT_TRUE(choice.has_value());
    if (choice->chosen.compressed) {
      EXPECT_NE(codec, Compression::kNone);
      EXPECT_GT(choice->scan_bytes_per_second, 0u);
    }
  }
}

// Any numbers in a footer give a consistent choice or none, and the file can be read.
TEST(ChoiceRecord, AnyNumbers) {
  std::mt19937_64 random(2);
  const auto any = [&] {
    const uint64_t bits = random();
    return random() % 4 == 0 ? bits % 4 : bits >> (random() % 64);
  };
  size_t accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    internal::wire::Choice message;
    const auto maybe = [&](auto& field) {
      using Field = typename std::remove_reference_t<decltype(field)>::value_type;
      if (random() % 8 != 0) field = static_cast<Field>(any());
    };
    maybe(message.num_values);
    maybe(message.plain_bytes);
    maybe(message.bytes);
    maybe(message.scan_speed);
    maybe(message.encoding);
    maybe(message.compressed);
    maybe(message.smallest_bytes);
    maybe(message.smallest_encoding);
    maybe(message.smallest_compressed);
    if (random() % 2 == 0) message.goal = static_cast<int32_t>(any());
    const auto choice = InterpretChoice(message, Encoding::kPlain);
    if (!choice) continue;
    ++accepted;
    EXPECT_LE(choice->goal, Goal::kSpeed);
    EXPECT_GT(choice->num_values, 0u);
    EXPECT_GT(choice->plain_size_bytes, 0u);
    EXPECT_GT(choice->smallest.size_bytes, 0u);
    EXPECT_LE(choice->smallest.size_bytes, choice->chosen.size_bytes);
    const auto again =
        InterpretChoice(internal::DescribeChoice(*choice, Encoding::kRle), Encoding::kRle);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(again->chosen, choice->chosen);
    EXPECT_EQ(again->smallest, choice->smallest);
    EXPECT_EQ(again->scan_bytes_per_second, choice->scan_bytes_per_second);
  }
  EXPECT_GT(accepted, 100u);
}

TEST(ChoiceRecord, AContradictionIsIgnored) {
  const File file = Write(Delays(1000), {});
  FileInfo info = Open(file).info();
  ASSERT_TRUE(info.choice.has_value());
  // An unknown goal. Goal has a byte, so the message can hold this number.
  info.choice->goal = static_cast<Goal>(99);
  File changed(file.begin(), file.end() - static_cast<ptrdiff_t>(info.footer_size_bytes));
  encodings::ByteWriter footer;
  internal::AppendFooter(info, /*extensions=*/true, footer);
  changed.insert(changed.end(), footer.data(), footer.data() + footer.size());
  EXPECT_FALSE(ChoiceOf(changed).has_value());
  EXPECT_TRUE(Verify(Open(changed)).ok());
}

}  // namespace cfile::choice_record_test
