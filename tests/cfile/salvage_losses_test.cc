// Salvage loses the damaged blocks and no other rows, and the report says which. Most tests are
// rows of a table: a file, its damage, and the blocks that are lost (ExpectLosses).
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "cfile/salvage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/salvage_testing.h"
#include "tests/sanitizers.h"

namespace cfile::salvage_losses_test {

using namespace testing_support;  // NOLINT

// Files with checksums and files without checksums.
TEST(SalvageLosses, DamagedBlocksAndNodes) {
  for (const FormatVersion version : {FormatVersion::kV1, FormatVersion::kV2}) {
    const Written file = Numbers(5000, {.value_index = true, .version = version});
    const std::vector<Block>& blocks = file.blocks;
    // The number of rows in the headers of some blocks.
    const std::set<size_t> lost = {3, 4, blocks.size() - 1};
    std::vector<BlockPointer> told;
    for (const size_t index : lost) told.push_back(blocks[index].pointer);
    ExpectLosses({"blocks", file, Flips(file, lost, 0), lost, true, false, told, 3});
    // Leaves of one index or of both indexes. If the blocks have checksums, Salvage recovers every
    // block. If they have no checksums, it recovers each block to which an index still points. A
    // leaf without a checksum is damaged in its trailer, because no other change is noticed.
    const auto positional = LeavesOf(file.bytes, IndexKind::kPositional);
    const auto value = LeavesOf(file.bytes, IndexKind::kValue);
    const auto hit = [&](const BlockPointer& leaf) {
      return Hit{(version == FormatVersion::kV1 ? leaf.end() : leaf.offset + 9) - 8, How::kOther,
                 8};
    };
    const std::vector<Hit> both = {hit(positional.at(1)), hit(value.at(value.size() - 2))};
    ExpectLosses({"a positional leaf", file, {both[0]}, {}, true, false, {}, 1});
    ExpectLosses({"a leaf of values", file, {hit(value.at(1))}, {}, true, false, {}, 1});
    ExpectLosses({"two leaves", file, both, {}, true, false, {}, 2});
  }
  for (const bool value_index : {false, true}) {
    const Written file = Numbers(1000, {.value_index = value_index});
    const auto root = *Reader::Open(NewMemoryViewSource(file.bytes))->info().positional_index_root;
    ExpectLosses({"the root", file, {{root.offset}}, {}, true, false, {{root.offset, 0}}});
  }
}

// An unreadable byte loses all blocks in its page. If the index gives the locations of the blocks,
// only one block is lost. The report gives the read error.
TEST(SalvageLosses, UnreadableBytes) {
  const Written file = Numbers(100'000);
  const uint64_t in_block = file.blocks[500].pointer.offset + 100;
  const uint64_t in_leaf = LeavesOf(file.bytes, IndexKind::kPositional)[100].offset + 2;
  for (const uint64_t bad : {in_block, in_leaf, file.bytes.size() - 20}) {
    for (const bool whole : {true, false}) {
      const bool by_index = whole && bad == in_block;
      const uint64_t begin = by_index ? bad : bad / 4096 * 4096;
      const uint64_t end = by_index ? bad + 1 : begin + 4096;
      std::set<size_t> lost;
      for (const Block& block : file.blocks) {
        if (block.pointer.offset < end && begin < block.pointer.end()) lost.insert(block.index);
      }
      ExpectLosses(
          {absl::StrCat("byte ", bad), file, {{bad, How::kUnreadable}}, lost, whole, !whole});
    }
  }
}

template <typename T>
Written WriteRandom(const ColumnType& type, const WriterOptions& options, size_t count,
                    uint64_t range) {
  std::mt19937_64 random(5);
  Column<T> column;
  while (column.rows.size() < count) column.rows.push_back(static_cast<T>(random() % range));
  Written file = Write<T>(type, options, column);
  EXPECT_GT(file.blocks.size(), 2);
  return file;
}

template <typename T>
void ExpectEachBlockLost(const ColumnType& type, Encoding encoding, uint64_t range) {
  const Written file = WriteRandom<T>(type,
                                      {.encoding = encoding,
                                       .block_size_bytes = 20'000,
                                       .max_values_per_block = 100'000,
                                       .index_block_size_bytes = 64},
                                      60'000, range);
  for (size_t lost = 0; lost < file.blocks.size(); lost += kThinning) {
    ExpectLosses({absl::StrCat(type.ToString(), " ", EncodingName(encoding), " ", lost),
                  file,
                  Flips(file, {lost}, file.blocks[lost].pointer.size / 2),
                  {lost}});
  }
}

TEST(SalvageLosses, EachBlock) {
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

// Salvage must not take the bytes of index nodes for blocks of runs of values.
TEST(SalvageLosses, IndexNodesBehindALoss) {
  const WriterOptions options{.encoding = Encoding::kRle};
  const Written files[] = {WriteRandom<uint8_t>(ColumnType::Uint8(), options, 1'000'000, 100),
                           WriteRandom<int32_t>(ColumnType::Int32(), options, 200'000, 100),
                           WriteRandom<int64_t>(ColumnType::Int64(), options, 100'000, 100)};
  for (const Written& file : files) {
    const std::set<size_t> last = {file.blocks.size() - 1};
    ExpectLosses({"the last block", file, Flips(file, last, 50), last, false});
  }
  const Written nodes = WriteRandom<int32_t>(
      ColumnType::Int32(), {.encoding = Encoding::kRle, .index_block_size_bytes = 64}, 2'000'000,
      100);
  size_t lost = 0;
  while (nodes.blocks.at(lost + 1).pointer.offset == nodes.blocks[lost].pointer.end()) ++lost;
  ExpectLosses({"a block before a node", nodes, Flips(nodes, {lost}, 50), {lost}, false});
}

// The value `i` has sizes[i] bytes and is a block of its own.
Written WriteStrings(const std::vector<size_t>& sizes) {
  Column<std::string_view> column;
  for (const size_t size : sizes)
    column.rows.push_back(std::string(size, static_cast<char>('a' + column.rows.size())));
  return Write<std::string_view>(ColumnType::Binary(),
                                 {.encoding = Encoding::kPlain, .max_values_per_block = 1}, column);
}

TEST(SalvageLosses, LargeBlocks) {
  // After lost bytes, Salvage finds blocks of up to 4 MiB, and also larger blocks that directly
  // follow a found block.
  const Written large = WriteStrings({1, 3'900'000, 4'250'000, 10, 4'300'000, 5'000'000, 20});
  ExpectLosses({"large", large, Flips(large, {0, 3}, 12), {0, 3, 4, 5}, false});
  // A block of any size is found at the offset where it should begin, even after many lost blocks.
  std::vector<size_t> sizes(16, 5'000'000);
  std::fill_n(sizes.begin(), 14, 1000);
  const Written many = WriteStrings(sizes);
  const std::set<size_t> lost = {1, 3, 5, 7, 9};
  ExpectLosses({"many losses", many, Flips(many, lost, 12), lost, false});
}

TEST(SalvageLosses, BlocksOfAllSizes) {
  // The report's lost bytes do not include recovered blocks, however small these are.
  Column<uint8_t> column;
  for (int i = 0; i < 100; ++i) column.rows.push_back(static_cast<uint8_t>(i));
  const Written small = Write<uint8_t>(
      ColumnType::Uint8(), {.encoding = Encoding::kRle, .max_values_per_block = 10}, column);
  ASSERT_LT(small.blocks[3].pointer.size, 64);
  ExpectLosses({"beside a small block",
                small,
                Flips(small, {2, 4}, 0),
                {2, 4},
                true,
                true,
                {small.blocks[2].pointer, small.blocks[4].pointer}});
  const Written numbers = Numbers(100'000);
  for (const size_t distance : {2, 7}) {
    std::set<size_t> lost;
    for (size_t i = 1; i < numbers.blocks.size(); i += distance) lost.insert(i);
    ExpectLosses({absl::StrCat("each block number ", distance), numbers, Flips(numbers, lost, 50),
                  lost, false});
  }
  // In a run of 0xff bytes, every four bytes are followed by their right checksum. Salvage still
  // finds the blocks after the run.
  Column<int64_t> ones;
  ones.rows.resize(200'000, -1);
  const Written file = Write<int64_t>(ColumnType::Int64(), {.encoding = Encoding::kPlain}, ones);
  ASSERT_GT(file.blocks.size(), 4);
  ExpectLosses({"ones", file, Flips(file, {0, 2}, 5), {0, 2}, false});
  // After lost blocks, a block is recognized only by its own bytes. Salvage then refuses a block
  // with unusually many rows.
  for (const uint32_t rows : {1u << 20, 1u << 21}) {
    Column<bool> bits;
    bits.rows.resize(2 * rows, true);
    const Written runs = Write<bool>(
        ColumnType::Bool(), {.encoding = Encoding::kRle, .max_values_per_block = rows}, bits);
    std::set<size_t> lost = {0};
    if (rows > 1 << 20) lost.insert(1);
    ExpectLosses({absl::StrCat(rows, " rows"), runs, Flips(runs, {0}, 0), lost, false});
  }
}

// Returns a file of 100 values. Each value is a whole file of 2,000 strings.
Written FilesAsValues(bool movable) {
  const WriterOptions options{
      .encoding = Encoding::kPlain, .max_values_per_block = 10, .movable_blocks = movable};
  Column<std::string_view> inner, outer;
  for (int i = 0; i < 2000; ++i) inner.rows.push_back("inner " + std::to_string(i));
  const Bytes file = WriteColumn<std::string_view>(ColumnType::Binary(), options, inner);
  outer.rows.assign(100, std::string(reinterpret_cast<const char*>(file.data()), file.size()));
  return Write<std::string_view>(ColumnType::Binary(), options, outer);
}

// Values may be whole files. Salvage finds the blocks of the column, and not the blocks inside
// their values.
TEST(SalvageLosses, FilesAsValues) {
  for (const bool movable : {false, true}) {
    const Written file = FilesAsValues(movable);
    ExpectLosses({"nothing lost", file, {}, {}});
    std::set<size_t> lost;
    for (size_t i = 1; i < file.blocks.size(); i += 3) lost.insert(i);
    ExpectLosses({"each third block", file, Zeros(file, lost), lost, false});
  }
}

// In a file without checksums that has lost its positional index, Salvage finds blocks by the
// remaining nodes of the value index.
TEST(SalvageLosses, DamagedValueIndexOfAFileWithoutChecksums) {
  const Bytes file = Numbers(2000, {.value_index = true, .version = FormatVersion::kV1}).bytes;
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

// A movable block is damaged. One of its values has the bytes of another block of the same type.
// Salvage must not return the rows of this inner block, because they are not rows of the file.
// The head of the damaged block is right. So Salvage knows where the damaged block ends,
// and continues the search there.
TEST(SalvageLosses, BlockInAValueOfADamagedBlock) {
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

// The report lists at most 1,000 losses; more_lost counts the others.
TEST(SalvageLosses, MoreLossesThanAreTold) {
  Bytes file = Numbers(300'000).bytes;
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
TEST(SalvageLosses, ChecksumsThatFitEverywhere) {
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
TEST(SalvageLosses, BlocksInEachOthersValuesBehindALoss) {
  constexpr size_t kLostBytes = size_t{256} << 10;
  constexpr uint64_t kPaidBytes = uint64_t{64} << 20, kPaidPerByte = 16;
  constexpr size_t kLevels = 400;
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
TEST(SalvageLosses, ManyValuesThatFitEverywhere) {
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

}  // namespace cfile::salvage_losses_test
