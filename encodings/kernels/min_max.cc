#include "encodings/kernels/min_max.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/min_max.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/core/assert.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Writes the least and the greatest value to `result`. Returns false if there is a NaN; then
// `result` is unspecified. Precondition: count > 0.
template <typename T>
HWY_INLINE bool MinMaxOf(const T* values, size_t count, MinMax<T>& result) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  // There are four independent minima and maxima, because each Min or Max waits for the result of
  // the previous one.
  const auto first = hn::Set(d, values[0]);
  auto min0 = first, min1 = first, min2 = first, min3 = first;
  auto max0 = first, max1 = first, max2 = first, max3 = first;
  auto numbers = hn::Eq(first, first);
  const auto look = [&](const T* from, auto& min, auto& max) HWY_ATTR {
    const auto v = hn::LoadU(d, from);
    min = hn::Min(min, v);
    max = hn::Max(max, v);
    if constexpr (kIsFloat<T>) numbers = hn::And(numbers, hn::Eq(v, v));
  };
  size_t i = 0;
  for (; count - i >= 4 * lanes; i += 4 * lanes) {
    look(values + i, min0, max0);
    look(values + i + lanes, min1, max1);
    look(values + i + 2 * lanes, min2, max2);
    look(values + i + 3 * lanes, min3, max3);
  }
  for (; count - i >= lanes; i += lanes) look(values + i, min0, max0);
  HWY_ALIGN T lows[HWY_MAX_BYTES / sizeof(T)];
  HWY_ALIGN T highs[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(hn::Min(hn::Min(min0, min1), hn::Min(min2, min3)), d, lows);
  hn::Store(hn::Max(hn::Max(max0, max1), hn::Max(max2, max3)), d, highs);
  result.min = *std::min_element(lows, lows + lanes);
  result.max = *std::max_element(highs, highs + lanes);
  bool all_numbers = !kIsFloat<T> || hn::AllTrue(d, numbers);
  for (; i < count; ++i) {
    result.min = values[i] < result.min ? values[i] : result.min;
    result.max = result.max < values[i] ? values[i] : result.max;
    if constexpr (kIsFloat<T>) all_numbers &= !std::isnan(values[i]);
  }
  return all_numbers;
}

#define CFILE_MIN_MAX(T)                                                \
  bool MinMaxOf_##T(const T* values, size_t count, MinMax<T>& result) { \
    return MinMaxOf<T>(values, count, result);                          \
  }
CFILE_FOR_EACH_NUMBER(CFILE_MIN_MAX)
#undef CFILE_MIN_MAX

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

#define CFILE_MIN_MAX(T)                                                   \
  HWY_EXPORT(MinMaxOf_##T);                                                \
  static bool Dispatch(const T* values, size_t count, MinMax<T>& result) { \
    return HWY_DYNAMIC_DISPATCH(MinMaxOf_##T)(values, count, result);      \
  }
CFILE_FOR_EACH_NUMBER(CFILE_MIN_MAX)
#undef CFILE_MIN_MAX

template <typename T>
MinMax<T> FindMinMax(std::span<const T> values) {
  CFILE_ASSERT(!values.empty());
  MinMax<T> result;
  if constexpr (std::is_same_v<T, bool>) {
    MinMax<uint8_t> bytes;
    (void)Dispatch(reinterpret_cast<const uint8_t*>(values.data()), values.size(), bytes);
    result = {.min = bytes.min != 0, .max = bytes.max != 0};
  } else if constexpr (std::is_same_v<T, int128_t>) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    result = {.min = *min, .max = *max};
  } else if (!Dispatch(values.data(), values.size(), result)) {
    // At least one value is NaN. Such batches are rare, so a simple loop is enough.
    if constexpr (kIsFloat<T>) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      result = {.min = kInfinity, .max = -kInfinity};
      for (const T value : values) {
        result.nan_count += std::isnan(value);
        if (value < result.min) result.min = value;
        if (value > result.max) result.max = value;
      }
    }
  }
  return result;
}

#define CFILE_INSTANTIATE(T) template MinMax<T> FindMinMax<T>(std::span<const T>);
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
CFILE_INSTANTIATE(bool)
CFILE_INSTANTIATE(int128_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
#endif  // HWY_ONCE
