// Reads the Bloom filters that Kudu stores beside its columns. minted_golden_test.cc reads all
// other files of Kudu.
#include <bit>
#include <filesystem>
#include <string>

#include "cfile/core/format/data_block.h"
#include "cfile/inspect.h"
#include "cfile/reader.h"
#include "gtest/gtest.h"
#include "tests/golden/minted_files.h"

namespace cfile::kudu_golden_test {

using nlohmann::json;

TEST(KuduGolden, ShowsBloomFiltersAsBytes) {
  const std::filesystem::path folder = CFILE_SOURCE_DIR "/tests/golden/kudu/bloom";
  const golden::Manifest manifest = golden::ReadManifest(folder);
  EXPECT_EQ(manifest.files.size(), 6u);
  for (const json& description : manifest.files) {
    const std::filesystem::path path = folder / (description["file"].get<std::string>() + ".cfile");
    SCOPED_TRACE(path);
    const auto reader = Reader::Open(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_TRUE(reader->info().holds_bloom_filters());
    const json& filters = description["origin"]["blocks"];
    size_t index = 0;
    const absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
      const json& filter = filters.at(index++);
      EXPECT_EQ(block.pointer.offset, filter["offset"].get<uint64_t>());
      // A block consists of the header's length, the header and the bits.
      const size_t bits = filter["bits_bytes"].get<size_t>();
      EXPECT_EQ(block.bytes.size(), 4 + 2 + bits);
      EXPECT_EQ(block.bytes[5], filter["num_hash_functions"].get<int>());
      int ones = 0;
      for (const uint8_t byte : block.bytes.last(bits)) ones += std::popcount(byte);
      EXPECT_EQ(ones, filter["ones"].get<int>());
      for (const size_t size : {0, 3, 5, 6})  // the bits are missing
        EXPECT_FALSE(internal::CheckBloomFilter(block.bytes.first(size)).ok()) << size;
      return true;
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(index, filters.size());
    EXPECT_EQ(reader->NewCursor<std::string_view>()->SeekToKey("").status().code(),
              absl::StatusCode::kFailedPrecondition);
    const VerifyReport report = Verify(*reader);
    EXPECT_TRUE(report.ok()) << report.damages[0].status;
    EXPECT_EQ(report.bytes_checked, reader->info().file_size_bytes);
  }
}

}  // namespace cfile::kudu_golden_test
