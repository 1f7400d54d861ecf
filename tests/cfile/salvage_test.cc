// Salvage recovers every complete block of a torn or damaged file, and no other rows.
#include "cfile/salvage.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/internal/format/crc32c.h"
#include "cfile/internal/format/level_block.h"
#include "cfile/reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"
#include "tests/cfile/scripted_io.h"
#include "tests/sanitizers.h"

namespace cfile {
namespace {

using namespace testing_support;  // NOLINT
using Bytes = std::vector<uint8_t>;
using Dictionary = SalvageReport::Dictionary;

struct Salvaged {
  Bytes file;
  SalvageReport report;
};

// Salvages `source`, or `torn` if `source` is null. EXPECTs that the new file is valid.
absl::StatusOr<Salvaged> SalvageBytes(const Bytes& torn, const SalvageOptions& options = {},
                                      std::shared_ptr<const Source> source = nullptr) {
  Salvaged result;
  if (source == nullptr) source = NewMemoryViewSource(torn, "torn");
  auto report = Salvage(std::move(source), NewMemorySink(&result.file, "new"), options);
  if (!report.ok()) return report.status();
  result.report = *std::move(report);
  const auto reader = Reader::Open(NewMemoryViewSource(result.file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return reader.status();
  const VerifyReport verified = Verify(*reader);
  EXPECT_TRUE(verified.ok()) << verified.damages[0].status;
  EXPECT_EQ(reader->num_rows(), result.report.rows);
  uint64_t end = 0;
  for (const LostBytes& lost : result.report.lost) {
    EXPECT_TRUE(end <= lost.begin && lost.begin < lost.end && lost.end <= torn.size())
        << lost.begin << " to " << lost.end;
    end = lost.end;
  }
  return result;
}

struct Block : BlockInfo {
  bool needs_dictionary = false;
};

// True if a block whose dictionary consists of symbols has codes.
bool NeedsSymbols(const BlockInfo& block, const FileInfo& info) {
  const auto parts = internal::ParseLevelBlock(block.bytes, info);
  const auto decoder =
      encodings::MakeDecoder<std::string_view>(block.encoding, encodings::PhysicalType::kBytes, {});
  encodings::BlockView body(parts->values.values);
  body.count = parts->values.present_count.value_or(0);
  if (!parts.ok() || !decoder.ok() || !(*decoder)->Open(body).ok()) return true;
  std::string_view values[64];
  while ((*decoder)->position() < (*decoder)->count()) {
    if (!(*decoder)->Read(values).ok()) return true;
  }
  return false;
}

bool NeedsDictionary(const BlockInfo& block, const FileInfo& info) {
  const encodings::EncodingRow& row = *encodings::FindEncoding(block.encoding);
  if (row.has_dictionary && !row.has_codes) return NeedsSymbols(block, info);
  if (block.encoding != Encoding::kDict) return row.has_dictionary;
  constexpr uint8_t kCodes = 1;
  const auto parts = internal::ParseLevelBlock(block.bytes, info);
  EXPECT_TRUE(parts.ok());
  return parts->values.values[0] == kCodes;
}

// Returns the data blocks of an undamaged file.
std::vector<Block> BlocksOf(const Bytes& file) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<Block> blocks;
  const absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    blocks.push_back({block, NeedsDictionary(block, reader->info())});
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return blocks;
}

// Returns the rows of the blocks for which `kept` returns true.
template <typename T, typename Kept>
Column<T> RowsOf(const Column<T>& column, const std::vector<Block>& blocks, Kept kept) {
  Column<T> rows;
  for (const Block& block : blocks) {
    if (!kept(block)) continue;
    const auto begin = column.rows.begin() + static_cast<ptrdiff_t>(block.first_ordinal);
    rows.rows.insert(rows.rows.end(), begin, begin + static_cast<ptrdiff_t>(block.num_rows));
  }
  return rows;
}

template <typename T>
void ExpectRows(const Bytes& file, const Column<T>& column) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_EQ(reader->num_rows(), column.rows.size());
  std::mt19937_64 random(1);
  auto cursor = reader->NewCursor<T>();
  ASSERT_TRUE(cursor.ok()) << cursor.status();
  ExpectRest<T>(*cursor, column, random);
}

Bytes Prefix(const Bytes& file, size_t size) {
  return {file.begin(), file.begin() + static_cast<ptrdiff_t>(size)};
}

using Kept = std::function<bool(const Block&)>;

// A function of this type EXPECTs that `file` holds the rows of some of the `blocks`:
// those for which `kept` returns true.
// Because of this type, the code that damages files need not be a template.
using ExpectKept =
    std::function<void(const Bytes& file, const std::vector<Block>& blocks, const Kept& kept)>;

// Cuts `file` at many offsets, and also at the begin and the end of each block. EXPECTs the rows of
// all blocks before the cut. Blocks that need a dictionary are only expected if the dictionary is
// before the cut.
void ExpectTornFiles(const Bytes& file, const ExpectKept& expect_kept) {
  const std::vector<Block> blocks = BlocksOf(file);
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
    ASSERT_NO_FATAL_FAILURE(expect_kept(salvaged->file, blocks, [&](const Block& block) {
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

// Overwrites the middle block with zeros and EXPECTs the rows of all other blocks.
void ExpectLostPage(const Bytes& file, const ExpectKept& expect_kept) {
  const std::vector<Block> blocks = BlocksOf(file);
  const Block& lost = blocks[blocks.size() / 2];
  // The file has its footer, or lacks the last byte of the footer.
  for (const size_t size : {file.size(), file.size() - 1}) {
    SCOPED_TRACE(size);
    Bytes torn = Prefix(file, size);
    std::fill_n(torn.begin() + static_cast<ptrdiff_t>(lost.pointer.offset), lost.pointer.size, 0);
    const auto salvaged = SalvageBytes(torn);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.has_footer, size == file.size());
    ASSERT_NO_FATAL_FAILURE(expect_kept(
        salvaged->file, blocks, [&](const Block& block) { return block.index != lost.index; }));
    ASSERT_EQ(salvaged->report.missing.size(), 1);
    EXPECT_EQ(salvaged->report.missing[0],
              (OrdinalRange{lost.first_ordinal, lost.first_ordinal + lost.num_rows}));
    // Salvage may take fewer than 64 zeros for the alignment of a block.
    if (lost.pointer.size < 64) continue;
    ASSERT_FALSE(salvaged->report.lost.empty());
    EXPECT_LE(salvaged->report.lost[0].begin, lost.pointer.offset);
    EXPECT_GE(salvaged->report.lost[0].end, lost.pointer.end());
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
  const Bytes file = WriteColumn<T>(type, options, column);
  const auto expect_kept = [&](const Bytes& salvaged, const std::vector<Block>& blocks,
                               const Kept& kept) {
    ExpectRows(salvaged, RowsOf(column, blocks, kept));
  };
  ASSERT_NO_FATAL_FAILURE(ExpectTornFiles(file, expect_kept));
  ASSERT_NO_FATAL_FAILURE(ExpectLostPage(file, expect_kept));
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
        TestColumn<T>(type, encoding, Compression::kNone, turn % 2 == 0, false);
        TestColumn<T>(type, encoding, codecs[turn % codecs.size()], turn % 2 != 0, false);
        if (type.physical() != PhysicalType::kInt96)
          TestColumn<T>(type, encoding, Compression::kNone, false, true);
        TestColumn<T>(type, encoding, codecs[turn % codecs.size()], turn % 2 == 0, false, true);
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

// Returns a file of the rows 0, 1, 2, ... in blocks of 100 rows.
Bytes Numbers(uint64_t count, WriterOptions options = {}) {
  options.encoding = Encoding::kPlain;
  options.max_values_per_block = 100;
  options.index_block_size_bytes = 64;
  Column<uint64_t> column;
  for (uint64_t i = 0; i < count; ++i) column.rows.push_back(i);
  return WriteColumn<uint64_t>(ColumnType::Uint64(), options, column);
}

std::vector<uint64_t> NumbersOf(const Bytes& file) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<uint64_t> numbers;
  auto cursor = reader->NewCursor<uint64_t>();
  for (auto batch = cursor->Next(1000); batch.ok() && !batch->empty(); batch = cursor->Next(1000))
    numbers.insert(numbers.end(), batch->values.begin(), batch->values.end());
  return numbers;
}

TEST(SalvageTest, WholeFile) {
  const Bytes file = Numbers(1000, {.value_index = true, .metadata = {{"who", "me"}}});
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
  Bytes file = Numbers(1000, {.value_index = true, .version = FormatVersion::kV1});
  const Block block = BlocksOf(file)[4];
  file[block.pointer.end() - sizeof(uint64_t) + 7] ^= 1;  // the last value of the block
  EXPECT_EQ(SalvageBytes(file).status().code(), absl::StatusCode::kInvalidArgument);
  const auto salvaged = SalvageBytes(file, {.value_index = false});
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 1000);
  EXPECT_FALSE(Reader::Open(NewMemoryViewSource(salvaged->file))->info().value_index_root);
}

TEST(SalvageTest, LimitOfBlocks) {
  const Bytes torn = Prefix(Numbers(1000), 5000);
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
  const Bytes file = Numbers(
      5000,
      {.encoding = Encoding::kPlain, .block_size_bytes = 2000, .bloom_filter_bits_per_value = 100});
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
  const Bytes file = Prefix(Numbers(1000, {.value_index = true}), 5000);
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

// Salvage recovers all undamaged blocks of a file that has its footer, with and without checksums.
TEST(SalvageTest, DamagedBlocksOfAWholeFile) {
  for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
    Bytes file = Numbers(1000, {.value_index = true, .version = version});
    const std::vector<Block> blocks = BlocksOf(file);
    // Damages the number of rows in the headers of some blocks.
    for (const size_t block : {3, 4, 9}) file[blocks[block].pointer.offset] ^= 1;
    const auto salvaged = SalvageBytes(file);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, 700);
    EXPECT_THAT(salvaged->report.missing,
                testing::ElementsAre(OrdinalRange{300, 500}, OrdinalRange{900, 1000}));
    ASSERT_EQ(salvaged->report.lost.size(), 3);
    EXPECT_EQ(salvaged->report.lost[0].begin, blocks[3].pointer.offset);
    EXPECT_EQ(salvaged->report.lost[0].end, blocks[3].pointer.end());
    const std::vector<uint64_t> numbers = NumbersOf(salvaged->file);
    EXPECT_EQ(numbers[299], 299);
    EXPECT_EQ(numbers[300], 500);
    EXPECT_EQ(numbers[699], 899);
  }
}

// With checksums, Salvage also recovers the blocks below a lost index node.
TEST(SalvageTest, DamagedIndexOfAWholeFile) {
  for (const bool value_index : {false, true}) {
    Bytes file = Numbers(1000, {.value_index = value_index});
    const FileInfo info = Reader::Open(NewMemoryViewSource(file))->info();
    file[info.positional_index_root->offset] ^= 1;
    auto salvaged = SalvageBytes(file);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, 1000);
    EXPECT_THAT(salvaged->report.missing, testing::IsEmpty());
    ASSERT_FALSE(salvaged->report.lost.empty());
    EXPECT_EQ(salvaged->report.lost[0].begin, info.positional_index_root->offset);
    EXPECT_FALSE(salvaged->report.complete());
  }
}

// Returns the locations of an index's leaves, in the order of the tree.
std::vector<BlockPointer> LeavesOf(const Bytes& file, IndexKind kind) {
  std::vector<BlockPointer> leaves;
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  const absl::Status status = VisitIndex(*reader, kind, [&](const IndexNodeInfo& node) {
    if (node.leaf) leaves.push_back(node.pointer);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return leaves;
}

// Damages leaves of one index or of both indexes.
// If the blocks have checksums, Salvage recovers every block.
// If they have no checksums, Salvage recovers each block to which an index still points.
TEST(SalvageTest, DamagedLeaves) {
  for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
    const Bytes file = Numbers(5000, {.value_index = true, .version = version});
    const auto positional = LeavesOf(file, IndexKind::kPositional);
    const auto value = LeavesOf(file, IndexKind::kValue);
    ASSERT_GT(positional.size(), 3);
    ASSERT_GT(value.size(), 3);
    const std::vector<std::vector<BlockPointer>> damages = {
        {positional[1]}, {value[1]}, {positional[1], value[value.size() - 2]}};
    for (const auto& damage : damages) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(version) << " " << damage.size() << " " << damage[0].offset);
      Bytes torn = file;
      // A leaf of version 1 has no checksum, so that only a change of its trailer is noticed.
      for (const BlockPointer& leaf : damage) {
        const auto end = version == FormatVersion::kV1 ? leaf.end() : leaf.offset + 9;
        std::fill_n(torn.begin() + static_cast<ptrdiff_t>(end - 8), 8, uint8_t{0xa5});
      }
      const auto salvaged = SalvageBytes(torn);
      ASSERT_TRUE(salvaged.ok()) << salvaged.status();
      EXPECT_EQ(salvaged->report.rows, 5000);
      EXPECT_THAT(salvaged->report.missing, testing::IsEmpty());
      EXPECT_EQ(salvaged->report.lost.size(), damage.size());
      EXPECT_EQ(NumbersOf(salvaged->file), NumbersOf(file));
    }
  }
}

// Like SalvageBytes, but the byte at `bad` cannot be read.
absl::StatusOr<Salvaged> SalvageUnreadable(const Bytes& torn, uint64_t bad) {
  return SalvageBytes(
      torn, {},
      std::make_shared<ScriptedSource>(NewMemoryViewSource(torn, "torn"), UnreadableByte(bad)));
}

const auto kTellsTheRead = testing::Contains(
    testing::Field(&LostBytes::reason, testing::HasSubstr("ReadAt torn: made to fail")));

// An unreadable byte loses all blocks in its page. If the index gives the locations of the blocks,
// only one block is lost. The report gives the read error.
TEST(SalvageTest, UnreadableBytes) {
  const Bytes file = Numbers(100'000);
  const std::vector<Block> blocks = BlocksOf(file);
  const std::vector<uint64_t> numbers = NumbersOf(file);
  const BlockPointer block = blocks[500].pointer;
  const BlockPointer leaf = LeavesOf(file, IndexKind::kPositional)[100];
  for (const uint64_t bad : {block.offset + 100, leaf.offset + 2, file.size() - 20}) {
    for (const size_t size : {file.size(), file.size() - 1}) {
      SCOPED_TRACE(testing::Message() << bad << " of " << size);
      const bool by_index = size == file.size() && bad == block.offset + 100;
      const uint64_t page = bad / 4096 * 4096;
      const uint64_t begin = by_index ? bad : page;
      const uint64_t end = by_index ? bad + 1 : page + 4096;
      std::vector<uint64_t> expected;
      for (const Block& some : blocks) {
        if (some.pointer.offset < end && begin < some.pointer.end()) continue;
        const auto first = numbers.begin() + static_cast<ptrdiff_t>(some.first_ordinal);
        expected.insert(expected.end(), first, first + static_cast<ptrdiff_t>(some.num_rows));
      }
      const auto salvaged = SalvageUnreadable(Prefix(file, size), bad);
      ASSERT_TRUE(salvaged.ok()) << salvaged.status();
      EXPECT_EQ(NumbersOf(salvaged->file), expected);
      EXPECT_THAT(salvaged->report.lost, kTellsTheRead);
    }
  }
}

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

TEST(SalvageTest, UnreadableLeafOfAFileWithoutChecksums) {
  const Bytes file = Numbers(100'000, {.version = FormatVersion::kV1});
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
  const Bytes numbers = Numbers(5000, {.version = FormatVersion::kV1});
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

// In a file without checksums that has lost its positional index, Salvage finds blocks by the
// remaining nodes of the value index.
TEST(SalvageTest, DamagedValueIndexOfAFileWithoutChecksums) {
  const Bytes file = Numbers(2000, {.value_index = true, .version = FormatVersion::kV1});
  const std::vector<Block> blocks = BlocksOf(file);
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  const FileInfo& info = reader->info();
  Bytes torn = file;
  const auto zero = [&](const BlockPointer& pointer) {
    std::fill_n(torn.begin() + static_cast<ptrdiff_t>(pointer.offset), pointer.size, 0);
  };
  for (size_t k = 0; k + 1 < blocks.size(); ++k) {
    const uint64_t gap = blocks[k].pointer.end();
    if (blocks[k + 1].pointer.offset - gap < 30) continue;
    // Overwrites all index nodes between two blocks with zeros.
    // After this, some blocks before these nodes are lost.
    torn = file;
    zero(*info.positional_index_root);
    zero({gap, static_cast<uint32_t>(blocks[k + 1].pointer.offset - gap)});
    const auto salvaged = SalvageBytes(torn);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_LT(salvaged->report.rows, 2000);
    // Salvage recovers the blocks after these nodes.
    const std::vector<uint64_t> numbers = NumbersOf(salvaged->file);
    EXPECT_TRUE(std::count(numbers.begin(), numbers.end(), (k + 1) * 100)) << k;
    EXPECT_EQ(salvaged->report.missing.size(), 1);
    return;
  }
  FAIL() << "no node between two blocks";
}

TEST(SalvageTest, RefusesWhatCannotBeRead) {
  const Bytes version_1 = Numbers(1000, {.version = FormatVersion::kV1});
  EXPECT_TRUE(SalvageBytes(version_1).ok());
  absl::Status status = SalvageBytes(Prefix(version_1, version_1.size() - 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("version 1"));

  const Bytes kudu = Numbers(1000, {.compatibility = Compatibility::kKudu});
  EXPECT_TRUE(SalvageBytes(kudu).ok());
  status = SalvageBytes(Prefix(kudu, kudu.size() - 1)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cfile.column"));

  Bytes file = Numbers(1000);
  const size_t header_size = Reader::Open(NewMemoryViewSource(file))->info().header_size_bytes;
  for (size_t size = 0; size < header_size; ++size) {
    EXPECT_EQ(SalvageBytes(Prefix(file, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  file[20] ^= 1;
  status = SalvageBytes(file).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("header"));
}

const WriterOptions kSmallBlocks{.encoding = Encoding::kPlain, .max_values_per_block = 10};

// Returns a column of 100 values. Each value is a whole file of 2,000 strings.
Column<std::string_view> FilesAsValues(bool movable = false) {
  WriterOptions options = kSmallBlocks;
  options.movable_blocks = movable;
  Column<std::string_view> inner, outer;
  for (int i = 0; i < 2000; ++i) inner.rows.push_back("inner " + std::to_string(i));
  const Bytes file = WriteColumn<std::string_view>(ColumnType::Binary(), options, inner);
  outer.rows.assign(100, std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  return outer;
}

// If nothing is lost, the contents of a value are not mistaken for blocks of the column.
TEST(SalvageTest, FilesAsValues) {
  const Column<std::string_view> outer = FilesAsValues();
  const Bytes file = WriteColumn<std::string_view>(ColumnType::Binary(), kSmallBlocks, outer);
  const auto salvaged = SalvageBytes(Prefix(file, file.size() - 1));
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.blocks, BlocksOf(file).size());
  ExpectRows(salvaged->file, outer);
}

// After lost blocks, Salvage still finds the blocks of the column and not the blocks inside their
// values.
void TestFilesAsValuesBehindALoss(bool movable) {
  const Column<std::string_view> outer = FilesAsValues(movable);
  WriterOptions options = kSmallBlocks;
  options.movable_blocks = movable;
  Bytes torn = WriteColumn<std::string_view>(ColumnType::Binary(), options, outer);
  const std::vector<Block> blocks = BlocksOf(torn);
  torn.pop_back();
  const auto lost = [](const Block& block) { return block.index % 3 == 1; };
  for (const Block& block : blocks) {
    if (lost(block)) {
      std::fill_n(torn.begin() + static_cast<ptrdiff_t>(block.pointer.offset), block.pointer.size,
                  0);
    }
  }
  const auto salvaged = SalvageBytes(torn);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  ExpectRows(salvaged->file,
             RowsOf(outer, blocks, [&](const Block& block) { return !lost(block); }));
}
TEST(SalvageTest, FilesAsValuesBehindALoss) {
  for (const bool movable : {false, true}) TestFilesAsValuesBehindALoss(movable);
}

// A movable block is damaged. One of its values has the bytes of another block of the same type.
// Salvage must not return the rows of this inner block, because they are not rows of the file.
// The head of the damaged block is right. So Salvage knows where the damaged block ends,
// and continues the search there.
TEST(SalvageTest, BlockInAValueOfADamagedBlock) {
  const WriterOptions options{.encoding = Encoding::kPlain,
                              .compression = Compression::kNone,
                              .max_values_per_block = 1000,
                              .movable_blocks = true};
  Column<std::string_view> forged, column;
  for (int i = 0; i < 4000; ++i) {
    forged.rows.push_back("forged");
    column.rows.push_back("row " + std::to_string(i));
  }
  const Bytes other = WriteColumn<std::string_view>(ColumnType::Binary(), options, forged);
  for (const size_t number : {1, 2}) {
    const BlockPointer inner = BlocksOf(other)[number].pointer;
    column.rows[1000 * number + 500] =
        std::string(reinterpret_cast<const char*>(other.data()) + inner.offset, inner.size);
  }
  const Bytes file = WriteColumn<std::string_view>(ColumnType::Binary(), options, column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_EQ(blocks.size(), 4);
  Bytes damaged = Prefix(file, blocks[3].pointer.end());
  for (const size_t lost : {1, 2}) {
    const BlockPointer& outer = blocks[lost].pointer;
    damaged[outer.end() - 10] ^= 1;  // a byte of the last value
    const auto salvaged = SalvageBytes(damaged);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    ASSERT_EQ(salvaged->report.lost.size(), 1);
    EXPECT_EQ(salvaged->report.lost[0].begin, blocks[1].pointer.offset);
    EXPECT_EQ(salvaged->report.lost[0].end, outer.end());
    ExpectRows(salvaged->file, RowsOf(column, blocks, [&](const Block& block) {
                 return block.index == 0 || block.index > lost;
               }));
    // The file ends inside the damaged block.
    const auto torn = SalvageBytes(Prefix(damaged, outer.end() - 5));
    ASSERT_TRUE(torn.ok()) << torn.status();
    EXPECT_EQ(torn->report.lost.back().end, outer.end() - 5);
    ExpectRows(torn->file,
               RowsOf(column, blocks, [](const Block& block) { return block.index == 0; }));
  }
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

// After lost bytes, Salvage finds blocks of up to 4 MiB, and also larger blocks that directly
// follow a found block.
TEST(SalvageTest, LargeBlocks) {
  Column<std::string_view> column;
  for (const size_t size : {1, 3'900'000, 4'250'000, 10, 4'300'000, 5'000'000, 20})
    column.rows.push_back(std::string(size, static_cast<char>('a' + column.rows.size())));
  Bytes file = WriteColumn<std::string_view>(
      ColumnType::Binary(), {.encoding = Encoding::kPlain, .max_values_per_block = 1}, column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_EQ(blocks.size(), 7);
  for (const size_t lost : {0, 3}) file[blocks[lost].pointer.offset + 12] ^= 1;
  file.pop_back();
  const auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_THAT(salvaged->report.missing,
              testing::ElementsAre(OrdinalRange{0, 1}, OrdinalRange{3, 6}));
}

// Damages each block in turn and EXPECTs the rows of all other blocks. The file has small index
// nodes, and its footer or not.
template <typename T>
void ExpectEachBlockLost(const ColumnType& type, Encoding encoding, uint64_t range) {
  SCOPED_TRACE(type.ToString() + " " + std::string(EncodingName(encoding)));
  std::mt19937_64 random(5);
  Column<T> column;
  while (column.rows.size() < 60'000) column.rows.push_back(static_cast<T>(random() % range));
  const Bytes file = WriteColumn<T>(type,
                                    {.encoding = encoding,
                                     .block_size_bytes = 20'000,
                                     .max_values_per_block = 100'000,
                                     .index_block_size_bytes = 64},
                                    column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_GT(blocks.size(), 2);
  for (size_t lost = 0; lost < blocks.size(); lost += kThinning) {
    for (const size_t size : {file.size(), file.size() - 1}) {
      SCOPED_TRACE(testing::Message() << lost << " " << size);
      Bytes torn = Prefix(file, size);
      torn[blocks[lost].pointer.offset + blocks[lost].pointer.size / 2] ^= 1;
      const auto salvaged = SalvageBytes(torn);
      ASSERT_TRUE(salvaged.ok()) << salvaged.status();
      EXPECT_EQ(salvaged->report.has_footer, size == file.size());
      ASSERT_NO_FATAL_FAILURE(ExpectRows(
          salvaged->file,
          RowsOf(column, blocks, [&](const Block& block) { return block.index != lost; })));
    }
  }
}

TEST(SalvageTest, EachBlockLost) {
  for (const auto& row : encodings::Encodings()) {
    if (row.has_dictionary) continue;
    if (row.Supports(PhysicalType::kUint8))
      ExpectEachBlockLost<uint8_t>(ColumnType::Uint8(), row.encoding, 100);
    if (row.Supports(PhysicalType::kInt32))
      ExpectEachBlockLost<int32_t>(ColumnType::Int32(), row.encoding, 100);
    if (row.Supports(PhysicalType::kInt64))
      ExpectEachBlockLost<int64_t>(ColumnType::Int64(), row.encoding, 1 << 30);
  }
  ExpectEachBlockLost<int32_t>(ColumnType::Int32(), Encoding::kAuto, 100);
}

// After a lost block, the next block may begin with any row number.
// Salvage must not take the bytes of index nodes for blocks of runs of values.
template <typename T>
void ExpectNodesAreNoRows(const ColumnType& type, size_t count, const WriterOptions& options,
                          bool before_a_node) {
  SCOPED_TRACE(type.ToString());
  std::mt19937_64 random(3);
  Column<T> column;
  for (size_t i = 0; i < count; ++i) column.rows.push_back(static_cast<T>(random() % 100));
  Bytes file = WriteColumn<T>(type, options, column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_GT(blocks.size(), 3);
  size_t lost = blocks.size() - 1;
  if (before_a_node) {
    lost = 0;
    while (blocks.at(lost + 1).pointer.offset == blocks[lost].pointer.end()) ++lost;
  }
  file[blocks[lost].pointer.offset + 50] ^= 1;
  file.pop_back();
  const auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  ExpectRows(salvaged->file,
             RowsOf(column, blocks, [&](const Block& block) { return block.index != lost; }));
}

TEST(SalvageTest, IndexNodesBehindALoss) {
  const WriterOptions options{.encoding = Encoding::kRle};
  ExpectNodesAreNoRows<uint8_t>(ColumnType::Uint8(), 1'000'000, options, false);
  ExpectNodesAreNoRows<int32_t>(ColumnType::Int32(), 200'000, options, false);
  ExpectNodesAreNoRows<int64_t>(ColumnType::Int64(), 100'000, options, false);
  const WriterOptions small_nodes{.encoding = Encoding::kRle, .index_block_size_bytes = 64};
  ExpectNodesAreNoRows<int32_t>(ColumnType::Int32(), 2'000'000, small_nodes, true);
}

// A block of any size is found at the offset where it should begin, even after many lost blocks.
TEST(SalvageTest, LargeBlocksBehindManyLosses) {
  Column<std::string_view> column;
  for (int i = 0; i < 26; ++i)
    column.rows.push_back(std::string(i < 14 ? 1000 : 5'000'000, static_cast<char>('a' + i)));
  Bytes file = WriteColumn<std::string_view>(
      ColumnType::Binary(), {.encoding = Encoding::kPlain, .max_values_per_block = 1}, column);
  const std::vector<Block> blocks = BlocksOf(file);
  for (const size_t lost : {1, 3, 5, 7, 9}) file[blocks[lost].pointer.offset + 12] ^= 1;
  file.pop_back();
  const auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 21);
  EXPECT_EQ(salvaged->report.missing.size(), 5);
}

// The report's lost bytes do not include recovered blocks, however small these are.
TEST(SalvageTest, LossesBesideASmallBlock) {
  Column<uint8_t> column;
  for (int i = 0; i < 100; ++i) column.rows.push_back(static_cast<uint8_t>(i));
  Bytes file = WriteColumn<uint8_t>(
      ColumnType::Uint8(), {.encoding = Encoding::kRle, .max_values_per_block = 10}, column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_LT(blocks[3].pointer.size, 64);
  for (const size_t lost : {2, 4}) file[blocks[lost].pointer.offset] ^= 1;
  for (const size_t size : {file.size(), file.size() - 1}) {
    const auto salvaged = SalvageBytes(Prefix(file, size));
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, 80);
    ASSERT_GE(salvaged->report.lost.size(), 2);
    for (const size_t i : {0, 1}) {
      EXPECT_EQ(salvaged->report.lost[i].begin, blocks[2 * i + 2].pointer.offset);
      EXPECT_EQ(salvaged->report.lost[i].end, blocks[2 * i + 2].pointer.end());
    }
  }
}

TEST(SalvageTest, ManyLosses) {
  const Bytes file = Numbers(100'000);
  const std::vector<Block> blocks = BlocksOf(file);
  for (const size_t distance : {2, 7}) {
    Bytes torn = Prefix(file, file.size() - 1);
    uint64_t rows = 0;
    for (const Block& block : blocks) {
      if (block.index % distance == 1) {
        torn[block.pointer.offset + 50] ^= 1;
      } else {
        rows += block.num_rows;
      }
    }
    const auto salvaged = SalvageBytes(torn);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, rows);
    for (const uint64_t number : NumbersOf(salvaged->file)) ASSERT_NE(number / 100 % distance, 1);
  }
}

// The report lists at most 1,000 losses; more_lost counts the others.
TEST(SalvageTest, MoreLossesThanAreTold) {
  Bytes file = Numbers(300'000);
  const std::vector<Block> blocks = BlocksOf(file);
  uint64_t lost = 0, bytes = 0;
  for (const Block& block : blocks) {
    if (block.index % 2 == 0) continue;
    file[block.pointer.offset + 50] ^= 1;
    ++lost;
    bytes += block.pointer.size;
  }
  for (const size_t size : {file.size(), file.size() - 1}) {
    const auto salvaged = SalvageBytes(Prefix(file, size));
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    const SalvageReport& report = salvaged->report;
    ASSERT_EQ(report.lost.size(), 1000);
    uint64_t told = 0;
    for (const LostBytes& some : report.lost) told += some.end - some.begin;
    // Without the footer, the bytes of the footer are lost, too, and the report cannot know the
    // last block.
    const bool torn = size != file.size();
    EXPECT_EQ(report.more_lost.count, lost - 1000 + (torn ? 1 : 0));
    EXPECT_GE(told + report.more_lost.bytes, bytes);
    EXPECT_LT(told + report.more_lost.bytes, bytes + (torn ? 200'000 : 1));
    EXPECT_EQ(report.missing.size(), torn ? lost - 1 : lost);
  }
}

// In a run of 0xff bytes, every four bytes are followed by their right checksum. Salvage still
// finds the blocks after the run.
TEST(SalvageTest, OnesBehindALoss) {
  Column<int64_t> column;
  column.rows.resize(200'000, -1);
  Bytes file = WriteColumn<int64_t>(ColumnType::Int64(), {.encoding = Encoding::kPlain}, column);
  const std::vector<Block> blocks = BlocksOf(file);
  ASSERT_GT(blocks.size(), 4);
  for (const size_t lost : {0, 2}) file[blocks[lost].pointer.offset + 5] ^= 1;
  file.pop_back();
  const auto salvaged = SalvageBytes(file);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, column.rows.size() - blocks[0].num_rows - blocks[2].num_rows);
}

// After lost blocks, a block is recognized only by its own bytes. Salvage then refuses a block with
// unusually many rows.
TEST(SalvageTest, RowsBehindALoss) {
  for (const size_t rows : {1 << 20, 1 << 21}) {
    Column<bool> column;
    column.rows.resize(2 * rows, true);
    Bytes file = WriteColumn<bool>(
        ColumnType::Bool(),
        {.encoding = Encoding::kRle, .max_values_per_block = static_cast<uint32_t>(rows)}, column);
    ++file[BlocksOf(file)[0].pointer.offset];
    file.pop_back();
    const auto salvaged = SalvageBytes(file);
    ASSERT_TRUE(salvaged.ok()) << salvaged.status();
    EXPECT_EQ(salvaged->report.rows, rows == 1 << 20 ? rows : 0);
  }
}

// Appends the checksum of the bytes from `begin` on, and then `count` more checksums, each of all
// bytes before it. Every checksum after the first is the same constant, so that a search finds a
// right checksum at each of these positions.
void AppendFittingChecksums(Bytes& torn, size_t begin, int count) {
  for (int i = 0; i <= count; ++i) {
    const uint32_t checksum = i < 2 ? internal::Crc32c(std::span(torn).subspan(begin))
                                    : encodings::LoadLittleEndian<uint32_t>(
                                          torn.data() + torn.size() - internal::kChecksumBytes);
    torn.resize(torn.size() + internal::kChecksumBytes);
    encodings::StoreLittleEndian(checksum, torn.data() + torn.size() - internal::kChecksumBytes);
  }
}

// Right checksums at many positions yield no rows if no block decodes. The test checks only the
// number of rows, but takes very long if the time grows with the square of the file's size.
TEST(SalvageTest, ChecksumsThatFitEverywhere) {
  Column<uint64_t> column;
  for (uint64_t i = 0; i < 100'000; ++i) column.rows.push_back(i * i);
  Bytes torn = WriteColumn<uint64_t>(ColumnType::Uint64(),
                                     {.encoding = Encoding::kPlain,
                                      .compression = Compression::kZlib,
                                      .block_size_bytes = 1 << 20},
                                     column);
  const BlockInfo block = BlocksOf(torn)[0];
  torn.resize(block.pointer.end());
  ++torn[block.pointer.offset];  // the uncompressed size
  torn.resize(torn.size() - internal::kChecksumBytes);
  AppendFittingChecksums(torn, block.pointer.offset, 100'000 / kThinning);
  const auto salvaged = SalvageBytes(torn);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 0);
}

// After lost bytes, each block contains the next smaller block as its value. For each larger block,
// Salvage searches the lost bytes again, up to a budget that depends on the size of the file.
TEST(SalvageTest, BlocksInEachOthersValuesBehindALoss) {
  constexpr size_t kLostBytes = size_t{2} << 20;
  constexpr uint64_t kPaidBytes = uint64_t{64} << 20, kPaidPerByte = 16;
  constexpr size_t kLevels = 100;
  Column<std::string_view> column;
  column.rows.emplace_back("hello");
  const Bytes file =
      WriteColumn<std::string_view>(ColumnType::Binary(), {.encoding = Encoding::kPlain}, column);
  const size_t header_size = Reader::Open(NewMemoryViewSource(file))->info().header_size_bytes;
  Bytes nest = {'h', 'e', 'l', 'l', 'o'};
  for (size_t level = 0; level < kLevels; ++level) {
    encodings::ByteWriter block;
    constexpr uint32_t kHeaderBytes = 12;
    block.PutFixed(uint32_t{5});  // first ordinal
    block.PutFixed(uint32_t{1});  // number of values
    block.PutFixed(static_cast<uint32_t>(kHeaderBytes + nest.size()));
    block.PutBytes(nest);
    block.PutFixed(uint8_t{0});
    block.PutFixed(kHeaderBytes);
    block.PutFixed(internal::Crc32c(block.span()));
    nest.assign(block.span().begin(), block.span().end());
  }
  const size_t level_size = (nest.size() - 5) / kLevels;
  Bytes torn = Prefix(file, header_size);
  std::mt19937_64 random(3);
  while (torn.size() < header_size + kLostBytes) torn.push_back(static_cast<uint8_t>(random()));
  torn.insert(torn.end(), nest.begin(), nest.end());
  const auto salvaged = SalvageBytes(torn);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  ASSERT_EQ(salvaged->report.blocks, 1);
  // The search for each larger block visits all lost bytes.
  const uint64_t looks = (salvaged->report.bytes - 5) / level_size;
  EXPECT_GT(looks, 2);
  EXPECT_LE((looks - 1) * kLostBytes, kPaidBytes + kPaidPerByte * torn.size());
}

// Few bytes with right checksums at many positions claim to decode to very many values. No rows are
// recovered. The budget of Salvage counts decoded values, so that the test does not take long.
TEST(SalvageTest, ManyValuesThatFitEverywhere) {
  Column<bool> column;
  column.rows.resize(10, true);
  Bytes torn = WriteColumn<bool>(ColumnType::Bool(), {.encoding = Encoding::kRle}, column);
  const size_t begin = Reader::Open(NewMemoryViewSource(torn))->info().header_size_bytes;
  torn.resize(begin);
  encodings::ByteWriter block;
  block.PutFixed(uint32_t{0xffffffff});            // number of values
  block.PutFixed(uint32_t{0});                     // first ordinal
  block.PutVint(uint64_t{0x7fffffff} << 1);        // a run of this length,
  block.PutFixed(uint8_t{1});                      // all true;
  block.PutVint(uint64_t{1} << 27 | uint64_t{1});  // literals, whose end is cut off
  torn.insert(torn.end(), block.span().begin(), block.span().end());
  AppendFittingChecksums(torn, begin, 1000);
  auto salvaged = SalvageBytes(torn);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 0);

  Column<uint64_t> numbers;
  numbers.rows.resize(2'000'000, 7);
  torn = WriteColumn<uint64_t>(ColumnType::Uint64(),
                               {.encoding = Encoding::kPlain,
                                .compression = Compression::kZlib,
                                .block_size_bytes = 8 << 20,
                                .max_values_per_block = 10'000'000},
                               numbers);
  const BlockInfo large = BlocksOf(torn)[0];
  torn.resize(large.pointer.end() - internal::kChecksumBytes);
  ++torn[large.pointer.offset];  // the uncompressed size
  AppendFittingChecksums(torn, large.pointer.offset, 1000);
  salvaged = SalvageBytes(torn);
  ASSERT_TRUE(salvaged.ok()) << salvaged.status();
  EXPECT_EQ(salvaged->report.rows, 0);
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
      for (size_t bit = random() % kThinning; bit < 8 * bytes.size(); bit += kThinning) {
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
    for (uint64_t round = 0; round < 100 / kThinning; ++round) {
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

}  // namespace
}  // namespace cfile
