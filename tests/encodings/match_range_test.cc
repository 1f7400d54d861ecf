// Compares MatchRange with a plain loop, on every instruction set of this machine.
#include "encodings/kernels/match_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "columns.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::match_range_test {

template <typename T>
void TestType() {
  std::mt19937_64 random(3);
  for (const Shape shape : {Shape::kRandom, Shape::kExtremes, Shape::kSmallRange, Shape::kSorted}) {
    const auto column = MakeColumn<T>(shape, 700, 0, 7);
    for (size_t count = 0; count < 700; count += count < 140 ? 1 : 97) {
      const size_t begin = random() % (700 - count);
      const T* const values = column.values.get() + begin;
      const T low = column.values[random() % 700];
      const T high = random() % 4 == 0 ? low : column.values[random() % 700];
      std::vector<uint8_t> expected((count + 7) / 8 + 1, 0);
      std::vector<uint64_t> positions;
      expected.back() = 0xee;
      for (size_t i = 0; i < count; ++i) {
        if (low < values[i] || low == values[i]) {
          if (!(values[i] < high || values[i] == high)) continue;
          expected[i / 8] = static_cast<uint8_t>(expected[i / 8] | 1 << i % 8);
          positions.push_back(1000 + i);
        }
      }
      std::vector<uint8_t> bits(expected.size(), 0xee);
      MatchRange<T>(values, count, low, high, bits.data());
      ASSERT_EQ(bits, expected) << "shape " << static_cast<int>(shape) << ", " << count;
      std::vector<uint64_t> found(count);
      found.resize(PositionsOfOnes(bits.data(), count, 1000, found.data()));
      ASSERT_EQ(found, positions);
    }
  }
}

TEST(MatchRangeTargets, AsThePlainLoop) {
  WithEachTarget([] {
#define CFILE_TEST_TYPE(T) TestType<T>();
    CFILE_FOR_EACH_WORD_INTEGER(CFILE_TEST_TYPE)
    CFILE_TEST_TYPE(bool)
    CFILE_TEST_TYPE(int128_t)
    CFILE_TEST_TYPE(Int96)
    CFILE_TEST_TYPE(float)
    CFILE_TEST_TYPE(double)
#undef CFILE_TEST_TYPE
  });
}

TEST(PositionsOfOnes, AllAndNone) {
  for (const size_t count : {1, 63, 64, 65, 200}) {
    std::vector<uint8_t> bits((count + 7) / 8, 0xff);
    if (count % 8 != 0) bits.back() = static_cast<uint8_t>((1 << count % 8) - 1);
    std::vector<uint64_t> out(count, 0);
    ASSERT_EQ(PositionsOfOnes(bits.data(), count, 5, out.data()), count);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 5 + i);
    std::fill(bits.begin(), bits.end(), uint8_t{0});
    ASSERT_EQ(PositionsOfOnes(bits.data(), count, 5, out.data()), 0u);
  }
}

}  // namespace cfile::encodings::match_range_test
