#include "encodings/kernels/interleaved_bits.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/interleaved_bits.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/core/assert.h"
#include "encodings/kernels/interleaved_bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

template <typename U>
HWY_INLINE void Unpack(const uint8_t* packed, size_t width, U reference, U* HWY_RESTRICT out) {
  const RowTag<U> d;
  const auto references = hn::Set(d, reference);
  UnpackRows<U>(packed, width, kBitsOf<U>, [&](size_t index, auto numbers) HWY_ATTR {
    hn::StoreU(hn::Add(numbers, references), d, out + index);
  });
}

// True if PrefixSum works for vectors of U.
template <typename U>
inline constexpr bool kHasPrefixSum =
    sizeof(U) >= 4 && HWY_TARGET != HWY_SCALAR&& HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE;

// Computes prefix sums of the lanes of a vector.
template <typename U>
class PrefixSum {
 public:
  using D = RowTag<U>;
  using V = hn::Vec<D>;

  HWY_INLINE PrefixSum() {
#if HWY_MAX_BYTES >= 64
    const D d;
    // Lane i of an odd block of 16 bytes adds the last lane of the block before it.
    HWY_ALIGN U block_ends[64 / sizeof(U)];
    for (size_t i = 0; i < 64 / sizeof(U); ++i)
      block_ends[i] = static_cast<U>(i / kBlock == 0 ? 0 : i / kBlock * kBlock - 1);
    block_ends_ = hn::IndicesFromVec(d, hn::Load(d, block_ends));
    odd_blocks_ = hn::Ne(hn::And(hn::Iota(d, 0), hn::Set(d, U{kBlock})), hn::Zero(d));
    half_end_ = hn::IndicesFromVec(d, hn::Set(d, U{2 * kBlock - 1}));
    upper_half_ = hn::Gt(hn::Iota(d, 0), hn::Set(d, U{2 * kBlock - 1}));
#endif
  }

  // Returns, in each lane, the sum of that lane and all lanes before it.
  HWY_INLINE V operator()(V v) const {
#if HWY_TARGET != HWY_SCALAR
    const D d;
    v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
    if constexpr (sizeof(U) == 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
#if HWY_MAX_BYTES >= 64
    v = hn::Add(v, hn::IfThenElseZero(odd_blocks_, hn::TableLookupLanes(v, block_ends_)));
    v = hn::Add(v, hn::IfThenElseZero(upper_half_, hn::TableLookupLanes(v, half_end_)));
#elif HWY_MAX_BYTES >= 32
    v = hn::Add(v, hn::ConcatLowerLower(d, hn::Broadcast<kBlock - 1>(v), hn::Zero(d)));
#endif
#endif
    return v;
  }

  // Returns a vector whose lanes are the last lane of `v`.
  HWY_INLINE V BroadcastLast(V v) const {
#if HWY_MAX_BYTES >= 32
    return hn::TableLookupLanes(v, last_);
#elif HWY_TARGET != HWY_SCALAR
    return hn::Broadcast<kBlock - 1>(v);
#else
    return v;
#endif
  }

 private:
  static constexpr int kBlock = 16 / sizeof(U);  // lanes of a block of 16 bytes
#if HWY_MAX_BYTES >= 32
  using Indices = decltype(hn::IndicesFromVec(D(), hn::Zero(D())));
  const Indices last_ = hn::IndicesFromVec(D(), hn::Set(D(), U{HWY_MAX_BYTES / sizeof(U) - 1}));
#endif
#if HWY_MAX_BYTES >= 64
  Indices block_ends_;
  Indices half_end_;
  hn::Mask<D> odd_blocks_;
  hn::Mask<D> upper_half_;
#endif
};

// UnpackDeltas for width > 0. Computes the prefix sums of kFields vectors with the operations for
// one vector: each lane is divided into kFields fields, and field i of a lane holds a number of
// vector i. Precondition: the sum of the numbers of a vector fits in a field.
template <typename U, size_t kFields>
HWY_INLINE void DeltasInFields(const uint8_t* packed, size_t width, U first, U step,
                               U* HWY_RESTRICT out) {
  const RowTag<U> d;
  const size_t lanes = hn::Lanes(d);
  constexpr int kFieldBits = static_cast<int>(kBitsOf<U> / kFields);
  const auto field = hn::Set(d, static_cast<U>(LowBits(kFieldBits)));
  HWY_ALIGN U multiples[kRowLanes<U>];
  for (size_t i = 0; i < lanes; ++i) multiples[i] = static_cast<U>(uint64_t{step} * (i + 1));
  const auto steps = hn::Load(d, multiples);
  const PrefixSum<U> prefix_sum;
  auto carry = hn::Set(d, static_cast<U>(first - step));
  const auto put = [&](auto sums, U* to) HWY_ATTR {
    const auto more = hn::Add(sums, steps);
    hn::StoreU(hn::Add(more, carry), d, to);
    // Computed from the old carry and not taken from the stored values, so that the next vector
    // depends on one addition only.
    carry = hn::Add(carry, prefix_sum.BroadcastLast(more));
  };
  VisitRows<U>(packed, width, kBitsOf<U>, [&](size_t index, const auto& numbers) HWY_ATTR {
    for (size_t lane = 0; lane < kRowLanes<U>; lane += kFields * lanes) {
      U* const to = out + index + lane;
      auto all = numbers(lane);
      if constexpr (kFields >= 2)
        all = hn::Or(all, hn::ShiftLeft<kFieldBits>(numbers(lane + lanes)));
      if constexpr (kFields == 4) {
        all = hn::Or(all, hn::ShiftLeft<2 * kFieldBits>(numbers(lane + 2 * lanes)));
        all = hn::Or(all, hn::ShiftLeft<3 * kFieldBits>(numbers(lane + 3 * lanes)));
      }
      all = prefix_sum(all);
      if constexpr (kFields == 1) {
        put(all, to);
      } else {
        put(hn::And(all, field), to);
        if constexpr (kFields == 4) {
          put(hn::And(hn::ShiftRight<kFieldBits>(all), field), to + lanes);
          put(hn::And(hn::ShiftRight<2 * kFieldBits>(all), field), to + 2 * lanes);
        }
        put(hn::ShiftRight<(kFields - 1) * kFieldBits>(all), to + (kFields - 1) * lanes);
      }
    }
  });
}

template <typename U>
HWY_INLINE void Deltas(const uint8_t* packed, size_t width, U first, U step, U* out) {
  if constexpr (kHasPrefixSum<U>) {
    constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(U);
    const uint64_t most = kLanes * LowBits(static_cast<int>(std::min<size_t>(width, 32)));
    if constexpr (sizeof(U) == 8 && 4 * HWY_MAX_BYTES <= kVectorRowBytes) {
      if (most <= LowBits(16)) return DeltasInFields<U, 4>(packed, width, first, step, out);
    }
    if (width <= 32 && most <= LowBits(kBitsOf<U> / 2)) {
      DeltasInFields<U, 2>(packed, width, first, step, out);
    } else {
      DeltasInFields<U, 1>(packed, width, first, step, out);
    }
  } else {
    Unpack<U>(packed, width, step, out);
    U value = static_cast<U>(first - step);
    for (size_t i = 0; i < kVectorValues; ++i) {
      value = static_cast<U>(value + out[i]);
      out[i] = value;
    }
  }
}

template <typename U>
HWY_INLINE U Sum(const uint8_t* packed, size_t width, size_t count) {
  const RowTag<U> d;
  const size_t lanes = hn::Lanes(d);
  auto sums = hn::Zero(d);
  const size_t rows = (count + kRowLanes<U> - 1) / kRowLanes<U>;
  UnpackRows<U>(packed, width, rows, [&](size_t index, auto numbers) HWY_ATTR {
    if (index + lanes <= count) {
      sums = hn::Add(sums, numbers);
    } else if (index < count) {
      sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(d, count - index), numbers));
    }
  });
  HWY_ALIGN U by_lane[kRowLanes<U>];
  hn::Store(sums, d, by_lane);
  U sum = 0;
  for (size_t i = 0; i < lanes; ++i) sum = static_cast<U>(sum + by_lane[i]);
  return sum;
}

template <typename U>
HWY_INLINE void Pack(const U* HWY_RESTRICT values, U reference, size_t width,
                     uint8_t* HWY_RESTRICT out) {
  constexpr size_t kBits = kBitsOf<U>;
  const RowTag<U> d;
  const size_t lanes = hn::Lanes(d);
  const auto references = hn::Set(d, reference);
  for (size_t lane = 0; lane < kRowLanes<U>; lane += lanes) {
    uint8_t* to = out + lane * sizeof(U);
    auto word = hn::Zero(d);
    size_t filled = 0;
    for (size_t row = 0; row < kBits; ++row) {
      const auto number = hn::Sub(hn::LoadU(d, values + row * kRowLanes<U> + lane), references);
      const auto clear = hn::Set(d, static_cast<U>(~LowBits(static_cast<int>(filled))));
      word = hn::Or(word, hn::And(ShiftLeft<U>(number, filled), clear));
      filled += width;
      if (filled < kBits) continue;
      StoreWords<U>(word, to);
      to += kVectorRowBytes;
      filled -= kBits;
      word = hn::Zero(d);
      if (filled > 0) {
        const auto rest = hn::Set(d, static_cast<U>(LowBits(static_cast<int>(filled))));
        word = hn::And(ShiftRight<U>(number, width - filled), rest);
      }
    }
  }
}

// Unpacks a vector, and writes one bit for each number: matches(numbers) returns the mask of the
// numbers of a SIMD vector for which the bit is 1.
template <typename U, typename Matches>
HWY_INLINE void MatchRows(const uint8_t* packed, size_t width, const Matches& matches,
                          uint8_t* bits) {
  const RowTag<U> d;
  const size_t lanes = hn::Lanes(d);
  unsigned byte = 0;
  UnpackRows<U>(packed, width, kBitsOf<U>, [&](size_t index, auto numbers) HWY_ATTR {
    const auto match = matches(numbers);
    if (lanes >= 8) {
      hn::StoreMaskBits(d, match, bits + index / 8);
    } else {
      uint8_t some[8];
      hn::StoreMaskBits(d, match, some);
      byte |= (some[0] & ((1u << lanes) - 1)) << (index % 8);
      if (index % 8 + lanes == 8) {
        bits[index / 8] = static_cast<uint8_t>(byte);
        byte = 0;
      }
    }
  });
}

template <typename U>
HWY_INLINE void Match(const uint8_t* packed, size_t width, U low, U high, uint8_t* bits) {
  const RowTag<U> d;
  const hn::RebindToSigned<RowTag<U>> ds;
  using I = hn::TFromD<decltype(ds)>;
  // The condition is number - low < limit, without signs. Highway's comparison of signed lanes
  // gives the same result after the sign bits of both sides are inverted.
  const U limit = static_cast<U>(high - low + 1);
  if (limit == 0) {
    std::memset(bits, 0xff, kVectorValues / 8);
    return;
  }
  const U sign = static_cast<U>(U{1} << (kBitsOf<U> - 1));
  const auto offset = hn::Set(d, static_cast<U>(sign - low));
  const auto limits = hn::Set(ds, static_cast<I>(static_cast<U>(limit ^ sign)));
  MatchRows<U>(
      packed, width,
      [&](auto numbers) HWY_ATTR {
        const auto moved = hn::BitCast(ds, hn::Add(numbers, offset));
        return hn::RebindMask(d, hn::Lt(moved, limits));
      },
      bits);
}

// `wanted` has kCount numbers.
template <typename U, size_t kCount>
HWY_INLINE void MatchSome(const uint8_t* packed, size_t width, const U* wanted, uint8_t* bits) {
  const RowTag<U> d;
  HWY_ALIGN U copies[kCount][kVectorRowBytes / sizeof(U)];
  for (size_t i = 0; i < kCount; ++i) hn::Store(hn::Set(d, wanted[i]), d, copies[i]);
  MatchRows<U>(
      packed, width,
      [&](auto numbers) HWY_ATTR {
        auto match = hn::Eq(numbers, hn::Load(d, copies[0]));
        for (size_t i = 1; i < kCount; ++i)
          match = hn::Or(match, hn::Eq(numbers, hn::Load(d, copies[i])));
        return match;
      },
      bits);
}

template <typename U>
HWY_INLINE void MatchAny(const uint8_t* packed, size_t width, const U* wanted, size_t count,
                         uint8_t* bits) {
  U some[kMostWanted];
  for (size_t i = 0; i < kMostWanted; ++i) some[i] = wanted[i < count ? i : 0];
  if (count <= 2) {
    MatchSome<U, 2>(packed, width, some, bits);
  } else if (count <= 4) {
    MatchSome<U, 4>(packed, width, some, bits);
  } else {
    MatchSome<U, kMostWanted>(packed, width, some, bits);
  }
}

template <typename U>
HWY_INLINE size_t Count(const U* values, size_t count, U reference, U limit) {
  const RowTag<U> d;
  const hn::RebindToSigned<RowTag<U>> ds;
  using I = hn::TFromD<decltype(ds)>;
  const size_t lanes = hn::Lanes(d);
  const U sign = static_cast<U>(U{1} << (kBitsOf<U> - 1));
  const auto offset = hn::Set(d, static_cast<U>(sign - reference));
  const auto most = hn::Set(ds, static_cast<I>(static_cast<U>(limit ^ sign)));
  size_t above = 0;
  size_t i = 0;
  for (; count - i >= lanes; i += lanes) {
    const auto moved = hn::BitCast(ds, hn::Add(hn::LoadU(d, values + i), offset));
    above += hn::CountTrue(ds, hn::Gt(moved, most));
  }
  for (; i < count; ++i) above += static_cast<U>(values[i] - reference) > limit ? 1 : 0;
  return above;
}

#define CFILE_INTERLEAVED(U)                                                            \
  void Unpack_##U(const uint8_t* packed, size_t width, U reference, U* out) {           \
    Unpack<U>(packed, width, reference, out);                                           \
  }                                                                                     \
  void Pack_##U(const U* values, U reference, size_t width, uint8_t* out) {             \
    Pack<U>(values, reference, width, out);                                             \
  }                                                                                     \
  void Match_##U(const uint8_t* packed, size_t width, U low, U high, uint8_t* bits) {   \
    Match<U>(packed, width, low, high, bits);                                           \
  }                                                                                     \
  void MatchAny_##U(const uint8_t* packed, size_t width, const U* wanted, size_t count, \
                    uint8_t* bits) {                                                    \
    MatchAny<U>(packed, width, wanted, count, bits);                                    \
  }                                                                                     \
  void Deltas_##U(const uint8_t* packed, size_t width, U first, U step, U* out) {       \
    Deltas<U>(packed, width, first, step, out);                                         \
  }                                                                                     \
  U Sum_##U(const uint8_t* packed, size_t width, size_t count) {                        \
    return Sum<U>(packed, width, count);                                                \
  }                                                                                     \
  size_t Count_##U(const U* values, size_t count, U reference, U limit) {               \
    return Count<U>(values, count, reference, limit);                                   \
  }
CFILE_INTERLEAVED(uint8_t)
CFILE_INTERLEAVED(uint16_t)
CFILE_INTERLEAVED(uint32_t)
CFILE_INTERLEAVED(uint64_t)
#undef CFILE_INTERLEAVED

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

#define CFILE_INTERLEAVED(U)                                                                 \
  HWY_EXPORT(Unpack_##U);                                                                    \
  HWY_EXPORT(Pack_##U);                                                                      \
  HWY_EXPORT(Match_##U);                                                                     \
  HWY_EXPORT(MatchAny_##U);                                                                  \
  HWY_EXPORT(Deltas_##U);                                                                    \
  HWY_EXPORT(Sum_##U);                                                                       \
  HWY_EXPORT(Count_##U);                                                                     \
  template <>                                                                                \
  void PackInterleaved<U>(const U* values, U reference, int width, uint8_t* out) {           \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    if (width > 0)                                                                           \
      HWY_DYNAMIC_DISPATCH(Pack_##U)(values, reference, static_cast<size_t>(width), out);    \
  }                                                                                          \
  template <>                                                                                \
  void UnpackInterleaved<U>(const uint8_t* packed, int width, U reference, U* out) {         \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    if (width == 0) {                                                                        \
      std::fill_n(out, kVectorValues, reference);                                            \
    } else {                                                                                 \
      HWY_DYNAMIC_DISPATCH(Unpack_##U)(packed, static_cast<size_t>(width), reference, out);  \
    }                                                                                        \
  }                                                                                          \
  template <>                                                                                \
  void MatchInterleaved<U>(const uint8_t* packed, int width, U low, U high, uint8_t* bits) { \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    if (width == 0) {                                                                        \
      const bool all = static_cast<U>(-low) <= static_cast<U>(high - low);                   \
      std::memset(bits, all ? 0xff : 0, kVectorValues / 8);                                  \
    } else {                                                                                 \
      HWY_DYNAMIC_DISPATCH(Match_##U)(packed, static_cast<size_t>(width), low, high, bits);  \
    }                                                                                        \
  }                                                                                          \
  template <>                                                                                \
  void MatchAnyInterleaved<U>(const uint8_t* packed, int width, std::span<const U> wanted,   \
                              uint8_t* bits) {                                               \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    CFILE_ASSERT(!wanted.empty() && wanted.size() <= kMostWanted);                           \
    if (width == 0) {                                                                        \
      const bool all = std::find(wanted.begin(), wanted.end(), U{0}) != wanted.end();        \
      std::memset(bits, all ? 0xff : 0, kVectorValues / 8);                                  \
    } else {                                                                                 \
      HWY_DYNAMIC_DISPATCH(MatchAny_##U)                                                     \
      (packed, static_cast<size_t>(width), wanted.data(), wanted.size(), bits);              \
    }                                                                                        \
  }                                                                                          \
  template <>                                                                                \
  void UnpackDeltas<U>(const uint8_t* packed, int width, U first, U step, U* out) {          \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    if (width == 0) {                                                                        \
      for (size_t i = 0; i < kVectorValues; ++i)                                             \
        out[i] = static_cast<U>(first + uint64_t{step} * i);                                 \
    } else {                                                                                 \
      HWY_DYNAMIC_DISPATCH(Deltas_##U)                                                       \
      (packed, static_cast<size_t>(width), first, step, out);                                \
    }                                                                                        \
  }                                                                                          \
  template <>                                                                                \
  U SumInterleaved<U>(const uint8_t* packed, int width, size_t count) {                      \
    CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(U)));                    \
    if (width == 0) return 0;                                                                \
    return HWY_DYNAMIC_DISPATCH(Sum_##U)(packed, static_cast<size_t>(width), count);         \
  }                                                                                          \
  template <>                                                                                \
  size_t CountAbove<U>(const U* values, size_t count, U reference, U limit) {                \
    return HWY_DYNAMIC_DISPATCH(Count_##U)(values, count, reference, limit);                 \
  }
CFILE_INTERLEAVED(uint8_t)
CFILE_INTERLEAVED(uint16_t)
CFILE_INTERLEAVED(uint32_t)
CFILE_INTERLEAVED(uint64_t)
#undef CFILE_INTERLEAVED

}  // namespace cfile::encodings
#endif  // HWY_ONCE
