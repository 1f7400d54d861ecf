// Reads encoded levels of nested columns that parquet-java and Arrow C++ wrote, and encodes the
// same levels.
#include <gmock/gmock.h>

#include "encodings/hybrid/levels.h"
#include "golden_vectors.h"

namespace cfile::encodings {
namespace {

// Checks that the bytes in the vector's description decode to `levels`, and that our bytes are not
// longer.
void CheckEncoded(const std::vector<uint32_t>& levels, uint32_t maximum,
                  const nlohmann::json& encoded) {
  const auto bytes_of = [&](const char* key) {
    std::list<std::string> texts;
    const auto bytes = AsBytes(internal::GoldenValue<std::string_view>(encoded[key], texts));
    return std::vector<uint8_t>(bytes.begin(), bytes.end());
  };
  const int width = LevelWidth(maximum);
  ASSERT_EQ(width, encoded["bit_width"].get<int>());
  std::vector<uint32_t> read(levels.size());
  const std::span<const uint32_t> all(levels);
  ByteWriter ours;
  PutHybrid(all, width, ours);
  for (const char* writer : {"rle_hex_parquet_java", "rle_hex_arrow"}) {
    const std::vector<uint8_t> bytes = bytes_of(writer);
    ASSERT_TRUE(ReadHybrid(bytes, width, std::span(read)).ok()) << writer;
    EXPECT_EQ(read, levels) << writer;
    EXPECT_LE(ours.size(), bytes.size()) << writer;
  }
  ASSERT_TRUE(ReadHybrid(ours.span(), width, std::span(read)).ok());
  EXPECT_EQ(read, levels);

  const std::vector<uint8_t> packed = bytes_of("bit_packed_hex_parquet_java");
  ByteReader reader(packed);
  ASSERT_TRUE(ReadBitPacked(reader, width, std::span(read)).ok());
  EXPECT_EQ(read, levels);
  ByteWriter ours_packed;
  PutBitPacked(all, width, ours_packed);
  EXPECT_THAT(ours_packed.span(), testing::ElementsAreArray(packed));
}

TEST(LevelsGolden, NestedColumns) {
  int checked = 0;
  const std::string folder = CFILE_SOURCE_DIR "/tests/golden/parquet/nested";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    const nlohmann::json document = nlohmann::json::parse(in);
    for (const auto& column : document["columns"]) {
      SCOPED_TRACE(entry.path().stem().string() + " " + column["path"].get<std::string>());
      std::vector<uint32_t> levels[2];  // triples are [repetition, definition, value]
      for (const auto& triple : column["triples"]) {
        for (size_t kind : {0, 1}) levels[kind].push_back(triple[kind].get<uint32_t>());
      }
      for (const size_t kind : {0, 1}) {
        const auto encoded = column.find(kind == 0 ? "rep_levels_encoded" : "def_levels_encoded");
        if (encoded == column.end()) continue;
        const auto maximum = column[kind == 0 ? "max_rep" : "max_def"].get<uint32_t>();
        ASSERT_NO_FATAL_FAILURE(CheckEncoded(levels[kind], maximum, *encoded));
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 50);
}

}  // namespace
}  // namespace cfile::encodings
