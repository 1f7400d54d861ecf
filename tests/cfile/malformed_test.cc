// The tests read files with right checksums but impossible contents. The error says what is wrong.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "cfile/core/format/compression.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/data_block.h"
#include "cfile/core/format/file_metadata.h"
#include "cfile/core/format/index_node.h"
#include "cfile/core/read/block_cursor.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "cfile/scan.h"
#include "cfile/writer.h"
#include "gmock/gmock.h"
#include "tests/campaign/parts.h"
#include "tests/campaign/transcript.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"

namespace cfile::malformed_test {

using testing::HasSubstr;
using namespace testing_support;
using File = std::vector<uint8_t>;

absl::Status ReadAll(const File& file) {
  return campaign::TranscriptOfFile(Reader::Open(NewMemorySource(file, "damaged"))).status;
}

// Returns the location of the only data block of `file`.
BlockPointer DataBlock(const File& file) {
  BlockPointer pointer;
  EXPECT_TRUE(VisitBlocks(*Reader::Open(NewMemoryViewSource(file)), [&](const BlockInfo& block) {
                pointer = block.pointer;
                return true;
              }).ok());
  return pointer;
}

// Appends a footer with the fields of `info` to `file`, which has no footer.
File WithFooter(File file, const FileInfo& info) {
  encodings::ByteWriter tail;
  internal::AppendFooter(info, /*extensions=*/true, tail);
  file.insert(file.end(), tail.data(), tail.data() + tail.size());
  return file;
}
// Removes the footer of `file`.
File WithoutFooter(File file) {
  file.resize(file.size() - Reader::Open(NewMemoryViewSource(file))->info().footer_size_bytes);
  return file;
}
// Appends a block and its checksum. Returns its location.
BlockPointer AppendBlock(encodings::ByteWriter block, File& file) {
  block.PutFixed(internal::Crc32c(block.span()));
  const BlockPointer pointer{.offset = file.size(), .size = static_cast<uint32_t>(block.size())};
  file.insert(file.end(), block.data(), block.data() + block.size());
  return pointer;
}

// Impossible levels in an otherwise valid block are an error that says what is wrong.
TEST(Malformed, ImpossibleLevelsAreNamed) {
  const auto read = [](const LevelLimits& limits, const File& old_levels, const File& new_levels) {
    File file;
    auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits,
                                               {.encoding = Encoding::kPlain});
    // The leaf has two records, of 8 entries and of 1 entry. The definition levels are 2 2 2 2 1 1
    // 1 1 0.
    const std::vector<uint16_t> repetition = {0, 1, 1, 1, 1, 1, 1, 1, 0};
    const std::vector<uint16_t> definition = {2, 2, 2, 2, 1, 1, 1, 1, 0};
    EXPECT_TRUE(writer->Append(repetition, definition, std::vector<int32_t>(4, 7)).ok());
    EXPECT_TRUE(writer->Finish().ok());
    const BlockPointer block = DataBlock(file);
    const auto end = file.begin() + static_cast<ptrdiff_t>(block.end());
    const auto at = std::search(file.begin() + static_cast<ptrdiff_t>(block.offset), end,
                                old_levels.begin(), old_levels.end());
    EXPECT_NE(at, end);
    std::copy(new_levels.begin(), new_levels.end(), at);
    campaign::SignBlock(block, file);
    const absl::Status status = ReadAll(file);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_FALSE(Verify(*Reader::Open(NewMemoryViewSource(file))).ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr("offset "));
    return std::string(status.message());
  };
  // The block has 9 entries of 2 records. The repetition levels follow: 0 1 1 1 1 1 1 1 | 0.
  const File repetition = {9, 2, 3, 0x05, 0xfe, 0x00};
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xff, 0x00}), HasSubstr("begin"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xfc, 0x00}),
              HasSubstr("records, its header says 2"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 2, 3, 0x05, 0xfe, 0x01}), HasSubstr("1 records"));
  EXPECT_THAT(read({1, 2}, repetition, {9, 3, 3, 0x05, 0xfe, 0x00}), HasSubstr("3"));
  EXPECT_THAT(read({1, 2}, repetition, {10, 2, 3, 0x05, 0xfe, 0x00}), HasSubstr("10 entries"));
  // The definition levels are 2 2 2 2 1 1 1 1 | 0.
  const File definition = {5, 0x05, 0xaa, 0x55, 0x00, 0x00};
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xab, 0x55, 0x00, 0x00}),
              HasSubstr("at most 2, found 3"));
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xa9, 0x55, 0x00, 0x00}), HasSubstr("values"));
  EXPECT_THAT(read({1, 2}, definition, {5, 0x05, 0xaa, 0x56, 0x00, 0x00}), HasSubstr("values"));
}

// The arrays are {7} {} {7, null}. The test changes bytes in three ways: lengths that do not match
// the elements, a null array with elements, and a null array in a column without null arrays. Each
// error says what is wrong.
TEST(Malformed, ImpossibleArraysAreNamed) {
  const auto read = [](bool nullable, const File& old_bytes, const File& new_bytes) {
    const LevelLimits limits = LevelLimits::KuduArray(nullable);
    const auto max = limits.max_definition;
    File file;
    auto writer = LevelWriter<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), limits);
    const std::vector<uint16_t> repetition = {0, 0, 0, 1};
    const std::vector<uint16_t> definition = {max, static_cast<uint16_t>(max - 2), max,
                                              static_cast<uint16_t>(max - 1)};
    EXPECT_TRUE(writer->Append(repetition, definition, std::vector<int32_t>(2, 7)).ok());
    EXPECT_TRUE(writer->Finish().ok());
    const BlockPointer block = DataBlock(file);
    const auto end = file.begin() + static_cast<ptrdiff_t>(block.end());
    const auto at = std::search(file.begin() + static_cast<ptrdiff_t>(block.offset), end,
                                old_bytes.begin(), old_bytes.end());
    EXPECT_NE(at, end);
    std::copy(new_bytes.begin(), new_bytes.end(), at);
    campaign::SignBlock(block, file);
    const absl::Status status = ReadAll(file);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    return std::string(status.message());
  };
  const File lengths = {7, 3, 1, 0, 0, 0, 2, 0}, arrays = {2, 6, 1};
  EXPECT_THAT(read(true, lengths, {7, 3, 1, 0, 0, 0, 3, 0}), HasSubstr("4 elements, expected 3"));
  EXPECT_THAT(read(true, arrays, {2, 3, 3}), HasSubstr("array 2 of the block is null, but has"));
  EXPECT_THAT(read(false, arrays, {2, 3, 5}), HasSubstr("not nullable"));
  EXPECT_THAT(read(true, {3, 3, 2, 3, 3}, {3, 3, 2, 3, 1}), HasSubstr("values"));
}

// A footer is refused if its fields about levels contradict each other, although its checksum is
// right.
TEST(Malformed, ImpossibleLimitsAreRefused) {
  std::mt19937_64 random(6);
  const auto leaf = RandomLeaf<int32_t>(ColumnType::Int32(), {1, 2}, 20, 0, random);
  const File file =
      WriteLeaf<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kParquetPlain}, leaf, random);
  const FileInfo right = Reader::Open(NewMemoryViewSource(file))->info();
  const auto open = [&](auto change) {
    FileInfo info = right;
    change(info);
    File changed(file.begin(), file.end() - static_cast<ptrdiff_t>(right.footer_size_bytes));
    encodings::ByteWriter tail;
    internal::AppendFooter(info, /*extensions=*/true, tail);
    changed.insert(changed.end(), tail.data(), tail.data() + tail.size());
    const auto reader = Reader::Open(NewMemorySource(changed));
    if (!reader.ok()) return reader.status();
    const VerifyReport report = Verify(*reader);
    return report.ok() ? absl::OkStatus() : report.damages[0].status;
  };
  EXPECT_TRUE(open([](FileInfo&) {}).ok());
  const auto expect = [&](const char* message, auto change) {
    const absl::Status status = open(change);
    EXPECT_TRUE(absl::IsDataLoss(status)) << message << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  };
  expect("arrays and nested",
         [](FileInfo& info) { info.incompatible_features |= kFeatureArrayBlocks; });
  expect("need extended blocks",
         [](FileInfo& info) { info.incompatible_features &= ~kFeatureExtendedBlocks; });
  expect("needs feature bit 26", [](FileInfo& info) { info.encoding = Encoding::kFor; });
  expect("needs feature bit 26", [](FileInfo& info) {
    info.encoding = Encoding::kPlain;
    info.compression = Compression::kNone;
    info.incompatible_features &= ~(kFeatureExtendedBlocks | kFeatureNestedBlocks);
    info.incompatible_features |= kFeatureOwnEncodings;
  });
  expect("is nullable exactly if", [](FileInfo& info) { info.nullable = false; });
  expect("entries for 20 records", [](FileInfo& info) { info.num_entries = 19; });
  expect("entries for 20 records", [](FileInfo& info) { info.levels.max_repetition = 0; });
  expect("entries, the file", [](FileInfo& info) { --*info.num_entries; });
  expect("the footer says", [](FileInfo& info) { ++*info.num_entries; });
}

// If both entries of each node named the same child, 25 levels would take 2^25 visits. Therefore
// readers refuse an index unless each subtree has its own range of the file.
TEST(Malformed, SharedIndexNodesAreRefused) {
  for (const bool with_positional : {true, false}) {
    std::mt19937_64 random(4);
    const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 3, -1, true, random);
    File file = WriteColumn<int32_t>(ColumnType::Int32(),
                                     {.compression = Compression::kNone,
                                      .positional_index = with_positional,
                                      .value_index = true},
                                     column);
    const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    file = WithoutFooter(file);
    BlockPointer child = *info.value_index_root;
    for (int level = 0; level < 25; ++level) {
      encodings::ByteWriter node;
      internal::IndexNodeBuilder builder(internal::IndexKeyForm::kBytes);
      for (int entry = 0; entry < 2; ++entry) builder.Add(std::string_view("\x80", 1), child);
      builder.Finish(/*leaf=*/false, node);
      child = AppendBlock(std::move(node), file);
    }
    FileInfo changed = info;
    changed.value_index_root = child;
    const auto reader = Reader::Open(NewMemorySource(WithFooter(file, changed)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_FALSE(Verify(*reader).ok());
    const absl::Status status = reader->NewCursor<int32_t>()->SeekToKey(5).status();
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("index entry 1 points to offset "));
    EXPECT_TRUE(absl::IsDataLoss(
        VisitIndex(*reader, IndexKind::kValue, [](const IndexNodeInfo&) { return true; })));
  }
}

TEST(Malformed, IndexThatBeginsBehindTheFirstRow) {
  std::mt19937_64 random(5);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 30, -1, false, random);
  const File file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.compression = Compression::kNone}, column);
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  encodings::ByteWriter node;
  internal::IndexNodeBuilder builder(internal::IndexKeyForm::kBytes);
  builder.Add(internal::OrdinalKey(17), DataBlock(file));
  builder.Finish(/*leaf=*/true, node);
  File changed = WithoutFooter(file);
  info.positional_index_root = AppendBlock(std::move(node), changed);
  const auto reader = Reader::Open(NewMemorySource(WithFooter(changed, info), "damaged"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(*reader->BlockBegin(17), 17);
  EXPECT_EQ(reader->BlockBegin(16).status().message(),
            "damaged: the positional index begins the block of ordinal 16 at ordinal 17");
  EXPECT_TRUE(absl::IsDataLoss(reader->Split(4).status()));
}

// A page of INT32 may hold values outside the range of a uint8 column. Every call that reads this
// value reports damage.
TEST(Malformed, ValuesOutsideTheTypesRange) {
  for (const Encoding encoding :
       {Encoding::kParquetPlain, Encoding::kParquetDictionary, Encoding::kParquetDeltaBinaryPacked,
        Encoding::kParquetByteStreamSplit}) {
    SCOPED_TRACE(static_cast<int>(encoding));
    Column<int32_t> column;
    for (int i = 0; i < 1000; ++i) column.rows.push_back(i == 700 ? 49957 : i / 10);
    const File file = WriteColumn<int32_t>(ColumnType::Int32(),
                                           {.encoding = encoding, .statistics = false}, column);
    FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    info.type = ColumnType::Uint8();
    const auto reader =
        Reader::Open(NewMemorySource(WithFooter(WithoutFooter(file), info), "damaged"));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto expect = [](const absl::Status& status) {
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(" is 49957, outside the type's range 0 to 255"));
    };
    auto cursor = reader->NewCursor<uint8_t>();
    absl::Status status = cursor.status();
    while (status.ok()) {
      const auto batch = cursor->Next(100);
      status = batch.status();
      ASSERT_TRUE(!batch.ok() || !batch->empty());
    }
    expect(status);
    if (cursor.ok()) {
      EXPECT_EQ(cursor->ordinal(), 700u);
      EXPECT_EQ(cursor->Next(100).status(), status);
      expect(cursor->Get(700).status());
      EXPECT_EQ(*cursor->Get(699), 69);
    }
    auto scan = reader->NewScan<uint8_t>(Predicate<uint8_t>::Equal(37));
    status = scan.status();
    while (status.ok()) {
      const auto batch = scan->Next();
      status = batch.status();
      ASSERT_TRUE(!batch.ok() || !batch->empty());
    }
    expect(status);
    const VerifyReport report = Verify(*reader);
    ASSERT_FALSE(report.ok());
    expect(report.damages[0].status);
  }
}

// If the footer says fewer rows than the blocks hold, readers report damage instead of hiding
// rows. This includes a footer that says 0.
TEST(Malformed, BlocksAfterTheLastValue) {
  Column<int32_t> column;
  for (int i = 0; i < 2000; ++i) column.rows.push_back(i);
  for (const bool value_index : {false, true}) {
    const File file = WriteColumn<int32_t>(ColumnType::Int32(),
                                           {.encoding = Encoding::kPlain,
                                            .value_index = value_index,
                                            .max_values_per_block = 1000,
                                            .statistics = false},
                                           column);
    const FileInfo sound = Reader::Open(NewMemoryViewSource(file))->info();
    for (const bool positional : {true, false}) {
      if (!positional && !value_index) continue;
      for (const uint64_t num_rows : {0u, 1000u}) {
        SCOPED_TRACE(testing::Message() << value_index << positional << num_rows);
        FileInfo info = sound;
        info.num_rows = num_rows;
        if (info.num_entries) info.num_entries = num_rows;
        if (!positional) info.positional_index_root.reset();
        const auto reader =
            Reader::Open(NewMemorySource(WithFooter(WithoutFooter(file), info), "damaged"));
        ASSERT_TRUE(reader.ok()) << reader.status();
        const VerifyReport report = Verify(*reader);
        ASSERT_FALSE(report.ok());
        EXPECT_THAT(std::string(report.damages[0].status.message()), HasSubstr("the footer"));
        auto cursor = reader->NewCursor<int32_t>();
        auto scan = reader->NewScan<int32_t>(Predicate<int32_t>::NotEqual(5));
        if (num_rows == 0) {
          const std::string expected = std::string("damaged: the footer says 0 rows, the ") +
                                       (positional ? "positional" : "value") + " index has blocks";
          EXPECT_EQ(cursor.status(), absl::DataLossError(expected));
          EXPECT_EQ(scan.status(), absl::DataLossError(expected));
          if (positional) {
            EXPECT_EQ(reader->NewLevelCursor<int32_t>().status(), absl::DataLossError(expected));
          }
          continue;
        }
        const absl::Status expected = absl::DataLossError(
            "damaged: the footer says 1000 rows, the index has blocks after them");
        ASSERT_TRUE(cursor.ok() && scan.ok()) << cursor.status() << scan.status();
        ASSERT_EQ(cursor->Next(2000)->size(), 1000u);
        for (int i = 0; i < 2; ++i) EXPECT_EQ(cursor->Next(2000).status(), expected);
        ASSERT_EQ(scan->Next()->size(), 999u);
        for (int i = 0; i < 2; ++i) EXPECT_EQ(scan->Next().status(), expected);
        // A range that ends before the extra blocks can be read.
        ASSERT_TRUE(cursor->SeekToRange({0, 900}).ok());
        EXPECT_EQ(cursor->Next(2000)->size(), 900u);
        EXPECT_TRUE(cursor->Next(2000)->empty());
      }
    }
  }
}

// VisitBlocks compares the rows of the blocks with the footer, too.
TEST(Malformed, VisitBlocksComparesBlocksWithTheFooter) {
  Column<int32_t> column;
  for (int i = 0; i < 2000; ++i) column.rows.push_back(i);
  const File file = WriteColumn<int32_t>(
      ColumnType::Int32(),
      {.encoding = Encoding::kPlain, .max_values_per_block = 1000, .statistics = false}, column);
  struct Case {
    uint64_t num_rows, blocks;
    std::string_view error;
  };
  for (const Case& expected : {Case{0, 0, "the block ends at ordinal 1000, the footer says 0 rows"},
                               {1500, 1, "the block ends at ordinal 2000, the footer says 1500"},
                               {3000, 2, "the blocks end at ordinal 2000, the footer says 3000"}}) {
    FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    info.num_rows = expected.num_rows;
    const auto reader = Reader::Open(NewMemorySource(WithFooter(WithoutFooter(file), info)));
    ASSERT_TRUE(reader.ok()) << reader.status();
    uint64_t blocks = 0;
    const absl::Status status =
        VisitBlocks(*reader, [&](const BlockInfo&) { return ++blocks > 0; });
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(expected.error)));
    EXPECT_EQ(blocks, expected.blocks);
  }
}

// Parquet's old number of its dictionary encoding can be read but not written. Salvage refuses such
// a file.
TEST(Malformed, EncodingWithoutEncoderIsNotSalvaged) {
  std::mt19937_64 random(6);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 30, -1, false, random);
  const File file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kParquetDictionary}, column);
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  info.encoding = Encoding::kParquetPlainDictionary;
  File salvaged;
  const absl::Status status =
      Salvage(NewMemorySource(WithFooter(WithoutFooter(file), info)), NewMemorySink(&salvaged))
          .status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
}

// A file of a later version may have an unknown encoding number, in the footer or in a block. The
// error names the number.
TEST(Malformed, UnknownEncodingsAreNamed) {
  std::mt19937_64 random(6);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 30, -1, false, random);
  const File file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.encoding = Encoding::kParquetPlain}, column);
  const Encoding unknown{encodings::kFirstOwnNumber + 999};
  ASSERT_EQ(encodings::FindEncoding(unknown), nullptr);
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  info.encoding = unknown;
  info.incompatible_features |= kFeatureOwnEncodings;
  const File changed = WithFooter(WithoutFooter(file), info);
  const auto reader = Reader::Open(NewMemoryViewSource(changed, "later"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->NewCursor<int32_t>().status(),
            absl::UnimplementedError("later: this build has no encoding 1999 of int32"));

  encodings::ByteWriter block;
  internal::AppendExtendedHeader(unknown, 30, 0, {}, block);
  block.PutFixed(uint32_t{7});
  internal::BlockCursor cursor(ColumnType::Int32(), {});
  EXPECT_EQ(cursor.Open(block.span(), Reader::Open(NewMemoryViewSource(file))->info(), 0),
            absl::UnimplementedError("this build has no encoding 1999 of int32"));
}

// Verify accepts statistics whose stored bytes exceed the limit, although the uncompressed bytes do
// not: a poor compressor may make the bytes longer.
TEST(Malformed, StatisticsThatCompressionMadeLargerAreVerified) {
  const std::vector<int64_t> values = {1, 2};
  File file;
  auto writer =
      Writer<int64_t>::Create(NewMemorySink(&file), ColumnType::Int64(),
                              {.encoding = Encoding::kPlain, .compression = Compression::kSnappy});
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_TRUE(writer->Append(values).ok());
  ASSERT_TRUE(writer->Finish().ok());
  FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  const std::span<const uint8_t> stored(file.data() + info.statistics->offset,
                                        info.statistics->size - sizeof(uint32_t));
  File message(encodings::LoadLittleEndian<uint32_t>(stored.data()));
  ASSERT_TRUE(
      internal::Uncompress(Compression::kSnappy, stored.subspan(sizeof(uint32_t)), message).ok());

  encodings::ByteWriter block;
  block.PutFixed(static_cast<uint32_t>(message.size()));
  block.PutVint(static_cast<uint32_t>(message.size()));
  // The first half consists of literals of one byte, the second half is one literal.
  const size_t half = message.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    block.PutFixed(uint8_t{0});
    block.PutFixed(message[i]);
  }
  ASSERT_LE(message.size() - half, 60u);
  block.PutFixed(static_cast<uint8_t>((message.size() - half - 1) << 2));
  block.PutBytes(std::span<const uint8_t>(message).subspan(half));
  const ReaderOptions options{.max_block_size_bytes = message.size() - 1,
                              .max_bloom_filter_bytes = 1};
  file.resize(info.statistics->offset);
  info.statistics = AppendBlock(std::move(block), file);
  const auto reader = Reader::Open(NewMemorySource(WithFooter(file, info), "damaged"), options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(reader->info().statistics_above_limit);
  const VerifyReport report = Verify(*reader);
  EXPECT_TRUE(report.ok()) << (report.damages.empty() ? report.limits : report.damages)[0].status;
}

// Verify reports an unreadable index node as one damage with the rows of the node, and checks
// everything else.
TEST(Malformed, VerifyGoesOnBehindADamagedNode) {
  std::mt19937_64 random(5);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 2000, -1, true, random);
  File file = WriteColumn<int32_t>(
      ColumnType::Int32(),
      {.value_index = true, .block_size_bytes = 60, .index_block_size_bytes = 100}, column);
  std::vector<BlockPointer> leaves;
  uint64_t blocks = 0;
  ASSERT_TRUE(VisitIndex(*Reader::Open(NewMemoryViewSource(file)), IndexKind::kPositional,
                         [&](const IndexNodeInfo& node) {
                           if (node.leaf) {
                             leaves.push_back(node.pointer);
                             blocks += node.entries.size();
                           }
                           return true;
                         })
                  .ok());
  ASSERT_GT(leaves.size(), 2u);
  file[leaves[1].offset] ^= 1;
  const VerifyReport report = Verify(*Reader::Open(NewMemoryViewSource(file)));
  ASSERT_EQ(report.damages.size(), 1u) << report.damages[1].status;
  EXPECT_EQ(report.damages[0].block, leaves[1]);
  EXPECT_TRUE(report.damages[0].first_ordinal.has_value());
  EXPECT_EQ(report.data_blocks, blocks);
  EXPECT_EQ(report.num_rows, 2000u);
}

TEST(Malformed, UnknownFeaturesAndCodecsAreNamed) {
  std::mt19937_64 random(3);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 10, -1, false, random);
  const auto file =
      WriteColumn<int32_t>(ColumnType::Int32(), {.oldest_reader = OldestReader::kKudu}, column);
  // incompatible_features is the last field of the message: field 10, one byte.
  const auto with_features = [&](uint8_t features) {
    File changed = file;
    uint8_t* value = &changed[changed.size() - 13];
    EXPECT_EQ(*value, kFeatureChecksums);
    *value = features;
    const size_t message = encodings::LoadLittleEndian<uint32_t>(&changed[changed.size() - 4]);
    const size_t begin = changed.size() - 12 - message;
    encodings::StoreLittleEndian(internal::Crc32c({&changed[begin], message + 12}),
                                 &changed[begin - 4]);
    return Reader::Open(NewMemorySource(changed)).status();
  };
  EXPECT_TRUE(with_features(1).ok());
  EXPECT_TRUE(absl::IsUnimplemented(with_features(1 | 64)));
  EXPECT_THAT(std::string(with_features(1 | 64).message()), HasSubstr("bit 6"));
  // The bit for arrays requires another field, which is missing.
  EXPECT_TRUE(absl::IsDataLoss(with_features(1 | 2)));
  // If the bit for checksums is missing, the reader notices, because the header still has a
  // checksum.
  EXPECT_TRUE(absl::IsDataLoss(with_features(0)));
  if (!CheckCompressionBuiltIn(Compression::kLz4).ok()) return;
  // The only block is too small for a codec. Cursors refuse an unknown codec nevertheless.
  const auto one = RandomColumn<int32_t>(ColumnType::Int32(), 1, -1, false, random);
  const auto compressed = WriteColumn<int32_t>(
      ColumnType::Int32(), {.compression = Compression::kLz4, .statistics = false}, one);
  FileInfo info = Reader::Open(NewMemoryViewSource(compressed))->info();
  info.compression = Compression{743};
  const File changed = WithFooter(WithoutFooter(compressed), info);
  const auto reader = Reader::Open(NewMemoryViewSource(changed));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE(absl::IsUnimplemented(reader->NewCursor<int32_t>().status()));
  const VerifyReport report = Verify(*reader);
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_TRUE(absl::IsUnimplemented(report.damages[0].status)) << report.damages[0].status;
  EXPECT_THAT(std::string(report.damages[0].status.message()), HasSubstr("743"));
}

}  // namespace cfile::malformed_test
