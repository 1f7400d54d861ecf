// A file that has an encoding of this project has the feature bit kFeatureOwnEncodings. Other files
// do not have this bit.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/cfile/column_testing.h"

namespace cfile::own_encodings_test {

using testing_support::Column;
using testing_support::RandomColumn;
using testing_support::WriteColumn;

uint32_t FeaturesOf(const std::vector<uint8_t>& file) {
  const auto reader = Reader::Open(NewMemoryViewSource(file));
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? reader->info().incompatible_features : 0;
}

template <typename T>
void ExpectBits(const ColumnType& type) {
  std::mt19937_64 random(1);
  for (const int rows : {0, 1000}) {
    const auto column = RandomColumn<T>(type, static_cast<size_t>(rows), 10, false, random);
    for (const encodings::EncodingRow& row : encodings::Encodings()) {
      if (!row.Supports(type.physical())) continue;
      const uint32_t features =
          FeaturesOf(WriteColumn<T>(type, {.encoding = row.encoding, .nullable = true}, column));
      const bool own = static_cast<uint32_t>(row.encoding) >= encodings::kFirstOwnNumber;
      EXPECT_EQ((features & kFeatureOwnEncodings) != 0, own) << row.name;
      EXPECT_TRUE(!own || (features & kFeatureExtendedBlocks) != 0) << row.name;
    }
  }
}

TEST(OwnEncodings, SetTheirBit) {
  ExpectBits<int32_t>(ColumnType::Int32());
  ExpectBits<std::string_view>(ColumnType::String());
}

TEST(OwnEncodings, AreNotForKudu) {
  for (const WriterOptions& options :
       {WriterOptions{.encoding = Encoding::kFor, .version = FormatVersion::kV1},
        WriterOptions{.encoding = Encoding::kFor, .oldest_reader = OldestReader::kKudu}}) {
    std::vector<uint8_t> file;
    const auto writer = Writer<int32_t>::Create(NewMemorySink(&file), ColumnType::Int32(), options);
    EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(writer.status().ToString().find("has no encoding for"), std::string::npos);
  }
}

}  // namespace cfile::own_encodings_test
