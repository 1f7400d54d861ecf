// Tests columns of records: levels and values are written, read and found by seeks, and wrong
// levels are refused.
#include "cfile/levels.h"

#include <numeric>
#include <random>
#include <vector>

#include "cfile/core/format/level_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/table_scan.h"
#include "cfile/writer.h"
#include "encodings/registry.h"
#include "gmock/gmock.h"
#include "tests/cfile/level_testing.h"

namespace cfile::levels_test {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_support;
using File = std::vector<uint8_t>;

// EXPECTs that a scan, seeks, Verify and VisitBlocks return the entries of `leaf`.
template <typename T>
void ExpectFile(const File& file, const Leaf<T>& leaf, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ(reader->num_rows(), leaf.num_records());
  ASSERT_EQ(reader->info().levels, leaf.limits);
  auto cursor = reader->NewLevelCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ASSERT_EQ(cursor->limits(), leaf.limits);
  absl::Status status = ReadRest(*cursor, &leaf, random);
  ASSERT_TRUE(status.ok()) << status;
  for (int i = 0; i < 12; ++i) {
    status = cursor->SeekToRecord(random() % (leaf.num_records() + 1));
    ASSERT_TRUE(status.ok()) << status;
    status = ReadRest(*cursor, &leaf, random, 3);
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_TRUE(absl::IsOutOfRange(cursor->SeekToRecord(leaf.num_records() + 1)));

  const VerifyReport report = Verify(*reader);
  ASSERT_TRUE(report.ok()) << report.damages[0].status;
  EXPECT_EQ(report.num_rows, leaf.num_records());
  EXPECT_EQ(report.num_entries, leaf.repetition.size());
  EXPECT_EQ(report.null_count, leaf.repetition.size() - leaf.values.size());
  uint64_t records = 0, entries = 0, nulls = 0;
  ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& block) {
                EXPECT_EQ(block.first_ordinal, records);
                records += block.num_rows;
                entries += block.num_entries;
                nulls += block.null_count;
                return true;
              }).ok());
  EXPECT_EQ(records, leaf.num_records());
  EXPECT_EQ(entries, report.num_entries);
  EXPECT_EQ(nulls, report.null_count);
}

constexpr LevelLimits kLimits[] = {{0, 0}, {0, 1}, {0, 3}, {1, 1}, {1, 2}, {2, 5}, {7, 300}};

// Columns of records are written and read back, in every encoding, with several types and with
// every kind of limits. Blocks have only a few records.
TEST(Levels, RoundTripOfEveryEncoding) {
  std::mt19937_64 random(1);
  uint64_t files = 0;
  for (const ColumnType& type : {ColumnType::Int32(), ColumnType::Uint32(), ColumnType::Int64(),
                                 ColumnType::Int128(), ColumnType::Int96(), ColumnType::Double(),
                                 ColumnType::Bool(), ColumnType::String(), ColumnType::Uuid()}) {
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      for (LevelLimits limits :
           {kLimits[0], kLimits[1], kLimits[2], kLimits[3], kLimits[4], kLimits[5], kLimits[6],
            LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
        SCOPED_TRACE(type.ToString() + " " + std::string(row.name) + " limits " +
                     std::to_string(limits.max_repetition) + " " +
                     std::to_string(limits.max_definition) + (limits.kudu_array ? " array" : ""));
        const WriterOptions options{
            .encoding = row.encoding,
            .compression = ++files % 3 == 0 ? Compression::kLz4 : Compression::kNone,
            .block_size_bytes = files % 2 == 0 ? 100u : 1000u,
            .max_values_per_block = files % 5 == 0 ? 7u : 1000u};
        encodings::VisitPhysicalType(type.physical(), [&](auto t) {
          using T = typename decltype(t)::type;
          const auto leaf = RandomLeaf<T>(type, limits, 300, 0, random);
          const File file = WriteLeaf(type, options, leaf, random);
          if (!testing::Test::HasFailure()) ExpectFile(file, leaf, files);
        });
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(files, 300u);
}

TEST(Levels, ARecordLongerThanABatchComesInParts) {
  std::mt19937_64 random(2);
  for (const LevelLimits limits : {LevelLimits{1, 2}, LevelLimits{1, 1}}) {
    for (const size_t length : {65535, 65536, 65537, 65538, 300'000}) {
      SCOPED_TRACE(length);
      const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), limits, 9, length, random);
      const File file = WriteLeaf(ColumnType::Int32(), {.block_size_bytes = 1000}, leaf, random);
      ExpectFile(file, leaf, length);
      if (testing::Test::HasFailure()) return;
    }
  }
  // A batch also ends when the bytes of the strings fill the decoder's buffer.
  auto leaf = RandomLeaf<std::string_view>(ColumnType::String(), {1, 2}, 50, 0, random);
  for (std::string& value : leaf.values) value.resize(random() % 2 == 0 ? 5 : 40'000, 'x');
  for (const Encoding encoding : {Encoding::kPrefix, Encoding::kParquetDeltaByteArray}) {
    const File file = WriteLeaf(ColumnType::String(),
                                {.encoding = encoding, .block_size_bytes = 2 << 20}, leaf, random);
    ExpectFile(file, leaf, 3);
  }
}

TEST(Levels, FilesWithoutRecordsOrValues) {
  std::mt19937_64 random(4);
  for (const LevelLimits limits :
       {LevelLimits{0, 0}, LevelLimits{1, 2}, LevelLimits::KuduArray(true)}) {
    const auto leaf = RandomLeaf<int64_t>(ColumnType::Int64(), limits, 0, 0, random);
    ExpectFile(WriteLeaf(ColumnType::Int64(), {}, leaf, random), leaf, 5);
  }
  Leaf<int64_t> nulls{.limits = {3, 3}};
  nulls.repetition.assign(100'000, 0);
  nulls.definition.assign(100'000, 0);
  Index(nulls);
  const File file = WriteLeaf(ColumnType::Int64(), {}, nulls, random);
  EXPECT_LT(file.size(), 300u);
  ExpectFile(file, nulls, 6);
}

// A few bytes claim 2^32 - 1 arrays without elements. Their lengths are not read one by one.
TEST(Levels, ManyEmptyArraysInFewBytes) {
  const uint8_t many[] = {0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0};  // 2^31 - 1 times the length 0
  File lengths(std::begin(many), std::end(many));
  lengths.insert(lengths.end(), std::begin(many), std::end(many));
  lengths.insert(lengths.end(), {0x02, 0, 0});        // once more
  File block = {1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0};  // 1 element, 2^32 - 1 arrays, no nulls
  block.push_back(static_cast<uint8_t>(lengths.size()));
  block.insert(block.end(), lengths.begin(), lengths.end());
  block.push_back(0);
  FileInfo info;
  info.levels = LevelLimits::KuduArray(true);
  info.incompatible_features = kFeatureArrayBlocks;
  info.num_rows = 0xffffffff;
  const absl::Status status = internal::ParseLevelBlock(block, info).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the arrays have 0 elements, expected 1"));
}

// A LevelCursor can read a file that Writer wrote. A Cursor cannot read a file that LevelWriter
// wrote.
TEST(Levels, FlatFilesAreLeavesToo) {
  std::mt19937_64 random(7);
  for (const bool nullable : {false, true}) {
    const auto column = RandomColumn<std::string_view>(ColumnType::String(), 5000,
                                                       nullable ? 30 : -1, false, random);
    const File file = WriteColumn<std::string_view>(
        ColumnType::String(), {.nullable = nullable, .block_size_bytes = 500}, column);
    Leaf<std::string_view> leaf{.limits = {0, static_cast<uint16_t>(nullable ? 1 : 0)}};
    leaf.repetition.assign(column.rows.size(), 0);
    for (const auto& row : column.rows) {
      leaf.definition.push_back(static_cast<uint16_t>(nullable && row ? 1 : 0));
      if (row) leaf.values.push_back(*row);
    }
    Index(leaf);
    const auto reader = Reader::Open(NewMemoryViewSource(file));
    auto cursor = reader->NewLevelCursor<std::string_view>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    for (const uint64_t record : {0, 4999, 1234, 2500, 7, 5000}) {
      ASSERT_TRUE(cursor->SeekToRecord(record).ok());
      const absl::Status status = ReadRest(*cursor, &leaf, random);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), {0, 0}, 3, 0, random);
  const File file = WriteLeaf(ColumnType::Int32(), {}, leaf, random);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(absl::IsFailedPrecondition(reader->NewCursor<int32_t>().status()));
  EXPECT_TRUE(absl::IsInvalidArgument(reader->NewLevelCursor<int64_t>().status()));
  EXPECT_TRUE(absl::IsUnimplemented(NewTableScan(*reader, {}).status()));
}

// Appends the entries to a new writer and returns the status of Append.
absl::Status AppendTo(const LevelLimits& limits, std::vector<uint16_t> repetition,
                      std::vector<uint16_t> definition, size_t num_rows) {
  File file;
  auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits);
  EXPECT_TRUE(writer.ok()) << writer.status();
  const std::vector<int32_t> values(num_rows, 7);
  return writer->Append(repetition, definition, values);
}

TEST(Levels, WrongLevelsAreRefusedByEntry) {
  const LevelLimits list{1, 2};
  const LevelLimits array = LevelLimits::KuduArray(true);
  const auto expect = [](const absl::Status& status, const char* entry) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(entry));
  };
  EXPECT_TRUE(AppendTo(list, {0, 1, 0}, {2, 2, 0}, 2).ok());
  expect(AppendTo(list, {1, 0}, {2, 2}, 2), "entry 0");
  expect(AppendTo(list, {0, 1, 2}, {2, 2, 2}, 3), "entry 2");
  expect(AppendTo(list, {0, 1, 1}, {2, 3, 2}, 3), "entry 1");
  expect(AppendTo(list, {0, 1}, {2, 2}, 1), "entry 1");
  expect(AppendTo(list, {0, 1}, {2, 2}, 3), "3 values");
  expect(AppendTo(list, {0, 1}, {2}, 1), "entry 0");
  expect(AppendTo({0, 1}, {0}, {1}, 1), "entry 0");
  expect(AppendTo(array, {0, 1}, {1, 3}, 1), "entry 1");
  expect(AppendTo(array, {0, 1}, {3, 1}, 1), "entry 1");
  EXPECT_TRUE(AppendTo(array, {0, 1}, {3, 2}, 1).ok());
  std::vector<uint16_t> repetition(65536, 1), definition(65536, 2);
  repetition[0] = 0;
  EXPECT_TRUE(absl::IsOutOfRange(AppendTo(array, repetition, definition, 0)));
  repetition.pop_back();
  definition.pop_back();
  EXPECT_TRUE(AppendTo(array, repetition, definition, 0).ok());
}

TEST(Levels, WrongOptionsAreRefused) {
  const auto create = [](const LevelLimits& limits, const WriterOptions& options) {
    static File file;
    return LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits, options)
        .status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(create({1, 2}, {.value_index = true})));
  EXPECT_TRUE(absl::IsInvalidArgument(create({1, 2}, {.version = FormatVersion::kV1})));
  EXPECT_TRUE(absl::IsInvalidArgument(create({1, 2}, {.oldest_reader = OldestReader::kKudu})));
  EXPECT_TRUE(create(LevelLimits::KuduArray(true), {.oldest_reader = OldestReader::kKudu}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      create({.max_repetition = 1, .max_definition = 4, .kudu_array = true}, {})));
  File file;
  EXPECT_TRUE(absl::IsInvalidArgument(
      LevelWriter<int64_t>::Create(NewMemorySink(&file), ColumnType::Int32(), {1, 2}, {})
          .status()));
}

// A record is never split: its block may exceed block_size_bytes, but not max_block_size_bytes.
TEST(Levels, ARecordIsLimitedByTheLargestBlock) {
  const WriterOptions options{
      .encoding = Encoding::kPlain, .block_size_bytes = 1000, .max_block_size_bytes = 100'000};
  const auto append = [&](size_t values) {
    File file;
    auto writer =
        LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), {1, 1}, options);
    std::vector<uint16_t> repetition(values, 1), definition(values, 1);
    repetition[0] = 0;
    absl::Status status = absl::OkStatus();
    for (int i = 0; i < 3; ++i)
      status.Update(writer->Append(repetition, definition, std::vector<int32_t>(values, 5)));
    status.Update(writer->Finish());
    return status;
  };
  EXPECT_TRUE(append(12'000).ok()) << append(12'000);
  EXPECT_TRUE(absl::IsOutOfRange(append(26'000))) << append(26'000);
}

// The arrays {1,2} {} null {3,4} {5,6,7,8} {null} {9} have the bytes that Kudu's writer stores.
TEST(Levels, KudusArraysByteByByte) {
  const std::vector<uint16_t> repetition = {0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0};
  const std::vector<uint16_t> definition = {3, 3, 1, 0, 3, 3, 3, 3, 3, 3, 2, 3};
  std::vector<int32_t> values(9);
  std::iota(values.begin(), values.end(), 1);
  File file;
  auto writer = LevelWriter<int32_t>::Create(
      NewMemorySink(&file), ColumnType::Int32(), LevelLimits::KuduArray(true),
      {.encoding = Encoding::kPlain, .oldest_reader = OldestReader::kKudu});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append(repetition, definition, values).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->info().incompatible_features, kFeatureChecksums | kFeatureArrayBlocks);
  EXPECT_THAT(DescribeMetadata(reader->info()).footer_text, HasSubstr("is_type_array: true"));
  File block;
  ASSERT_TRUE(VisitBlocks(*reader, [&](const BlockInfo& found) {
                block.assign(file.begin() + static_cast<ptrdiff_t>(found.pointer.offset),
                             file.begin() + static_cast<ptrdiff_t>(found.pointer.end() - 4));
                return true;
              }).ok());
  File expected = {
      10, 7,                    // elements, arrays
      4,  0x10, 1, 0x03, 0x02,  // elements that are not null: eight 1s, then 0 1
      15, 0x03,                 // lengths: one literal group, ended early
      2,  0,    0, 0,    0,    0, 2,    0,    4,
      0,  1,    0, 1,    0,    2, 0x03, 0x7b,  // arrays that are not null: 1 1 0 1 1 1 1
      9,  0,    0, 0,    0,    0, 0,    0};    // PLAIN: 9 values, ordinal 0
  for (uint8_t i = 1; i <= 9; ++i) expected.insert(expected.end(), {i, 0, 0, 0});
  EXPECT_EQ(block, expected);
}

}  // namespace cfile::levels_test
