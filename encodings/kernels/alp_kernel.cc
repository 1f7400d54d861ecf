#include "encodings/kernels/alp_kernel.h"

#include <algorithm>
#include <limits>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/alp_kernel.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/kernels/bit_packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

size_t DecodeFloats(std::span<const uint8_t> packed, int width, int32_t frame, float power,
                    float inverse, float* out, size_t count) {
#if CFILE_UNPACK_SIMD
  using Unpacker = GroupUnpacker<uint32_t>;
  if (width > Unpacker::kMaxWidth) return 0;
  const Unpacker::D d;
  const hn::RebindToSigned<Unpacker::D> d_signed;
  const hn::RebindToFloat<Unpacker::D> d_float;
  const auto frames = hn::Set(d, static_cast<uint32_t>(frame));
  const auto powers = hn::Set(d_float, power);
  const auto inverses = hn::Set(d_float, inverse);
  return UnpackGroups<uint32_t>(packed, width, out, count, [&](auto deltas, float* to) HWY_ATTR {
    const auto integers = hn::BitCast(d_signed, hn::Add(deltas, frames));
    hn::StoreU(hn::Mul(hn::Mul(hn::ConvertTo(d_float, integers), powers), inverses), d_float, to);
  });
#else
  (void)packed, (void)width, (void)frame, (void)power, (void)inverse, (void)out, (void)count;
  return 0;
#endif
}

size_t DecodeDoubles(std::span<const uint8_t> packed, int width, int64_t frame, double power,
                     double inverse, double* out, size_t count) {
#if CFILE_UNPACK_SIMD
  const hn::FixedTag<double, kUnpackVectorBytes / 8> d_double;
  const auto powers = hn::Set(d_double, power);
  const auto inverses = hn::Set(d_double, inverse);
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (width <= GroupUnpacker<uint32_t>::kMaxWidth && frame >= kLeast &&
      frame <= kMost - static_cast<int64_t>(LowBits(width))) {
    // All integers fit in 32 bits: a vector holds twice as many, and converting them is faster.
    const GroupUnpacker<uint32_t>::D d;
    const hn::RebindToSigned<GroupUnpacker<uint32_t>::D> d_signed;
#if HWY_MAX_BYTES >= 64
    const hn::FixedTag<double, 8> d_wide;
    const auto wide_powers = hn::Set(d_wide, power);
    const auto wide_inverses = hn::Set(d_wide, inverse);
#else
    const hn::Half<decltype(d_signed)> d_half;
#endif
    const auto frames = hn::Set(d, static_cast<uint32_t>(frame));
    return UnpackGroups<uint32_t>(packed, width, out, count, [&](auto deltas, double* to) HWY_ATTR {
      const auto integers = hn::BitCast(d_signed, hn::Add(deltas, frames));
#if HWY_MAX_BYTES >= 64
      const auto floats = hn::PromoteTo(d_wide, integers);
      hn::StoreU(hn::Mul(hn::Mul(floats, wide_powers), wide_inverses), d_wide, to);
#else
      const auto low = hn::PromoteTo(d_double, hn::LowerHalf(d_half, integers));
      const auto high = hn::PromoteTo(d_double, hn::UpperHalf(d_half, integers));
      hn::StoreU(hn::Mul(hn::Mul(low, powers), inverses), d_double, to);
      hn::StoreU(hn::Mul(hn::Mul(high, powers), inverses), d_double, to + hn::Lanes(d_double));
#endif
    });
  }
  if (width > GroupUnpacker<uint64_t>::kMaxWidth) return 0;
  const GroupUnpacker<uint64_t>::D d;
  const hn::RebindToSigned<GroupUnpacker<uint64_t>::D> d_signed;
  const auto frames = hn::Set(d, static_cast<uint64_t>(frame));
  return UnpackGroups<uint64_t>(packed, width, out, count, [&](auto deltas, double* to) HWY_ATTR {
    const auto integers = hn::BitCast(d_signed, hn::Add(deltas, frames));
    const auto floats = hn::ConvertTo(d_double, integers);
    hn::StoreU(hn::Mul(hn::Mul(floats, powers), inverses), d_double, to);
  });
#else
  (void)packed, (void)width, (void)frame, (void)power, (void)inverse, (void)out, (void)count;
  return 0;
#endif
}

// Tries `pair` on `count` values, a multiple of the number of lanes (FitAll handles the rest), and
// adds the result to `fit`. kStore: also writes `integers` and `positions`; the position of
// values[0] is `first`.
template <bool kStore, typename T>
HWY_INLINE AlpFit<T> Fit(const T* values, size_t count, size_t first, AlpPair pair, AlpFit<T> fit,
                         typename AlpTraits<T>::Integer* integers, uint16_t* positions) {
  using Traits = AlpTraits<T>;
  using Integer = typename Traits::Integer;
#if CFILE_UNPACK_SIMD
  const hn::FixedTag<T, HWY_MAX_BYTES / sizeof(T)> d;
#else
  const hn::FixedTag<T, 1> d;
#endif
  const hn::RebindToSigned<decltype(d)> d_integer;
  const size_t lanes = hn::Lanes(d);
  const auto scale = hn::Set(d, Traits::kPowers[pair.exponent]);
  const auto unscale = hn::Set(d, Traits::kInverses[pair.factor]);
  const auto power = hn::Set(d, Traits::kPowers[pair.factor]);
  const auto inverse = hn::Set(d, Traits::kInverses[pair.exponent]);
  const auto limit = hn::Set(d, Traits::kLimit);
  const auto none_smallest = hn::Set(d, Traits::kLimit);
  const auto none_largest = hn::Set(d, -Traits::kLimit);
  auto smallest = hn::Set(d, fit.smallest);
  auto largest = hn::Set(d, fit.largest);
  for (size_t i = 0; i < count; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    const auto scaled = hn::Mul(hn::Mul(value, scale), unscale);
    // NaN compares false. Adding 0.0 turns -0.0 into 0.0, which is what the integer 0 decodes to.
    const auto in_range = hn::Lt(hn::Abs(scaled), limit);
    const auto rounded = hn::Add(hn::Round(scaled), hn::Zero(d));
    const auto back = hn::Mul(hn::Mul(rounded, power), inverse);
    // Compare bits, so that -0.0 differs from 0.0.
    const auto same =
        hn::RebindMask(d, hn::Eq(hn::BitCast(d_integer, back), hn::BitCast(d_integer, value)));
    const auto good = hn::And(in_range, same);
    smallest = hn::Min(smallest, hn::IfThenElse(good, rounded, none_smallest));
    largest = hn::Max(largest, hn::IfThenElse(good, rounded, none_largest));
    if constexpr (kStore)
      hn::StoreU(hn::ConvertTo(d_integer, hn::IfThenElseZero(good, rounded)), d_integer,
                 integers + i);
    if (hn::AllTrue(d, good)) continue;
    if constexpr (kStore) {
      alignas(64) Integer wrong[HWY_MAX_BYTES / sizeof(T)];
      hn::Store(hn::VecFromMask(d_integer, hn::RebindMask(d_integer, good)), d_integer, wrong);
      for (size_t lane = 0; lane < lanes; ++lane) {
        positions[fit.exceptions] = static_cast<uint16_t>(first + i + lane);
        fit.exceptions += static_cast<size_t>(wrong[lane] == 0);
      }
    } else {
      fit.exceptions += lanes - hn::CountTrue(d, good);
    }
  }
  fit.smallest = hn::GetLane(hn::MinOfLanes(d, smallest));
  fit.largest = hn::GetLane(hn::MaxOfLanes(d, largest));
  return fit;
}

template <bool kStore, typename T>
HWY_INLINE AlpFit<T> FitAll(std::span<const T> values, AlpPair pair,
                            typename AlpTraits<T>::Integer* integers, uint16_t* positions) {
  using Traits = AlpTraits<T>;
  constexpr size_t kPadding = 64 / sizeof(T);  // a multiple of the lanes of every vector
  AlpFit<T> fit = {Traits::kLimit, -Traits::kLimit, 0};
  const size_t whole = values.size() / kPadding * kPadding;
  fit = Fit<kStore>(values.data(), whole, 0, pair, fit, integers, positions);
  const size_t rest = values.size() - whole;
  if (rest == 0) return fit;
  // Pad with copies of the last value. Zeros would fit any pair too, but could widen the range.
  T padded[kPadding];
  typename Traits::Integer padded_integers[kPadding];
  uint16_t padded_positions[kPadding + 1];
  std::copy_n(values.data() + whole, rest, padded);
  std::fill(padded + rest, padded + kPadding, values.back());
  AlpFit<T> last = {fit.smallest, fit.largest, 0};
  last = Fit<true>(padded, kPadding, whole, pair, last, padded_integers, padded_positions);
  size_t exceptions = 0;
  while (exceptions < last.exceptions && padded_positions[exceptions] < values.size()) ++exceptions;
  if constexpr (kStore) {
    std::copy_n(padded_integers, rest, integers + whole);
    std::copy_n(padded_positions, exceptions, positions + fit.exceptions);
  }
  return {last.smallest, last.largest, fit.exceptions + exceptions};
}

AlpFit<float> TryFloats(std::span<const float> values, AlpPair pair) {
  return FitAll<false>(values, pair, nullptr, nullptr);
}
AlpFit<double> TryDoubles(std::span<const double> values, AlpPair pair) {
  return FitAll<false>(values, pair, nullptr, nullptr);
}
AlpFit<float> EncodeFloats(std::span<const float> values, AlpPair pair, int32_t* integers,
                           uint16_t* positions) {
  return FitAll<true>(values, pair, integers, positions);
}
AlpFit<double> EncodeDoubles(std::span<const double> values, AlpPair pair, int64_t* integers,
                             uint16_t* positions) {
  return FitAll<true>(values, pair, integers, positions);
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
HWY_EXPORT(DecodeFloats);
HWY_EXPORT(DecodeDoubles);
HWY_EXPORT(TryFloats);
HWY_EXPORT(TryDoubles);
HWY_EXPORT(EncodeFloats);
HWY_EXPORT(EncodeDoubles);

template <typename T>
void AlpDecode(std::span<const uint8_t> packed, int width, typename AlpTraits<T>::Integer frame,
               AlpPair pair, T* out, size_t count) {
  using Traits = AlpTraits<T>;
  using Unsigned = typename Traits::Unsigned;
  const T power = Traits::kPowers[pair.factor];
  const T inverse = Traits::kInverses[pair.exponent];
  size_t done;
  if constexpr (sizeof(T) == 4) {
    done = HWY_DYNAMIC_DISPATCH(DecodeFloats)(packed, width, frame, power, inverse, out, count);
  } else {
    done = HWY_DYNAMIC_DISPATCH(DecodeDoubles)(packed, width, frame, power, inverse, out, count);
  }
  Unsigned deltas[256];
  while (done < count) {
    const size_t taken = std::min(count - done, std::size(deltas));
    UnpackBits(packed, width, done, deltas, taken);
    for (size_t i = 0; i < taken; ++i) {
      const auto integer =
          static_cast<typename Traits::Integer>(deltas[i] + static_cast<Unsigned>(frame));
      const T scaled = static_cast<T>(integer) * power;
      out[done + i] = scaled * inverse;
    }
    done += taken;
  }
}

template <>
AlpFit<float> AlpTry(std::span<const float> values, AlpPair pair) {
  return HWY_DYNAMIC_DISPATCH(TryFloats)(values, pair);
}
template <>
AlpFit<double> AlpTry(std::span<const double> values, AlpPair pair) {
  return HWY_DYNAMIC_DISPATCH(TryDoubles)(values, pair);
}
template <>
AlpFit<float> AlpEncode(std::span<const float> values, AlpPair pair, int32_t* integers,
                        uint16_t* positions) {
  return HWY_DYNAMIC_DISPATCH(EncodeFloats)(values, pair, integers, positions);
}
template <>
AlpFit<double> AlpEncode(std::span<const double> values, AlpPair pair, int64_t* integers,
                         uint16_t* positions) {
  return HWY_DYNAMIC_DISPATCH(EncodeDoubles)(values, pair, integers, positions);
}

template void AlpDecode<float>(std::span<const uint8_t>, int, int32_t, AlpPair, float*, size_t);
template void AlpDecode<double>(std::span<const uint8_t>, int, int64_t, AlpPair, double*, size_t);

}  // namespace cfile::encodings
#endif  // HWY_ONCE
