// DescribeBlock and FindBlock on all golden files, compared with VisitBlocks.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "gtest/gtest.h"

namespace cfile {
namespace {

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
      EXPECT_EQ((BlockPointer{block->region.offset, static_cast<uint32_t>(block->region.size_bytes)}), expected.pointer);
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

}  // namespace
}  // namespace cfile
