#include "encodings/kernels/match_range.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/match_range.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void InRange(const T* values, size_t count, T low, T high, uint8_t* bits) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto lows = hn::Set(d, low);
  const auto highs = hn::Set(d, high);
  const auto match = [&](const T* from) HWY_ATTR {
    const auto v = hn::LoadU(d, from);
    if constexpr (kIsFloat<T>) {
      return hn::And(hn::Ge(v, lows), hn::Le(v, highs));
    } else {
      return hn::Not(hn::Or(hn::Lt(v, lows), hn::Lt(highs, v)));
    }
  };
  size_t i = 0;
  if (lanes >= 8) {
    for (; count - i >= lanes; i += lanes) hn::StoreMaskBits(d, match(values + i), bits + i / 8);
  } else {
    const unsigned whole = (1u << lanes) - 1;
    for (; count - i >= 8; i += 8) {
      unsigned byte = 0;
      for (size_t j = 0; j < 8; j += lanes) {
        uint8_t some[8];
        hn::StoreMaskBits(d, match(values + i + j), some);
        byte |= (some[0] & whole) << j;
      }
      bits[i / 8] = static_cast<uint8_t>(byte);
    }
  }
  MatchEach(
      values + i, count - i, [&](T value) { return value >= low && value <= high; }, bits + i / 8);
}

#define CFILE_IN_RANGE(T)                                                         \
  void InRange_##T(const T* values, size_t count, T low, T high, uint8_t* bits) { \
    InRange<T>(values, count, low, high, bits);                                   \
  }
CFILE_FOR_EACH_NUMBER(CFILE_IN_RANGE)
#undef CFILE_IN_RANGE

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

#define CFILE_IN_RANGE(T)                                                             \
  HWY_EXPORT(InRange_##T);                                                            \
  static void Dispatch(const T* values, size_t count, T low, T high, uint8_t* bits) { \
    HWY_DYNAMIC_DISPATCH(InRange_##T)(values, count, low, high, bits);                \
  }
CFILE_FOR_EACH_NUMBER(CFILE_IN_RANGE)
#undef CFILE_IN_RANGE

template <typename T>
void MatchRange(const T* values, size_t count, const T& low, const T& high, uint8_t* bits) {
  if constexpr (std::is_same_v<T, bool>) {
    Dispatch(reinterpret_cast<const uint8_t*>(values), count, static_cast<uint8_t>(low),
             static_cast<uint8_t>(high), bits);
  } else if constexpr (std::is_same_v<T, int128_t> || std::is_same_v<T, Int96>) {
    MatchEach(
        values, count, [&](const T& value) { return !(value < low) && !(high < value); }, bits);
  } else {
    Dispatch(values, count, low, high, bits);
  }
}

#define CFILE_INSTANTIATE(T) \
  template void MatchRange<T>(const T*, size_t, const T&, const T&, uint8_t*);
CFILE_FOR_EACH_NUMBER(CFILE_INSTANTIATE)
CFILE_INSTANTIATE(bool)
CFILE_INSTANTIATE(int128_t)
CFILE_INSTANTIATE(Int96)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
#endif  // HWY_ONCE
