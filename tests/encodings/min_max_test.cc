// Compares FindMinMax with a plain loop, on every instruction set of this machine.
#include "encodings/kernels/min_max.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "columns.h"
#include "encodings/core/bytes_min_max.h"
#include "tests/encodings/each_target.h"

namespace cfile::encodings::min_max_test {

template <typename T>
void ExpectAsPlainLoop(std::span<const T> values) {
  MinMax<T> expected;
  bool any = false;
  for (const T value : values) {
    if (value != value) {
      ++expected.nan_count;
      continue;
    }
    if (!any || value < expected.min) expected.min = value;
    if (!any || value > expected.max) expected.max = value;
    any = true;
  }
  const MinMax<T> found = FindMinMax(values);
  ASSERT_EQ(found.nan_count, expected.nan_count);
  if (!any) return;
  ASSERT_TRUE(found.min == expected.min);
  ASSERT_TRUE(found.max == expected.max);
}

template <typename T>
void TestType() {
  for (const Shape shape : {Shape::kRandom, Shape::kExtremes, Shape::kSmallRange, Shape::kSorted}) {
    auto column = MakeColumn<T>(shape, 2000, 0, 7);
    for (const size_t size : {1, 2, 3, 15, 16, 17, 63, 64, 65, 255, 257, 1999}) {
      for (size_t begin = 0; begin < 3; ++begin) {
        SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", " << size);
        ExpectAsPlainLoop<T>(column.span().subspan(begin, std::min(size, 2000 - begin)));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    if constexpr (kIsFloat<T>) {
      // NaN is the first value, then the last value, then every value.
      const auto span = column.span().first(100);
      span[0] = std::numeric_limits<T>::quiet_NaN();
      ExpectAsPlainLoop<T>(span);
      span[99] = -std::numeric_limits<T>::quiet_NaN();
      ExpectAsPlainLoop<T>(span.subspan(1));
      std::fill(span.begin(), span.end(), std::numeric_limits<T>::quiet_NaN());
      ExpectAsPlainLoop<T>(span);
      ExpectAsPlainLoop<T>(span.first(1));
    }
  }
}

TEST(MinMaxTargets, AsThePlainLoop) {
  WithEachTarget([] {
#define CFILE_TEST_TYPE(T) TestType<T>();
    CFILE_FOR_EACH_WORD_INTEGER(CFILE_TEST_TYPE)
    CFILE_TEST_TYPE(bool)
    CFILE_TEST_TYPE(int128_t)
    CFILE_TEST_TYPE(float)
    CFILE_TEST_TYPE(double)
#undef CFILE_TEST_TYPE
  });
}

// Adds the values one by one, and all together after the first few ones.
void ExpectBounds(std::span<const std::string_view> values) {
  BytesBounds found(values[0], values[0]), found_together(values[0], values[0]);
  for (const std::string_view value : values) found.Add(value);
  const size_t few = std::min<size_t>(values.size(), 8);
  for (const std::string_view value : values.first(few)) found_together.Add(value);
  found_together.Add(values.subspan(few));
  const auto min = *std::min_element(values.begin(), values.end(), BytesLess);
  const auto max = *std::max_element(values.begin(), values.end(), BytesLess);
  ASSERT_EQ(found.min(), min);
  ASSERT_EQ(found.max(), max);
  ASSERT_EQ(found_together.min(), min);
  ASSERT_EQ(found_together.max(), max);
}

TEST(MinMaxOfBytes, AsThePlainLoop) {
  for (const Shape shape : kShapes) {
    for (const uint32_t type_length : {0, 3, 8, 9, 30}) {
      auto column = MakeColumn<std::string_view>(shape, 3000, type_length, 7);
      std::mt19937_64 random(5);
      for (int shuffled = 0; shuffled < 2; ++shuffled) {
        for (const size_t size : {1, 2, 3, 10, 3000}) {
          for (size_t begin = 0; begin + size <= 3000; begin += 700 + size) {
            const auto values = column.span().subspan(begin, size);
            ExpectBounds(values);
          }
        }
        std::shuffle(column.span().begin(), column.span().end(), random);
      }
    }
  }
  // The strings have a few random bytes after a common prefix of any length.
  std::mt19937_64 random(6);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> texts;
    const std::string begin(random() % 20, 'p');
    for (size_t i = 1 + random() % (round % 2 == 0 ? 6 : 100); i > 0; --i) {
      std::string text = random() % 16 == 0 ? "" : begin;
      for (size_t bytes = random() % 14; bytes > 0; --bytes)
        text.push_back("\0\1p\xff"[random() % 4]);
      texts.push_back(text);
    }
    const std::vector<std::string_view> values(texts.begin(), texts.end());
    ExpectBounds(values);
  }
}

}  // namespace cfile::encodings::min_max_test
