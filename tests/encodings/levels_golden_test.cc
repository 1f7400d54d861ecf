// Reads encoded levels of nested columns that parquet-java and Arrow C++ wrote, and encodes the
// same levels.
#include <gmock/gmock.h>

#include <span>
#include <vector>

#include "encodings/hybrid/levels.h"
#include "golden_vectors.h"

namespace cfile::encodings::levels_golden_test {

// Checks that the golden bytes decode to the levels, and that our bytes are not longer.
void CheckEncoded(const GoldenLevels& golden) {
  const int width = LevelWidth(golden.maximum);
  ASSERT_EQ(width, golden.bit_width);
  std::vector<uint32_t> read(golden.levels.size());
  const std::span<const uint32_t> all(golden.levels);
  ByteWriter ours;
  PutHybrid(all, width, ours);
  for (const std::vector<uint8_t>& bytes : {golden.rle_parquet_java, golden.rle_arrow}) {
    ASSERT_TRUE(ReadHybrid(bytes, width, std::span(read)).ok());
    EXPECT_EQ(read, golden.levels);
    EXPECT_LE(ours.size(), bytes.size());
  }
  ASSERT_TRUE(ReadHybrid(ours.span(), width, std::span(read)).ok());
  EXPECT_EQ(read, golden.levels);

  ByteReader reader(golden.bit_packed_parquet_java);
  ASSERT_TRUE(ReadBitPacked(reader, width, std::span(read)).ok());
  EXPECT_EQ(read, golden.levels);
  ByteWriter ours_packed;
  PutBitPacked(all, width, ours_packed);
  EXPECT_THAT(ours_packed.span(), testing::ElementsAreArray(golden.bit_packed_parquet_java));
}

TEST(LevelsGolden, NestedColumns) {
  const auto all = ReadGoldenLevels(CFILE_SOURCE_DIR "/tests/golden/parquet/nested");
  for (const GoldenLevels& golden : all) {
    SCOPED_TRACE(golden.name);
    ASSERT_NO_FATAL_FAILURE(CheckEncoded(golden));
  }
  EXPECT_GE(all.size(), 50u);
}

}  // namespace cfile::encodings::levels_golden_test
