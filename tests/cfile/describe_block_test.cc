// Tests DescribeBlock, FindBlock, ListRegions and DescribeRegion on all golden files: the results
// are compared with those of VisitBlocks and VisitIndex. Tests DescribeEnds on damaged files.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"
#include "cfile/io.h"
#include "cfile/reader.h"
#include "gtest/gtest.h"

namespace cfile::describe_block_test {

// The first blocks of each file are described: they are of all kinds.
constexpr uint64_t kBlocks = 3;

size_t SizeOf(const std::vector<BlockField>& fields) {
  size_t end = 0;
  for (const BlockField& field : fields) {
    EXPECT_EQ(field.offset, end);
    EXPECT_NE(field.name, "unknown bytes");
    end += field.size;
  }
  return end;
}

TEST(DescribeBlock, DescribesAllGoldenFiles) {
  int described = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CFILE_SOURCE_DIR "/tests/golden")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cfile")) continue;
    const auto mapped = Reader::Open(path);
    const auto read = Reader::Open(path, {.access = ReaderOptions::Access::kPread});
    if (!mapped.ok() || !read.ok()) continue;  // a codec that this build does not have
    const absl::Status status = VisitBlocks(*mapped, [&](const BlockInfo& expected) {
      SCOPED_TRACE(path);
      const auto block = DescribeBlock(*mapped, expected.index);
      const auto same = DescribeBlock(*read, expected.index);
      EXPECT_TRUE(block.ok()) << block.status();
      EXPECT_TRUE(same.ok()) << same.status();
      if (!block.ok() || !same.ok()) return false;
      EXPECT_TRUE(block->status.ok()) << block->status;
      EXPECT_EQ(block->region.offset, expected.pointer.offset);
      EXPECT_EQ(block->region.size_bytes, expected.pointer.size);
      EXPECT_EQ(block->compressed, expected.compressed);
      EXPECT_TRUE(std::ranges::equal(block->bytes, expected.bytes));
      EXPECT_EQ(SizeOf(block->stored_fields), expected.pointer.size);
      EXPECT_EQ(SizeOf(block->fields), expected.bytes.size());
      EXPECT_EQ(block->stored_bytes, same->stored_bytes);
      EXPECT_EQ(block->fields.size(), same->fields.size());
      if (mapped->info().positional_index_root) {
        EXPECT_EQ(block->region.first_ordinal, expected.first_ordinal);
        EXPECT_EQ(FindBlock(*mapped, expected.first_ordinal).value(), expected.index);
        EXPECT_EQ(FindBlock(*mapped, expected.first_ordinal + expected.num_rows - 1).value(),
                  expected.index);
      }
      ++described;
      return expected.index + 1 < kBlocks;
    });
    EXPECT_TRUE(status.ok() || absl::IsUnimplemented(status)) << status;
    EXPECT_TRUE(absl::IsOutOfRange(DescribeBlock(*mapped, UINT64_MAX).status()));
    EXPECT_FALSE(FindBlock(*mapped, mapped->num_rows()).ok());
  }
  EXPECT_GT(described, 700);
}

// Returns the number of regions of each kind.
std::map<RegionKind, uint64_t> CheckRegions(const Reader& reader) {
  std::map<RegionKind, uint64_t> counts;
  const FileLayout layout = ListRegions(reader);
  EXPECT_TRUE(layout.damages.empty());
  uint64_t end = 0;
  for (const FileRegion& region : layout.regions) {
    SCOPED_TRACE(testing::Message() << RegionKindName(region.kind) << " at " << region.offset);
    EXPECT_EQ(region.offset, end);
    end = region.end();
    ++counts[region.kind];
    const auto details = DescribeRegion(reader, region);
    EXPECT_TRUE(details.ok()) << details.status();
    if (!details.ok()) continue;
    EXPECT_TRUE(details->status.ok()) << details->status;
    EXPECT_EQ(SizeOf(details->stored_fields), region.size_bytes);
    EXPECT_EQ(SizeOf(details->fields), details->bytes.size());
    if (details->bytes_offset) {
      EXPECT_TRUE(std::ranges::equal(
          details->bytes,
          std::span(details->stored_bytes).subspan(*details->bytes_offset, details->bytes.size())));
    }
  }
  EXPECT_EQ(end, reader.info().file_size_bytes);
  return counts;
}

uint64_t CountNodes(const Reader& reader, IndexKind kind) {
  uint64_t nodes = 0;
  EXPECT_TRUE(VisitIndex(reader, kind, [&](const IndexNodeInfo&) { return ++nodes > 0; }).ok());
  return nodes;
}

TEST(ListRegions, RegionsOfAllGoldenFilesCoverThem) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CFILE_SOURCE_DIR "/tests/golden")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".cfile")) continue;
    const auto reader = Reader::Open(path);
    if (!reader.ok()) continue;  // a codec that this build does not have
    uint64_t blocks = 0;
    if (!VisitBlocks(*reader, [&](const BlockInfo&) { return ++blocks > 0; }).ok()) continue;
    SCOPED_TRACE(path);
    auto counts = CheckRegions(*reader);
    EXPECT_EQ(counts[RegionKind::kHeader], 1u);
    EXPECT_EQ(counts[RegionKind::kFooter], 1u);
    EXPECT_EQ(counts[RegionKind::kDictionary], reader->info().dictionary ? 1u : 0u);
    EXPECT_EQ(counts[RegionKind::kStatistics], reader->info().statistics ? 1u : 0u);
    EXPECT_EQ(counts[RegionKind::kDataBlock], blocks);
    EXPECT_EQ(counts[RegionKind::kPositionalNode], CountNodes(*reader, IndexKind::kPositional));
    EXPECT_EQ(counts[RegionKind::kValueNode], CountNodes(*reader, IndexKind::kValue));
    ++files;
  }
  EXPECT_GT(files, 300);
}

// Each value of the column that a block stores as a code is in the dictionary.
TEST(ReadDictionary, HasTheValuesOfTheColumn) {
  const std::string folder = CFILE_SOURCE_DIR "/tests/golden/kudu/";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto reader = Reader::Open(entry.path().string());
    if (!reader.ok() || !reader->info().dictionary || reader->info().has_levels()) continue;
    SCOPED_TRACE(entry.path().string());
    const auto dictionary = ReadDictionary<std::string_view>(*reader);
    ASSERT_TRUE(dictionary.ok()) << dictionary.status();
    const std::set<std::string> known(dictionary->begin(), dictionary->end());
    EXPECT_EQ(known.size(), dictionary->size());
    std::set<std::string> found;
    const auto rows = reader->Read<std::string_view>();
    ASSERT_TRUE(rows.ok()) << rows.status();
    for (size_t i = 0; i < rows->size(); ++i) {
      if (rows->batch().IsValid(i)) found.emplace(rows->batch().values[i]);
    }
    // A file whose dictionary became too large has other blocks, too.
    EXPECT_TRUE(std::ranges::includes(found, known));
    files += found == known;
  }
  EXPECT_GT(files, 3);
}

TEST(DescribeRegion, RefusesARegionOutsideOfTheFile) {
  const auto reader =
      Reader::Open(CFILE_SOURCE_DIR "/tests/golden/kudu/string_prefix_low_nn_nine.cfile");
  ASSERT_TRUE(reader.ok()) << reader.status();
  const uint64_t size = reader->info().file_size_bytes;
  for (const auto& [offset, bytes] :
       {std::pair(size, uint64_t{1}), std::pair(size + 1, uint64_t{0}),
        std::pair(uint64_t{1}, UINT64_MAX)}) {
    const FileRegion region{.kind = RegionKind::kDataBlock, .offset = offset, .size_bytes = bytes};
    EXPECT_TRUE(absl::IsInvalidArgument(DescribeRegion(*reader, region).status()));
  }
}

// The regions cover the file exactly, even if the stored size of the footer or the header is wrong.
TEST(DescribeEnds, CoversFilesWithWrongSizes) {
  std::ifstream file(CFILE_SOURCE_DIR "/tests/golden/kudu/string_prefix_low_nn_nine.cfile",
                     std::ios::binary);
  const std::vector<uint8_t> sound{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(sound.size(), 100u);
  const auto check = [](std::span<const uint8_t> bytes) {
    const auto source = NewMemoryViewSource(bytes);
    const auto regions = DescribeEnds(*source);
    ASSERT_TRUE(regions.ok()) << regions.status();
    uint64_t end = 0;
    for (const RegionDetails& details : *regions) {
      EXPECT_EQ(details.region.offset, end);
      end = details.region.end();
    }
    EXPECT_EQ(end, bytes.size());
  };
  for (const size_t place : {sound.size() - 4, size_t{8}}) {
    for (uint32_t size = 0; size <= sound.size() + 20; ++size) {
      SCOPED_TRACE(testing::Message() << "size " << size << " at byte " << place);
      std::vector<uint8_t> damaged = sound;
      for (size_t i = 0; i < 4; ++i) damaged[place + i] = static_cast<uint8_t>(size >> (8 * i));
      check(damaged);
    }
  }
  for (size_t size = 0; size < sound.size(); ++size) {
    SCOPED_TRACE(testing::Message() << size << " bytes");
    check(std::span(sound).first(size));
    check(std::span(sound).last(size));
  }
}

}  // namespace cfile::describe_block_test
