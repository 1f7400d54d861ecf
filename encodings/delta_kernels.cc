#include "encodings/delta_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "encodings/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/delta_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_DELTA_KERNELS_TABLES
#define CFILE_ENCODINGS_DELTA_KERNELS_TABLES
namespace cfile::encodings {

// How 8 packed values of one width come into the lanes of vectors: kParts loads of 16 bytes, each
// for 8 / kParts values; the bytes of each lane out of its load; then a shift.
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

// A value and the up to 7 bits before it in its first byte fit a lane of 32 or 64 bits.
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

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_DELTA_KERNELS_TABLES

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of 32 bytes, whose bytes can be picked and whose lanes shifted each by its own count.
#define CFILE_DELTA_WIDE                                                         \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE && \
   HWY_MAX_BYTES >= 32)

#if CFILE_DELTA_WIDE
// The lanes of 32 bytes from two loads.
template <typename D>
HWY_INLINE hn::Vec<D> UnpackLanes(D d, const uint8_t* low, const uint8_t* high,
                                  hn::Vec<hn::Repartition<uint8_t, D>> bytes, hn::Vec<D> shifts,
                                  hn::Vec<D> mask) {
  const hn::Repartition<uint8_t, D> d8;
  const hn::Half<decltype(d8)> half;
  const auto loaded = hn::Combine(d8, hn::LoadU(half, high), hn::LoadU(half, low));
  return hn::And(hn::Shr(hn::BitCast(d, hn::TableLookupBytes(loaded, bytes)), shifts), mask);
}

// Each lane's sum with all below it in a vector of two blocks.
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

// Widths of up to kMaxNarrowWidth bits: sums of 8 such deltas fit 32 bits, so that only whole sums
// are widened.
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

// Widths of up to kMaxWideWidth bits, in lanes of 64.
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
HWY_INLINE T Deltas(const T* values, size_t count, size_t miniblock_size, U* deltas, U* bits) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<U> du;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  auto leasts = hn::Set(d, std::numeric_limits<T>::max());
  for (; i + lanes <= count; i += lanes) {
    const auto delta = hn::Sub(hn::LoadU(d, values + i), hn::LoadU(d, values + i - 1));
    hn::StoreU(delta, d, reinterpret_cast<T*>(deltas + i));
    leasts = hn::Min(leasts, delta);
  }
  T least = hn::GetLane(hn::MinOfLanes(d, leasts));
  for (; i < count; ++i) {
    deltas[i] = static_cast<U>(values[i]) - static_cast<U>(*(values + i - 1));
    least = std::min(least, static_cast<T>(deltas[i]));
  }
  const size_t padded = (count + miniblock_size - 1) / miniblock_size * miniblock_size;
  std::fill(deltas + count, deltas + padded, static_cast<U>(least));
  const auto subtrahend = hn::Set(du, static_cast<U>(least));
  for (i = 0; i < padded; i += miniblock_size) {
    auto ones = hn::Zero(du);
    U rest = 0;
    size_t j = i;
    for (; j + lanes <= i + miniblock_size; j += lanes) {
      const auto delta = hn::Sub(hn::LoadU(du, deltas + j), subtrahend);
      hn::StoreU(delta, du, deltas + j);
      ones = hn::Or(ones, delta);
    }
    for (; j < i + miniblock_size; ++j) rest |= deltas[j] -= static_cast<U>(least);
    HWY_ALIGN U all[HWY_MAX_BYTES / sizeof(U)];
    hn::Store(ones, du, all);
    for (j = 0; j < lanes; ++j) rest |= all[j];
    *bits++ = rest;
  }
  return least;
}
int32_t MakeDeltas32(const int32_t* values, size_t count, size_t miniblock_size, uint32_t* deltas,
                     uint32_t* bits) {
  return Deltas<int32_t>(values, count, miniblock_size, deltas, bits);
}
int64_t MakeDeltas64(const int64_t* values, size_t count, size_t miniblock_size, uint64_t* deltas,
                     uint64_t* bits) {
  return Deltas<int64_t>(values, count, miniblock_size, deltas, bits);
}

// Widths of up to 16 bits, 4 values to a word: no branch depends on the width, which may change
// with each miniblock.
template <typename U>
HWY_INLINE void PackNarrow(const U* values, size_t groups, size_t width, uint8_t* out) {
  for (; groups > 0; --groups, values += kDeltaGroup, out += width) {
    const auto four = [&](const U* v) {
      return (uint64_t{v[0]} | uint64_t{v[1]} << width) | (uint64_t{v[2]} | uint64_t{v[3]} << width)
                                                              << (2 * width);
    };
    const uint64_t low = four(values);
    const uint64_t high = four(values + 4);
    const size_t bit = 4 * width;  // where the second four begin: whole bytes and 0 or 4 bits
    StoreLittleEndian<uint64_t>(low, out);
    // The last byte of the first four is stored again. 4 * 16 bits begin on a byte.
    const size_t begin = bit / 8;
    const uint64_t shared = bit % 8 == 0 ? 0 : low >> (8 * begin);
    StoreLittleEndian<uint64_t>(shared | high << (bit % 8), out + begin);
  }
}
void PackNarrow32(const uint32_t* values, size_t groups, size_t width, uint8_t* out) {
  PackNarrow<uint32_t>(values, groups, width, out);
}
void PackNarrow64(const uint64_t* values, size_t groups, size_t width, uint8_t* out) {
  PackNarrow<uint64_t>(values, groups, width, out);
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
HWY_EXPORT(PackNarrow32);
HWY_EXPORT(PackNarrow64);

// What value kIndex of a group brings to its packed word kWord.
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
constexpr auto kPackers = Packers<U>(std::make_index_sequence<8 * sizeof(U) + 1>());

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
                            uint32_t* deltas, uint32_t* bits) {
  return HWY_DYNAMIC_DISPATCH(MakeDeltas32)(values, count, miniblock_size, deltas, bits);
}
template <>
int64_t MakeDeltas<int64_t>(const int64_t* values, size_t count, size_t miniblock_size,
                            uint64_t* deltas, uint64_t* bits) {
  return HWY_DYNAMIC_DISPATCH(MakeDeltas64)(values, count, miniblock_size, deltas, bits);
}

template <typename U>
void PackDeltaGroups(const U* values, size_t groups, int width, uint8_t* out) {
  if (width <= 16) {
    if constexpr (sizeof(U) == 4) {
      HWY_DYNAMIC_DISPATCH(PackNarrow32)(values, groups, static_cast<size_t>(width), out);
    } else {
      HWY_DYNAMIC_DISPATCH(PackNarrow64)(values, groups, static_cast<size_t>(width), out);
    }
    return;
  }
  kPackers<U>[static_cast<size_t>(width)](values, groups, out);
}
template void PackDeltaGroups<uint32_t>(const uint32_t*, size_t, int, uint8_t*);
template void PackDeltaGroups<uint64_t>(const uint64_t*, size_t, int, uint8_t*);

}  // namespace cfile::encodings
#endif  // HWY_ONCE
