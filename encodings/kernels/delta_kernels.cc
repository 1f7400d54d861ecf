#include "encodings/kernels/delta_kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/delta_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_DELTA_KERNELS_TABLES
#define CFILE_ENCODINGS_DELTA_KERNELS_TABLES
namespace cfile::encodings {

// How to unpack 8 values of one width into the lanes of vectors: kParts loads of 16 bytes at
// `offsets`, each for 8 / kParts values; `bytes` selects the bytes of each lane from its load; then
// each lane is shifted right by `shifts`.
template <typename Lane, size_t kParts>
struct UnpackPlan {
  size_t offsets[kParts];
  alignas(64) uint8_t bytes[8 * sizeof(Lane)];
  alignas(64) Lane shifts[8];
};

template <typename Lane, size_t kParts, size_t kWidths>
constexpr std::array<UnpackPlan<Lane, kParts>, kWidths> MakeUnpackPlans() {
  std::array<UnpackPlan<Lane, kParts>, kWidths> plans{};
  for (size_t width = 0; width < kWidths; ++width) {
    auto& plan = plans[width];
    for (size_t i = 0; i < 8; ++i) {
      const size_t part = i * kParts / 8;
      plan.offsets[part] = part * (8 / kParts) * width / 8;
      const size_t first = i * width / 8 - plan.offsets[part];
      for (size_t byte = 0; byte < sizeof(Lane); ++byte)
        plan.bytes[i * sizeof(Lane) + byte] = static_cast<uint8_t>(first + byte);
      plan.shifts[i] = static_cast<Lane>(i * width % 8);
    }
  }
  return plans;
}

// The largest widths for lanes of 32 and 64 bits: a value must fit together with up to 7 bits that
// precede it in its first byte.
inline constexpr int kMaxNarrowWidth = 25;
inline constexpr int kMaxWideWidth = 57;
inline constexpr auto kNarrowPlans = MakeUnpackPlans<uint32_t, 2, kMaxNarrowWidth + 1>();
inline constexpr auto kWidePlans = MakeUnpackPlans<uint64_t, 4, kMaxWideWidth + 1>();

// For any width and processor.
template <typename T>
T DecodeDeltaGroupsPortably(const uint8_t* packed, int width, T min_delta, T previous,
                            size_t groups, T* out) {
  using U = std::make_unsigned_t<T>;
  constexpr size_t kChunk = 32;  // groups
  U deltas[8 * kChunk];
  U value = static_cast<U>(previous);
  while (groups > 0) {
    const size_t chunk = std::min(groups, kChunk);
    const size_t bytes = chunk * static_cast<size_t>(width);
    UnpackBits<U>({packed, bytes + kDeltaReadAhead}, width, 0, deltas, 8 * chunk);
    for (size_t i = 0; i < 8 * chunk; ++i) {
      value += deltas[i] + static_cast<U>(min_delta);
      out[i] = static_cast<T>(value);
    }
    packed += bytes;
    out += 8 * chunk;
    groups -= chunk;
  }
  return static_cast<T>(value);
}

// The bits of value kIndex that belong to packed word kWord of a group.
template <typename U, size_t kWidth, size_t kWord, size_t kIndex>
inline uint64_t PartOfWord(const U* values) {
  constexpr size_t kBegin = kIndex * kWidth;
  if constexpr (kBegin >= 64 * kWord + 64 || kBegin + kWidth <= 64 * kWord) {
    return 0;
  } else if constexpr (kBegin >= 64 * kWord) {
    return uint64_t{values[kIndex]} << (kBegin - 64 * kWord);
  } else {
    return uint64_t{values[kIndex]} >> (64 * kWord - kBegin);
  }
}
template <typename U, size_t kWidth, size_t kWord, size_t... kIndex>
inline void PackWord(const U* values, uint8_t* out, std::index_sequence<kIndex...>) {
  StoreLittleEndian<uint64_t>((PartOfWord<U, kWidth, kWord, kIndex>(values) | ...),
                              out + 8 * kWord);
}
template <typename U, size_t kWidth, size_t... kWord>
void PackGroups(const U* values, size_t groups, uint8_t* out, std::index_sequence<kWord...>) {
  for (; groups > 0; --groups, values += kDeltaGroup, out += kWidth)
    (PackWord<U, kWidth, kWord>(values, out, std::make_index_sequence<kDeltaGroup>()), ...);
}
template <typename U, size_t kWidth>
void PackGroupsOf(const U* values, size_t groups, uint8_t* out) {
  PackGroups<U, kWidth>(values, groups, out, std::make_index_sequence<(kWidth + 7) / 8>());
}

template <typename U, size_t... kWidths>
constexpr auto Packers(std::index_sequence<kWidths...>) {
  return std::array<void (*)(const U*, size_t, uint8_t*), sizeof...(kWidths)>{
      &PackGroupsOf<U, kWidths>...};
}
template <typename U>
inline constexpr auto kPackers = Packers<U>(std::make_index_sequence<8 * sizeof(U) + 1>());

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_DELTA_KERNELS_TABLES

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether the target has vectors of 32 bytes, byte shuffles and a separate shift count for each
// lane.
#define CFILE_DELTA_WIDE                                                         \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE && \
   HWY_MAX_BYTES >= 32)

#if CFILE_DELTA_WIDE
// Unpacks one vector of 32 bytes from two loads of 16 bytes.
template <typename D>
HWY_INLINE hn::Vec<D> UnpackLanes(D d, const uint8_t* low, const uint8_t* high,
                                  hn::Vec<hn::Repartition<uint8_t, D>> bytes, hn::Vec<D> shifts,
                                  hn::Vec<D> mask) {
  const hn::Repartition<uint8_t, D> d8;
  const hn::Half<decltype(d8)> half;
  const auto loaded = hn::Combine(d8, hn::LoadU(half, high), hn::LoadU(half, low));
  return hn::And(hn::Shr(hn::BitCast(d, hn::TableLookupBytes(loaded, bytes)), shifts), mask);
}

// The sum of each lane and all lanes below it, for a vector of two blocks.
template <typename D, typename V>
HWY_INLINE V PrefixSum(D d, V v) {
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  V last;  // of each block
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
    last = hn::Broadcast<3>(v);
  } else {
    last = hn::Broadcast<1>(v);
  }
  return hn::Add(v, hn::ConcatLowerLower(d, last, hn::Zero(d)));
}

// For widths of up to kMaxNarrowWidth bits: the sum of 8 such deltas fits in 32 bits, so that only
// the sums are widened.
template <typename T>
HWY_INLINE T DecodeNarrow(const uint8_t* packed, int width, T min_delta, T previous, size_t groups,
                          T* out) {
  using U = std::make_unsigned_t<T>;
  const hn::FixedTag<uint32_t, 8> d;
  const hn::FixedTag<uint8_t, 32> d8;
  const auto& plan = kNarrowPlans[static_cast<size_t>(width)];
  const auto bytes = hn::Load(d8, plan.bytes);
  const auto shifts = hn::Load(d, plan.shifts);
  const auto mask = hn::Set(d, static_cast<uint32_t>(LowBits(width)));
  const auto last = hn::IndicesFromVec(d, hn::Set(d, 7));
  const size_t high = plan.offsets[1];
  const size_t step = static_cast<size_t>(width);
  const U min = static_cast<U>(min_delta);
  if constexpr (sizeof(T) == 4) {
    const auto mins = hn::Mul(hn::Set(d, min), hn::Iota(d, 1));
    const auto min_step = hn::Set(d, 8 * min);
    auto carry = hn::Set(d, static_cast<U>(previous));
    for (; groups > 0; --groups, packed += step, out += 8) {
      const auto sums = PrefixSum(d, UnpackLanes(d, packed, packed + high, bytes, shifts, mask));
      const auto total = hn::TableLookupLanes(sums, last);
      hn::StoreU(hn::Add(hn::Add(sums, mins), carry), d, reinterpret_cast<U*>(out));
      carry = hn::Add(carry, hn::Add(total, min_step));
    }
    return static_cast<T>(hn::GetLane(carry));
  } else {
    const hn::FixedTag<uint64_t, 4> d64;
    alignas(32)
        const U multiples[8] = {min, 2 * min, 3 * min, 4 * min, 5 * min, 6 * min, 7 * min, 8 * min};
    const auto low_mins = hn::Load(d64, multiples);
    const auto high_mins = hn::Load(d64, multiples + 4);
    const auto min_step = hn::Set(d64, 8 * min);
    const auto low_half = hn::Set(d64, uint64_t{UINT32_MAX});
    auto carry = hn::Set(d64, static_cast<U>(previous));
    for (; groups > 0; --groups, packed += step, out += 8) {
      const auto sums = PrefixSum(d, UnpackLanes(d, packed, packed + high, bytes, shifts, mask));
      const auto total = hn::TableLookupLanes(sums, last);
      U* const to = reinterpret_cast<U*>(out);
      const auto low = hn::PromoteTo(d64, hn::LowerHalf(sums));
      const auto upper = hn::PromoteTo(d64, hn::UpperHalf(hn::Half<decltype(d)>(), sums));
      hn::StoreU(hn::Add(hn::Add(low, low_mins), carry), d64, to);
      hn::StoreU(hn::Add(hn::Add(upper, high_mins), carry), d64, to + 4);
      carry = hn::Add(carry, hn::Add(hn::And(hn::BitCast(d64, total), low_half), min_step));
    }
    return static_cast<T>(hn::GetLane(carry));
  }
}

// For widths of up to kMaxWideWidth bits, in lanes of 64 bits.
template <typename T>
HWY_INLINE T DecodeWide(const uint8_t* packed, int width, T min_delta, T previous, size_t groups,
                        T* out) {
  const hn::FixedTag<uint64_t, 4> d;
  const hn::FixedTag<uint8_t, 32> d8;
  const auto& plan = kWidePlans[static_cast<size_t>(width)];
  const auto mask = hn::Set(d, LowBits(width));
  const uint64_t min = static_cast<uint64_t>(min_delta);
  alignas(32) const uint64_t multiples[4] = {min, 2 * min, 3 * min, 4 * min};
  const auto mins = hn::Load(d, multiples);
  const auto min_step = hn::Set(d, 4 * min);
  auto carry = hn::Set(d, static_cast<uint64_t>(previous));
  for (; groups > 0; --groups, packed += width) {
    for (size_t half = 0; half < 2; ++half, out += 4) {
      const auto deltas = UnpackLanes(
          d, packed + plan.offsets[2 * half], packed + plan.offsets[2 * half + 1],
          hn::Load(d8, plan.bytes + 32 * half), hn::Load(d, plan.shifts + 4 * half), mask);
      const auto sums = PrefixSum(d, deltas);
      const auto values = hn::Add(hn::Add(sums, mins), carry);
      const auto total = hn::Broadcast<1>(hn::ConcatUpperUpper(d, sums, sums));
      if constexpr (sizeof(T) == 4) {
        const hn::FixedTag<uint32_t, 4> d32;
        hn::StoreU(hn::TruncateTo(d32, values), d32, reinterpret_cast<uint32_t*>(out));
      } else {
        hn::StoreU(values, d, reinterpret_cast<uint64_t*>(out));
      }
      carry = hn::Add(carry, hn::Add(total, min_step));
    }
  }
  return static_cast<T>(hn::GetLane(carry));
}

// For a width of 64 bits.
HWY_INLINE int64_t DecodeWords(const uint8_t* packed, int64_t min_delta, int64_t previous,
                               size_t groups, int64_t* out) {
  const hn::FixedTag<uint64_t, 4> d;
  const auto min = static_cast<uint64_t>(min_delta);
  alignas(32) const uint64_t multiples[4] = {min, 2 * min, 3 * min, 4 * min};
  const auto mins = hn::Load(d, multiples);
  auto carry = hn::Set(d, static_cast<uint64_t>(previous));
  const auto* from = reinterpret_cast<const uint64_t*>(packed);
  for (groups *= 2; groups > 0; --groups, from += 4, out += 4) {
    const auto sums = hn::Add(PrefixSum(d, hn::LoadU(d, from)), mins);
    hn::StoreU(hn::Add(sums, carry), d, reinterpret_cast<uint64_t*>(out));
    carry = hn::Add(carry, hn::Broadcast<1>(hn::ConcatUpperUpper(d, sums, sums)));
  }
  return static_cast<int64_t>(hn::GetLane(carry));
}
#endif  // CFILE_DELTA_WIDE

template <typename T>
HWY_INLINE T DecodeMiniblocks(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                              size_t groups, T min_delta, T previous, T* out) {
  for (size_t i = 0; i < miniblocks; ++i) {
    const int width = widths[i];
    if (CFILE_DELTA_WIDE && width <= kMaxNarrowWidth) {
#if CFILE_DELTA_WIDE
      previous = DecodeNarrow<T>(packed, width, min_delta, previous, groups, out);
    } else if (width <= kMaxWideWidth) {
      previous = DecodeWide<T>(packed, width, min_delta, previous, groups, out);
#endif
    } else {
#if CFILE_DELTA_WIDE
      if constexpr (sizeof(T) == 8) {
        if (width == 64) {
          previous = DecodeWords(packed, min_delta, previous, groups, out);
          packed += groups * 64;
          out += groups * kDeltaGroup;
          continue;
        }
      }
#endif
      previous = DecodeDeltaGroupsPortably<T>(packed, width, min_delta, previous, groups, out);
    }
    packed += groups * static_cast<size_t>(width);
    out += groups * kDeltaGroup;
  }
  return previous;
}
int32_t DecodeDeltas32(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                       size_t groups, int32_t min_delta, int32_t previous, int32_t* out) {
  return DecodeMiniblocks<int32_t>(packed, widths, miniblocks, groups, min_delta, previous, out);
}
int64_t DecodeDeltas64(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                       size_t groups, int64_t min_delta, int64_t previous, int64_t* out) {
  return DecodeMiniblocks<int64_t>(packed, widths, miniblocks, groups, min_delta, previous, out);
}

template <typename T, typename U = std::make_unsigned_t<T>>
HWY_INLINE T Deltas(const T* values, size_t count, size_t miniblock_size, T* deltas, U* ranges) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto highest = hn::Set(d, std::numeric_limits<T>::max());
  const auto lowest = hn::Set(d, std::numeric_limits<T>::min());
  auto leasts = highest;
  T least = std::numeric_limits<T>::max();
  U* range = ranges;
  for (size_t i = 0; i < count;) {
    const size_t end = std::min(count, i + miniblock_size);
    auto mosts = lowest;
    for (; i + lanes <= end; i += lanes) {
      const auto delta = hn::Sub(hn::LoadU(d, values + i), hn::LoadU(d, values + i - 1));
      hn::StoreU(delta, d, deltas + i);
      leasts = hn::Min(leasts, delta);
      mosts = hn::Max(mosts, delta);
    }
    T most = hn::GetLane(hn::MaxOfLanes(d, mosts));
    for (; i < end; ++i) {
      deltas[i] = static_cast<T>(static_cast<U>(values[i]) - static_cast<U>(*(values + i - 1)));
      least = std::min(least, deltas[i]);
      most = std::max(most, deltas[i]);
    }
    *range++ = static_cast<U>(most);
  }
  least = std::min(least, hn::GetLane(hn::MinOfLanes(d, leasts)));
  for (U* each = ranges; each != range; ++each) *each -= static_cast<U>(least);
  const size_t padded = (count + miniblock_size - 1) / miniblock_size * miniblock_size;
  std::fill(deltas + count, deltas + padded, least);
  return least;
}
int32_t MakeDeltas32(const int32_t* values, size_t count, size_t miniblock_size, int32_t* deltas,
                     uint32_t* ranges) {
  return Deltas<int32_t>(values, count, miniblock_size, deltas, ranges);
}
int64_t MakeDeltas64(const int64_t* values, size_t count, size_t miniblock_size, int64_t* deltas,
                     uint64_t* ranges) {
  return Deltas<int64_t>(values, count, miniblock_size, deltas, ranges);
}

// Two words of 4 * width bits each: the first four values of a group and the next four.
struct PackedFours {
  uint64_t low;
  uint64_t high;
};
#if CFILE_DELTA_WIDE
template <typename T>
HWY_INLINE PackedFours PackFours(const T* deltas, hn::Vec<hn::FixedTag<uint64_t, 4>> shifts,
                                 T least) {
  const hn::FixedTag<uint64_t, 4> d;
  hn::Vec<decltype(d)> low, high;
  if constexpr (sizeof(T) == 4) {
    const hn::FixedTag<uint32_t, 8> d32;
    const auto values = hn::Sub(hn::LoadU(d32, reinterpret_cast<const uint32_t*>(deltas)),
                                hn::Set(d32, static_cast<uint32_t>(least)));
    low = hn::PromoteTo(d, hn::LowerHalf(values));
    high = hn::PromoteTo(d, hn::UpperHalf(hn::Half<decltype(d32)>(), values));
  } else {
    const auto leasts = hn::Set(d, static_cast<uint64_t>(least));
    const auto* const from = reinterpret_cast<const uint64_t*>(deltas);
    low = hn::Sub(hn::LoadU(d, from), leasts);
    high = hn::Sub(hn::LoadU(d, from + 4), leasts);
  }
  low = hn::Shl(low, shifts);
  high = hn::Shl(high, shifts);
  const auto pairs = hn::Or(hn::InterleaveLower(d, low, high), hn::InterleaveUpper(d, low, high));
  const hn::Half<decltype(d)> half;
  const auto fours = hn::Or(hn::LowerHalf(half, pairs), hn::UpperHalf(half, pairs));
  return {hn::GetLane(fours), hn::ExtractLane(fours, 1)};
}
#endif

// For widths of up to 16 bits. No branch depends on the width, which may change with each
// miniblock.
template <typename T>
HWY_INLINE void PackNarrow(const T* deltas, T least, size_t groups, size_t width, uint8_t* out) {
  const size_t bit = 4 * width;  // of the next four values: at a byte, or 4 bits later
  const size_t begin = bit / 8;
  // If the next four begin inside a byte, the second store writes that byte again, with the last
  // bits of the first four. Otherwise nothing is shared; the shift is then 0, because 64 would be
  // undefined.
  const size_t shared_shift = bit % 8 == 0 ? 0 : 8 * begin;
  const uint64_t shared_mask = bit % 8 == 0 ? 0 : ~uint64_t{0};
#if CFILE_DELTA_WIDE
  const hn::FixedTag<uint64_t, 4> d;
  const auto shifts = hn::Mul(hn::Iota(d, 0), hn::Set(d, width));
#endif
  for (; groups > 0; --groups, deltas += kDeltaGroup, out += width) {
#if CFILE_DELTA_WIDE
    const PackedFours fours = PackFours(deltas, shifts, least);
#else
    const auto value = [&](size_t i) {
      using U = std::make_unsigned_t<T>;
      return uint64_t{static_cast<U>(static_cast<U>(deltas[i]) - static_cast<U>(least))};
    };
    const auto four = [&](size_t i) {
      return (value(i) | value(i + 1) << width) | (value(i + 2) | value(i + 3) << width)
                                                      << (2 * width);
    };
    const PackedFours fours = {four(0), four(4)};
#endif
    StoreLittleEndian<uint64_t>(fours.low, out);
    StoreLittleEndian<uint64_t>((fours.low >> shared_shift & shared_mask) | fours.high << (bit % 8),
                                out + begin);
  }
}

template <typename T, typename U = std::make_unsigned_t<T>>
HWY_INLINE size_t Pack(T* deltas, T least, const U* ranges, size_t miniblocks, size_t groups,
                       uint8_t* widths, uint8_t* out) {
  uint8_t* const begin = out;
  for (size_t i = 0; i < miniblocks; ++i, deltas += groups * kDeltaGroup) {
    const auto width = static_cast<size_t>(std::bit_width(ranges[i]));
    widths[i] = static_cast<uint8_t>(width);
    if (width <= 16) {
      PackNarrow<T>(deltas, least, groups, width, out);
    } else {
      U* const values = reinterpret_cast<U*>(deltas);
      for (size_t j = 0; j < groups * kDeltaGroup; ++j) values[j] -= static_cast<U>(least);
      kPackers<U>[width](values, groups, out);
    }
    out += groups * width;
  }
  return static_cast<size_t>(out - begin);
}
size_t PackDeltas32(int32_t* deltas, int32_t least, const uint32_t* ranges, size_t miniblocks,
                    size_t groups, uint8_t* widths, uint8_t* out) {
  return Pack<int32_t>(deltas, least, ranges, miniblocks, groups, widths, out);
}
size_t PackDeltas64(int64_t* deltas, int64_t least, const uint64_t* ranges, size_t miniblocks,
                    size_t groups, uint8_t* widths, uint8_t* out) {
  return Pack<int64_t>(deltas, least, ranges, miniblocks, groups, widths, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(DecodeDeltas32);
HWY_EXPORT(DecodeDeltas64);
HWY_EXPORT(MakeDeltas32);
HWY_EXPORT(MakeDeltas64);
HWY_EXPORT(PackDeltas32);
HWY_EXPORT(PackDeltas64);

}  // namespace

template <>
int32_t DecodeDeltas<int32_t>(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                              size_t groups, int32_t min_delta, int32_t previous, int32_t* out) {
  return HWY_DYNAMIC_DISPATCH(DecodeDeltas32)(packed, widths, miniblocks, groups, min_delta,
                                              previous, out);
}
template <>
int64_t DecodeDeltas<int64_t>(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                              size_t groups, int64_t min_delta, int64_t previous, int64_t* out) {
  return HWY_DYNAMIC_DISPATCH(DecodeDeltas64)(packed, widths, miniblocks, groups, min_delta,
                                              previous, out);
}
template <>
int32_t MakeDeltas<int32_t>(const int32_t* values, size_t count, size_t miniblock_size,
                            int32_t* deltas, uint32_t* ranges) {
  return HWY_DYNAMIC_DISPATCH(MakeDeltas32)(values, count, miniblock_size, deltas, ranges);
}
template <>
int64_t MakeDeltas<int64_t>(const int64_t* values, size_t count, size_t miniblock_size,
                            int64_t* deltas, uint64_t* ranges) {
  return HWY_DYNAMIC_DISPATCH(MakeDeltas64)(values, count, miniblock_size, deltas, ranges);
}
template <>
size_t PackDeltas<int32_t>(int32_t* deltas, int32_t least, const uint32_t* ranges,
                           size_t miniblocks, size_t groups, uint8_t* widths, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(PackDeltas32)(deltas, least, ranges, miniblocks, groups, widths, out);
}
template <>
size_t PackDeltas<int64_t>(int64_t* deltas, int64_t least, const uint64_t* ranges,
                           size_t miniblocks, size_t groups, uint8_t* widths, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(PackDeltas64)(deltas, least, ranges, miniblocks, groups, widths, out);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
