// Tests the order of floating-point keys, which differs from <.
#include "encodings/core/key_order.h"

#include <gtest/gtest.h>

#include <limits>

namespace cfile::encodings::key_order_test {

template <typename T>
void TestOrder() {
  using Limits = std::numeric_limits<T>;
  const T ascending[] = {-Limits::infinity(),  Limits::lowest(),      T{-1.5}, T{-1},
                         -Limits::min(),       -Limits::denorm_min(), -T{0},   T{0},
                         Limits::denorm_min(), Limits::min(),         T{1},    T{1.5},
                         Limits::max(),        Limits::infinity()};
  const size_t count = std::size(ascending);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      EXPECT_EQ(KeyLess(ascending[i], ascending[j]), i < j) << i << " and " << j;
      EXPECT_EQ(KeyEqual(ascending[i], ascending[j]), i == j) << i << " and " << j;
    }
    EXPECT_TRUE(IsKey(ascending[i]));
  }
  EXPECT_FALSE(IsKey(Limits::quiet_NaN()));
}

TEST(KeyOrder, OfFloats) { TestOrder<float>(); }
TEST(KeyOrder, OfDoubles) { TestOrder<double>(); }

}  // namespace cfile::encodings::key_order_test
