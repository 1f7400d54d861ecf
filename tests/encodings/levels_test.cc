#include "encodings/hybrid/levels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "encodings/kernels/bit_packing.h"

namespace cfile::encodings::levels_test {

// Returns a buffer of the exact size, so that AddressSanitizer detects reads past its end.
std::vector<uint8_t> Exactly(const ByteWriter& bytes) {
  return {bytes.span().begin(), bytes.span().end()};
}

template <typename T>
class Levels : public testing::Test {};
using Types = testing::Types<uint16_t, uint32_t>;
TYPED_TEST_SUITE(Levels, Types);

TYPED_TEST(Levels, ReadBackInEveryWidthAndForm) {
  using T = TypeParam;
  constexpr int kMaxWidth = 8 * sizeof(T);
  std::mt19937_64 random(1);
  for (int width = 0; width <= kMaxLevelWidth; ++width) {
    for (const size_t count : {0, 1, 7, 8, 9, 100, 3000}) {
      SCOPED_TRACE(testing::Message() << count << " values of " << width << " bits");
      std::vector<T> levels(count), read(count);
      const std::span<T> out(read);
      if (width > kMaxWidth) {
        const std::vector<uint8_t> bytes(64);
        ByteReader reader(bytes);
        EXPECT_EQ(ReadHybrid<T>(bytes, width, out).code(), absl::StatusCode::kDataLoss);
        EXPECT_EQ(ReadBitPacked<T>(reader, width, out).code(), absl::StatusCode::kDataLoss);
        EXPECT_EQ(reader.offset(), 0u);
        continue;
      }
      for (size_t i = 0; i < count; ++i) {
        levels[i] = static_cast<T>(random() & LowBits(width));
        if (i > 0 && random() % 8 != 0 && count > 100) levels[i] = levels[i - 1];
      }
      const std::span<const T> in(levels);
      const auto expect_read = [&](const absl::Status& status) {
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_EQ(read, levels);
        std::fill(read.begin(), read.end(), T{1});
      };
      ByteWriter hybrid, with_length, indexes, packed;
      PutHybrid(in, width, hybrid);
      expect_read(ReadHybrid(Exactly(hybrid), width, out));
      PutIndexes(in, width, indexes);
      expect_read(ReadIndexes(Exactly(indexes), out));
      // The page has two streams of levels; the values follow them.
      for (const bool has_length : {true, false}) {
        ByteWriter page;
        for (int i = 0; i < 2; ++i)
          has_length ? PutHybridWithLength(in, width, page) : PutBitPacked(in, width, page);
        page.PutFixed(uint8_t{77});
        const std::vector<uint8_t> bytes = Exactly(page);
        ByteReader reader(bytes);
        for (int i = 0; i < 2; ++i) {
          expect_read(has_length ? ReadHybridWithLength(reader, width, out)
                                 : ReadBitPacked(reader, width, out));
        }
        ASSERT_EQ(reader.remaining(), 1u);
        EXPECT_EQ(reader.rest()[0], 77);
      }
    }
  }
}

TEST(LevelWidth, IsThatOfTheLargest) {
  EXPECT_EQ(LevelWidth(0), 0);
  EXPECT_EQ(LevelWidth(1), 1);
  EXPECT_EQ(LevelWidth(2), 2);
  EXPECT_EQ(LevelWidth(255), 8);
  EXPECT_EQ(LevelWidth(UINT32_MAX), 32);
}

}  // namespace cfile::encodings::levels_test
