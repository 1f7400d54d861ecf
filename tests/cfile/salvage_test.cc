// Salvage recovers every complete block of a torn or damaged file, and no other rows. (See also
// salvage_losses_test.cc.)
#include "cfile/salvage.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/campaign/amount.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/salvage_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/sanitizers.h"

namespace cfile::salvage_test {

using namespace testing_support;  // NOLINT
using Dictionary = SalvageReport::Dictionary;

// Cuts `file` at many offsets, and also at the begin and the end of each block. EXPECTs the rows of
// all blocks before the cut. Blocks that need a dictionary are only expected if the dictionary is
// before the cut.
void ExpectTornFiles(const Written& written) {
  const Bytes& file = written.bytes;
  const std::vector<Block>& blocks = written.blocks;
  ASSERT_GT(blocks.size(), 3);
  const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  std::vector<size_t> cuts = {info.header_size_bytes, file.size() - 1,
                              file.size() - info.footer_size_bytes};
  for (const Block& block : blocks) {
    for (const size_t cut :
         {block.pointer.offset + 1, block.pointer.end() - 1, block.pointer.end()})
      cuts.push_back(cut);
  }
  for (size_t cut = info.header_size_bytes; cut < file.size();
       cut += file.size() / (20 / kThinning + 2))
    cuts.push_back(cut);
  if (info.dictionary) {
    cuts.push_back(info.dictionary->end());
    cuts.push_back(info.dictionary->end() - 1);
  }
  for (const size_t cut : cuts) {
    SCOPED_TRACE(cut);
    const auto salvaged = SalvageBytes(Prefix(file, cut));
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    const bool found = info.dictionary && info.dictionary->end() <= cut;
    bool needed = false;
    ASSERT_NO_FATAL_FAILURE(written.expect_kept(salvaged->file, blocks, [&](const Block& block) {
      if (block.pointer.end() > cut) return false;
      needed = needed || block.needs_dictionary;
      return !block.needs_dictionary || found;
    }));
    EXPECT_FALSE(salvaged->report.has_footer);
    if (needed) {
      EXPECT_EQ(salvaged->report.dictionary, found ? Dictionary::kFound : Dictionary::kLost);
    }
    const bool between = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.pointer.end() == cut;
    });
    const bool inside = std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.pointer.offset < cut && cut < block.pointer.end();
    });
    if (inside) {
      EXPECT_THAT(salvaged->report.lost, testing::Not(testing::IsEmpty()));
    } else if (between || cut == file.size() - info.footer_size_bytes) {
      EXPECT_EQ(salvaged->report.lost.empty(), !needed || found);
    }
  }
}

template <typename T>
void TestColumn(const ColumnType& type, Encoding encoding, Compression compression, bool nullable,
                bool value_index, bool movable = false) {
  SCOPED_TRACE(type.ToString() + " " + std::string(EncodingName(encoding)) + " " +
               CompressionName(compression) + (nullable ? " nullable" : "") +
               (value_index ? " sorted" : "") + (movable ? " movable" : ""));
  std::mt19937_64 random(static_cast<uint64_t>(encoding) * 1000 +
                         static_cast<uint64_t>(compression));
  const Column<T> column =
      RandomColumn<T>(type, 700, nullable ? 30 : 0, /*sorted=*/value_index, random);
  WriterOptions options{.encoding = encoding,
                        .compression = compression,
                        .nullable = nullable,
                        .value_index = value_index,
                        .block_size_bytes = 512,
                        .max_values_per_block = 97,
                        .index_block_size_bytes = 64,
                        .movable_blocks = movable,
                        .metadata = {{"who", "me"}}};
  const Written file = Write<T>(type, options, column);
  ASSERT_NO_FATAL_FAILURE(ExpectTornFiles(file));
  const std::set<size_t> lost = {file.blocks.size() / 2};
  ASSERT_NO_FATAL_FAILURE(ExpectLosses({"zeros", file, Zeros(file, lost), lost}));
}

// Torn files of every type in every encoding are salvaged, with one codec each. Files of one type
// are salvaged with all codecs.
TEST(SalvageTest, TornColumns) {
  std::vector<Encoding> all = {Encoding::kAuto};
  for (const auto& row : encodings::Encodings()) all.push_back(row.encoding);
  size_t turn = 0;
  const std::vector<Compression> codecs = BuiltInCompressions();
  for (const ColumnType& type : AllColumnTypes()) {
    for (const Encoding encoding : all) {
      if (encoding != Encoding::kAuto &&
          !encodings::FindEncoding(encoding)->Supports(type.physical()))
        continue;
      ++turn;
      if (kThinning > 1 && turn % kThinning != 0) continue;
      encodings::VisitPhysicalType(type.physical(), [&](auto t) {
        using T = typename decltype(t)::type;
        const Compression codec = codecs[turn % codecs.size()];
        const bool even = turn % 2 == 0;
        // A test of a build tries one form of each type and encoding.
        const auto is_tried = [&](size_t form) { return campaign::Full() || turn / 2 % 4 == form; };
        if (is_tried(0)) TestColumn<T>(type, encoding, Compression::kNone, even, false);
        if (is_tried(1)) TestColumn<T>(type, encoding, codec, !even, false);
        if (is_tried(2) && type.physical() != PhysicalType::kInt96)
          TestColumn<T>(type, encoding, Compression::kNone, false, true);
        if (is_tried(3)) TestColumn<T>(type, encoding, codec, even, false, true);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// Returns the first `records` records of `leaf`.
template <typename T>
Leaf<T> Front(const Leaf<T>& leaf, size_t records) {
  Leaf<T> front{.limits = leaf.limits};
  const auto entries = static_cast<ptrdiff_t>(leaf.entries[records]);
  front.repetition.assign(leaf.repetition.begin(), leaf.repetition.begin() + entries);
  front.definition.assign(leaf.definition.begin(), leaf.definition.begin() + entries);
  front.values.assign(leaf.values.begin(),
                      leaf.values.begin() + static_cast<ptrdiff_t>(leaf.first_values[records]));
  Index(front);
  return front;
}

// Cuts `file` inside each block but the first, and before the last byte. EXPECTs the records of all
// blocks before the cut. expect_front(reader, records) EXPECTs that the reader has these first
// records. Only the last cut keeps the dictionary.
void ExpectTornLeaf(const Bytes& file, const LevelLimits& limits,
                    const std::function<void(const Reader&, size_t)>& expect_front) {
  EXPECT_TRUE(SalvageBytes(file)->report.complete());
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_GT(blocks.size(), 3);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool last = i + 1 == blocks.size();
    const size_t cut = last ? file.size() - 1 : blocks[i + 1].pointer.end() - 1;
    const auto salvaged = SalvageBytes(Prefix(file, cut));
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    size_t records = 0;
    for (size_t k = 0; k <= i && (last || !blocks[k].needs_dictionary); ++k)
      records += blocks[k].num_rows;
    const auto reader = Reader::Open(NewMemoryViewSource(salvaged->file));
    ASSERT_EQ(reader->num_rows(), records);
    EXPECT_EQ(reader->info().levels, limits);
    ASSERT_NO_FATAL_FAILURE(expect_front(*reader, records));
  }
}

template <typename T>
void TestLeaf(const ColumnType& type, const LevelLimits& limits, Encoding encoding, bool movable) {
  SCOPED_TRACE(testing::Message() << type.ToString() << " " << limits.max_repetition << " "
                                  << limits.max_definition << " " << EncodingName(encoding));
  std::mt19937_64 random(7);
  const Leaf<T> leaf = RandomLeaf<T>(type, limits, 300, 0, random);
  const WriterOptions options{.encoding = encoding,
                              .block_size_bytes = 200,
                              .max_values_per_block = 64,
                              .index_block_size_bytes = 64,
                              .movable_blocks = movable};
  const Bytes file = WriteLeaf(type, options, leaf, random);
  ExpectTornLeaf(file, limits, [&](const Reader& reader, size_t records) {
    const Leaf<T> expected = Front(leaf, records);
    auto cursor = reader.NewLevelCursor<T>();
    ASSERT_TRUE(cursor.ok()) << cursor.status();
    const absl::Status status = ReadRest(*cursor, &expected, random);
    ASSERT_TRUE(status.ok()) << status;
  });
}

TEST(SalvageTest, TornLeaves) {
  for (const LevelLimits& limits :
       {LevelLimits{0, 0}, LevelLimits{0, 3}, LevelLimits{1, 1}, LevelLimits{2, 5},
        LevelLimits::KuduArray(false), LevelLimits::KuduArray(true)}) {
    for (const ColumnType& type :
         {ColumnType::Int32(), ColumnType::Bool(), ColumnType::String(), ColumnType::Uuid()}) {
      for (const Encoding encoding :
           {Encoding::kAuto, Encoding::kPlain, Encoding::kParquetPlain, Encoding::kRle,
            Encoding::kPrefix, Encoding::kParquetDictionary}) {
        if (encoding != Encoding::kAuto &&
            !encodings::FindEncoding(encoding)->Supports(type.physical()))
          continue;
        encodings::VisitPhysicalType(type.physical(), [&](auto t) {
          for (const bool movable : {false, true})
            TestLeaf<typename decltype(t)::type>(type, limits, encoding, movable);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(SalvageTest, WholeFile) {
  const Bytes file = Numbers(1000, {.value_index = true, .metadata = {{"who", "me"}}}).bytes;
  const auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_TRUE(salvaged->report.complete());
  EXPECT_EQ(salvaged->report.rows, 1000);
  EXPECT_EQ(salvaged->report.blocks, 10);
  EXPECT_EQ(NumbersOf(salvaged->file).size(), 1000);
  const FileInfo info = Reader::Open(NewMemoryViewSource(salvaged->file))->info();
  EXPECT_TRUE(info.value_index_root);
  EXPECT_EQ(info.encoding, Encoding::kPlain);
  EXPECT_FALSE(info.has_extended_blocks());
  EXPECT_THAT(info.header_metadata, testing::Contains(testing::Pair("who", "me")));
}

// If damage leaves the rows unsorted, Salvage with a value index returns an error. Without a value
// index, it recovers all rows.
TEST(SalvageTest, ValueIndexOfRowsThatDoNotAscend) {
  Bytes file = Numbers(1000, {.value_index = true, .version = FormatVersion::kV1}).bytes;
  const Block block = BlocksOf(file)[4];
  file[block.pointer.end() - sizeof(uint64_t) + 7] ^= 1;  // the last value of the block
  EXPECT_EQ(SalvageBytes(file).status().code(), absl::StatusCode::kInvalidArgument);
  const auto salvaged = SalvageBytes(file, {.value_index = false});
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 1000);
  EXPECT_FALSE(Reader::Open(NewMemoryViewSource(salvaged->file))->info().value_index_root);
}

TEST(SalvageTest, LimitOfBlocks) {
  const Bytes torn = Prefix(Numbers(1000).bytes, 5000);
  const uint64_t rows = SalvageBytes(torn)->report.rows;
  EXPECT_GT(rows, 0);
  for (const size_t limit : {size_t{1} << 31, std::numeric_limits<size_t>::max()}) {
    const auto salvaged = SalvageBytes(torn, {.reader = {.max_block_size_bytes = limit}});
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, rows);
  }
  const absl::Status status =
      SalvageBytes(torn, {.reader = {.max_block_size_bytes = 500}}).status();
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("above the limit of 500: raise max_block_size_bytes"));
  // Salvage does not search for blocks that are far larger than the limit. The report says so.
  const auto salvaged =
      SalvageBytes(torn, {.reader = {.max_block_size_bytes = 500, .max_bloom_filter_bytes = 0}});
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 0);
  ASSERT_FALSE(salvaged->report.lost.empty());
  EXPECT_THAT(salvaged->report.lost[0].reason,
              testing::HasSubstr("500 bytes is not found: raise max_block_size_bytes"));
}

// If only a raised limit can read a value, Salvage returns an error and does not drop the value.
// This holds for a file with its index and for a torn file.
TEST(SalvageTest, LargeValueIsNotDropped) {
  Column<std::string_view> column;
  column.rows = {"a", std::string(20 << 20, 'x'), "b"};
  const Bytes file = WriteColumn<std::string_view>(ColumnType::String(),
                                                   {.encoding = Encoding::kPlain,
                                                    .max_block_size_bytes = 64 << 20,
                                                    .bloom_filter_bits_per_value = 10},
                                                   column);
  for (const Bytes& torn : {file, Prefix(file, file.size() - 1)}) {
    const absl::Status status = SalvageBytes(torn).status();
    EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr("above the limit of 16777216: raise max_block_size_bytes"));
    Bytes salvaged;
    const auto report = Salvage(NewMemoryViewSource(torn), NewMemorySink(&salvaged),
                                {.reader = {.max_block_size_bytes = 64 << 20}});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->rows, 3);
  }
}

// Salvage recovers the rows of a torn file whose statistics are larger than all other blocks.
TEST(SalvageTest, LargeBloomFilterOfATornFile) {
  const Bytes file = Numbers(5000, {.encoding = Encoding::kPlain,
                                    .block_size_bytes = 2000,
                                    .bloom_filter_bits_per_value = 100})
                         .bytes;
  const Bytes torn = Prefix(file, file.size() - 1);
  const auto salvaged = SalvageBytes(torn, {.reader = {.max_block_size_bytes = 8000}});
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 5000);
}

// The new file of a PLAIN file is PLAIN, even if its blocks are extended for another reason. For a
// file with automatic choice, Salvage chooses the encodings again.
TEST(SalvageTest, EncodingOfTheNewFile) {
  Column<int64_t> column;
  for (int64_t i = 0; i < 2000; ++i) column.rows.push_back(3 * i);
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kAuto}) {
    const Bytes file = WriteColumn<int64_t>(
        ColumnType::Int64(),
        {.encoding = encoding, .compression = Compression::kZstd, .max_values_per_block = 100},
        column);
    ASSERT_TRUE(Reader::Open(NewMemoryViewSource(file))->info().has_extended_blocks());
    for (const size_t size : {file.size(), file.size() - 1}) {
      const auto salvaged = SalvageBytes(Prefix(file, size));
      ASSERT_TRUE(salvaged.ok()) << salvaged.status();
      const std::vector<Block> blocks = BlocksOf(salvaged->file);
      EXPECT_EQ(std::all_of(blocks.begin(), blocks.end(),
                            [](const Block& block) { return block.encoding == Encoding::kPlain; }),
                encoding == Encoding::kPlain);
    }
  }
}

TEST(SalvageTest, ValueIndexOfATornFile) {
  const Bytes file = Prefix(Numbers(1000, {.value_index = true}).bytes, 5000);
  auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_FALSE(Reader::Open(NewMemoryViewSource(salvaged->file))->info().value_index_root);
  salvaged = SalvageBytes(file, {.value_index = true});
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_TRUE(Reader::Open(NewMemoryViewSource(salvaged->file))->info().value_index_root);
  std::mt19937_64 random(1);
  const auto column = RandomColumn<int32_t>(ColumnType::Int32(), 100, 0, /*sorted=*/false, random);
  const Bytes unsorted = WriteColumn<int32_t>(ColumnType::Int32(), {}, column);
  EXPECT_EQ(SalvageBytes(unsorted, {.value_index = true}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Like SalvageBytes, but the byte at `bad` cannot be read.
absl::StatusOr<Salvaged> SalvageUnreadable(const Bytes& torn, uint64_t bad) {
  return SalvageBytes(
      torn, {},
      std::make_shared<ScriptedSource>(NewMemoryViewSource(torn, "torn"), UnreadableByte(bad)));
}

const auto kTellsTheRead = testing::Contains(
    testing::Field(&LostBytes::reason, testing::HasSubstr("ReadAt torn: made to fail")));

// If the header or the dictionary is unreadable, Salvage returns an error: no block can be read
// without them, and a later attempt may succeed.
TEST(SalvageTest, UnreadableHeaderOrDictionary) {
  Column<std::string_view> column;
  for (int i = 0; i < 20'000; ++i) column.rows.push_back("name " + std::to_string(i % 50));
  for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
    const Bytes file = WriteColumn<std::string_view>(
        ColumnType::String(),
        {.encoding = Encoding::kDict, .max_values_per_block = 100, .version = version}, column);
    const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    for (const uint64_t bad : {uint64_t{10}, info.dictionary->offset}) {
      const absl::Status status = SalvageUnreadable(file, bad).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
      EXPECT_THAT(std::string(status.message()), testing::HasSubstr("made to fail"));
    }
  }
}

// The footer says what the blocks hold, if its own checksum is right.
TEST(SalvageTest, DamagedHeader) {
  const Bytes file = Numbers(100'000, {}).bytes;
  const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
  for (const uint64_t bad : {uint64_t{0}, uint64_t{10}, info.header_size_bytes - 1}) {
    Bytes damaged = file;
    damaged[bad] ^= 0x40;
    const auto salvaged = SalvageBytes(damaged);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, 100'000);
    EXPECT_TRUE(salvaged->report.has_footer);
    EXPECT_FALSE(salvaged->report.complete());
    EXPECT_EQ(Reader::Open(NewMemoryViewSource(salvaged->file))->info().type, info.type);
    damaged[file.size() - 20] ^= 1;
    EXPECT_EQ(SalvageBytes(damaged).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(SalvageTest, UnreadableLeafOfAFileWithoutChecksums) {
  const Bytes file = Numbers(100'000, {.version = FormatVersion::kV1}).bytes;
  const auto leaves = LeavesOf(file, IndexKind::kPositional);
  const auto salvaged = SalvageUnreadable(file, leaves[100].offset + 2);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.missing.size(), 1);
  EXPECT_GT(salvaged->report.rows, 98'000);
  EXPECT_THAT(salvaged->report.lost, kTellsTheRead);
}

// A limit never drops rows silently: Salvage returns an error that names the limit.
TEST(SalvageTest, LimitsAreErrors) {
  const auto expect_limit = [](const Bytes& file, const ReaderOptions& options,
                               const std::string& limit) {
    const absl::Status status = SalvageBytes(file, {.reader = options}).status();
    EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("raise " + limit));
  };
  const Bytes numbers = Numbers(5000, {.version = FormatVersion::kV1}).bytes;
  expect_limit(numbers, {.max_index_size_bytes = 2000}, "max_index_size_bytes");
  expect_limit(numbers, {.max_index_depth = 2}, "max_index_depth");
  expect_limit(numbers, {.max_block_size_bytes = 300}, "max_block_size_bytes");
  expect_limit(numbers, {.max_metadata_size_bytes = 10}, "max_metadata_size_bytes");

  Column<std::string_view> column;
  for (int i = 0; i < 2000; ++i)
    column.rows.push_back("quite a long name of number " + std::to_string(i % 200));
  const Bytes file = WriteColumn<std::string_view>(
      ColumnType::String(), {.encoding = Encoding::kDict, .max_values_per_block = 100}, column);
  expect_limit(file, {.max_block_size_bytes = 3000}, "max_block_size_bytes");
  expect_limit(Prefix(file, file.size() - 1), {.max_block_size_bytes = 3000},
               "max_block_size_bytes");
}

TEST(SalvageTest, RefusesWhatCannotBeRead) {
  const Bytes version_1 = Numbers(1000, {.version = FormatVersion::kV1}).bytes;
  EXPECT_TRUE(SalvageBytes(version_1).ok());
  absl::Status status = SalvageBytes(Prefix(version_1, version_1.size() - 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("version 1"));

  const Bytes kudu = Numbers(1000, {.oldest_reader = OldestReader::kKudu}).bytes;
  EXPECT_TRUE(SalvageBytes(kudu).ok());
  status = SalvageBytes(Prefix(kudu, kudu.size() - 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cfile.column"));

  Bytes file = Numbers(1000).bytes;
  const size_t header_size = Reader::Open(NewMemoryViewSource(file))->info().header_size_bytes;
  for (size_t size = 0; size < header_size; ++size) {
    EXPECT_EQ(SalvageBytes(Prefix(file, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  file[20] ^= 1;
  file[file.size() - 20] ^= 1;
  status = SalvageBytes(file).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("header"));
}

// A file is cut at the end of a value that is itself a file. Salvage sees that the outer file has
// lost its footer, although the last bytes are the footer of the value.
TEST(SalvageTest, TornBehindAFileAsValue) {
  for (const Compression compression : {Compression::kNone, Compression::kZlib}) {
    Column<int32_t> inner;
    for (int i = 0; i < 2000; ++i) inner.rows.push_back(i);
    const Bytes inner_file = WriteColumn<int32_t>(
        ColumnType::Int32(), {.encoding = Encoding::kPlain, .compression = compression}, inner);
    Column<std::string_view> outer;
    for (int i = 0; i < 100; ++i) {
      outer.rows.push_back(
          std::string(reinterpret_cast<const char*>(inner_file.data()), inner_file.size()));
    }
    const Bytes file = WriteColumn<std::string_view>(
        ColumnType::Binary(), {.encoding = Encoding::kPlain, .max_values_per_block = 10}, outer);
    const std::vector<Block> blocks = BlocksOf(file);
    size_t cut = blocks[6].pointer.offset;
    const auto at = std::search(file.begin() + static_cast<ptrdiff_t>(cut), file.end(),
                                inner_file.begin(), inner_file.end());
    ASSERT_NE(at, file.end());
    cut = static_cast<size_t>(at - file.begin()) + 3 * inner_file.size();
    const auto salvaged = SalvageBytes(Prefix(file, cut));
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_FALSE(salvaged->report.has_footer);
    EXPECT_EQ(salvaged->report.info.type, ColumnType::Binary());
    ExpectRows(salvaged->file,
               RowsOf(outer, blocks, [](const Block& block) { return block.index < 6; }));
  }
}

// For any bytes, Salvage returns an error or a valid file.
TEST(SalvageTest, AnyBytes) {
  std::mt19937_64 random(11);
  for (const Encoding encoding : {Encoding::kAuto, Encoding::kRle, Encoding::kParquetDictionary}) {
    const auto column =
        RandomColumn<int32_t>(ColumnType::Int32(), 300, 20, /*sorted=*/false, random);
    const Bytes file = WriteColumn<int32_t>(ColumnType::Int32(),
                                            {.encoding = encoding,
                                             .nullable = true,
                                             .max_values_per_block = 50,
                                             .index_block_size_bytes = 64},
                                            column);
    const Bytes torn = Prefix(file, file.size() - 1);
    for (const Bytes& bytes : {file, torn}) {
      const size_t step = campaign::Full() ? 1 : 5 * kThinning;
      for (size_t bit = random() % step; bit < 8 * bytes.size(); bit += step) {
        Bytes flipped = bytes;
        flipped[bit / 8] = static_cast<uint8_t>(flipped[bit / 8] ^ 1 << bit % 8);
        const auto salvaged = SalvageBytes(flipped);
        if (!salvaged.ok()) {
          EXPECT_EQ(salvaged.status().code(), absl::StatusCode::kDataLoss) << salvaged.status();
          continue;
        }
        // A flipped bit damages at most one block or the dictionary.
        EXPECT_TRUE(salvaged->report.rows >= 250 ||
                    salvaged->report.dictionary == Dictionary::kLost)
            << bit << ": " << salvaged->report.rows;
      }
    }
    const size_t header_size = Reader::Open(NewMemoryViewSource(file))->info().header_size_bytes;
    for (uint64_t round = 0; round < campaign::Amount(20, 100); ++round) {
      Bytes noise = Prefix(file, header_size);
      for (size_t i = random() % 20'000; i > 0; --i) {
        noise.push_back(static_cast<uint8_t>(random() % 3 == 0 ? random() : random() % 2));
      }
      const auto salvaged = SalvageBytes(noise);
      ASSERT_TRUE(salvaged.ok()) << salvaged.status();
      EXPECT_EQ(salvaged->report.rows, 0);
    }
  }
}

}  // namespace cfile::salvage_test
