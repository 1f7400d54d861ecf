#include "encodings/kernels/delta_kernels.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/delta_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/kernels/bit_packing-inl.h"

#ifndef CFILE_ENCODINGS_DELTA_KERNELS_PORTABLE
#define CFILE_ENCODINGS_DELTA_KERNELS_PORTABLE
namespace cfile::encodings {

// Decodes groups of any width on any processor.
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
#endif  // CFILE_ENCODINGS_DELTA_KERNELS_PORTABLE

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if CFILE_UNPACK_SIMD
// True if vectors have two blocks of 16 bytes, false if they have one block.
constexpr bool kTwoBlocks = kUnpackVectorBytes == 32;

// Returns, in each lane, the sum of that lane and all lanes below it in its block of 16 bytes.
template <typename D, typename V>
HWY_INLINE V BlockPrefixSum(D d, V v) {
  v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
  if constexpr (sizeof(hn::TFromD<D>) == 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
  return v;
}
// Returns, in each lane, the sum of that lane and all lanes below it.
template <typename D, typename V>
HWY_INLINE V PrefixSum(D d, V v) {
  v = BlockPrefixSum(d, v);
  if constexpr (!kTwoBlocks) return v;
  constexpr int kLast = 16 / sizeof(hn::TFromD<D>) - 1;
  // In each block, the sum of the block.
  const V last = hn::Broadcast<kLast>(v);
  return hn::Add(v, hn::ConcatLowerLower(d, last, hn::Zero(d)));
}
// Returns, in each lane, the sum of that lane and all lanes below it in its half of the vector. The
// lanes have 32 bits.
template <typename D, typename V>
HWY_INLINE V HalfPrefixSum(D d, V v) {
  if constexpr (kTwoBlocks) return BlockPrefixSum(d, v);
  const hn::Repartition<uint64_t, D> d_pairs;
  return hn::Add(v, hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(d_pairs, v))));
}
// Returns a vector each of whose lanes is the last lane of `v`.
template <typename D, typename V>
HWY_INLINE V BroadcastLast(D d, V v) {
  using T = hn::TFromD<D>;
  constexpr size_t kLast = kUnpackVectorBytes / sizeof(T) - 1;
  if constexpr (kTwoBlocks) {
    return hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::Set(d, T{kLast})));
  } else {
    return hn::Broadcast<kLast>(v);
  }
}
// Returns a vector with 1, 2, 3 ... times `step`. The lanes have 64 bits.
template <typename D>
HWY_INLINE hn::Vec<D> Multiples(D d, uint64_t step) {
  const auto one = hn::Set(d, step);
  const auto two = hn::Add(one, one);
  const auto one_two = hn::InterleaveLower(d, one, two);
  if constexpr (kTwoBlocks) {
    return hn::ConcatLowerLower(d, hn::Add(one_two, two), one_two);
  } else {
    return one_two;
  }
}

// Decodes groups of deltas that GroupUnpacker<uint32_t> can unpack. The sum of 8 such deltas fits
// in 32 bits, so that only the sums are widened.
template <typename T>
HWY_INLINE T DecodeNarrow(const uint8_t* packed, int width, T min_delta, T previous, size_t groups,
                          T* out) {
  using U = std::make_unsigned_t<T>;
  using Unpacker = GroupUnpacker<uint32_t>;
  const Unpacker::D d;
  const Unpacker unpacker(width);
  const size_t step = static_cast<size_t>(width);
  const U min = static_cast<U>(min_delta);
  U* to = reinterpret_cast<U*>(out);
  if constexpr (sizeof(T) == 4) {
    const auto mins = hn::Mul(hn::Set(d, min), hn::Iota(d, 1));
    auto carry = hn::Set(d, static_cast<U>(previous));
    for (; groups > 0; --groups, packed += step) {
      for (size_t vector = 0; vector < Unpacker::kVectors; ++vector, to += Unpacker::kLanes) {
        const auto sums = hn::Add(PrefixSum(d, unpacker.Unpack(packed, vector)), mins);
        hn::StoreU(hn::Add(sums, carry), d, to);
        carry = hn::Add(carry, BroadcastLast(d, sums));
      }
    }
    return static_cast<T>(hn::GetLane(carry));
  } else {
    const GroupUnpacker<uint64_t>::D d64;
    const auto mins = Multiples(d64, min);
    auto carry = hn::Set(d64, static_cast<U>(previous));
    // The lower and the upper half of a vector are summed separately with 32 bits, and then widened
    // to 64 bits; `carry` is added.
    for (; groups > 0; --groups, packed += step) {
      for (size_t vector = 0; vector < Unpacker::kVectors; ++vector, to += Unpacker::kLanes) {
        const auto sums = HalfPrefixSum(d, unpacker.Unpack(packed, vector));
        const auto low = hn::Add(hn::PromoteTo(d64, hn::LowerHalf(sums)), mins);
        const auto upper =
            hn::Add(hn::PromoteTo(d64, hn::UpperHalf(hn::Half<decltype(d)>(), sums)), mins);
        hn::StoreU(hn::Add(low, carry), d64, to);
        carry = hn::Add(carry, BroadcastLast(d64, low));
        hn::StoreU(hn::Add(upper, carry), d64, to + Unpacker::kLanes / 2);
        carry = hn::Add(carry, BroadcastLast(d64, upper));
      }
    }
    return static_cast<T>(hn::GetLane(carry));
  }
}
#endif  // CFILE_UNPACK_SIMD

#if CFILE_PACK_WIDE
// Decodes groups of deltas that GroupUnpacker<uint64_t> can unpack.
template <typename T>
HWY_INLINE T DecodeWide(const uint8_t* packed, int width, T min_delta, T previous, size_t groups,
                        T* out) {
  const hn::FixedTag<uint64_t, 4> d;
  const GroupUnpacker<uint64_t> unpacker(width);
  const auto mins = Multiples(d, static_cast<uint64_t>(min_delta));
  auto carry = hn::Set(d, static_cast<uint64_t>(previous));
  for (; groups > 0; --groups, packed += width) {
    for (size_t half = 0; half < 2; ++half, out += 4) {
      const auto sums = hn::Add(PrefixSum(d, unpacker.Unpack(packed, half)), mins);
      const auto values = hn::Add(sums, carry);
      if constexpr (sizeof(T) == 4) {
        const hn::FixedTag<uint32_t, 4> d32;
        hn::StoreU(hn::TruncateTo(d32, values), d32, reinterpret_cast<uint32_t*>(out));
      } else {
        hn::StoreU(values, d, reinterpret_cast<uint64_t*>(out));
      }
      carry = hn::Add(carry, BroadcastLast(d, sums));
    }
  }
  return static_cast<T>(hn::GetLane(carry));
}

// Decodes groups of deltas of 64 bits each. T is int64_t.
template <typename T>
HWY_INLINE T DecodeWords(const uint8_t* packed, T min_delta, T previous, size_t groups, T* out) {
  const hn::FixedTag<uint64_t, 4> d;
  const auto mins = Multiples(d, static_cast<uint64_t>(min_delta));
  auto carry = hn::Set(d, static_cast<uint64_t>(previous));
  const auto* from = reinterpret_cast<const uint64_t*>(packed);
  for (groups *= 2; groups > 0; --groups, from += 4, out += 4) {
    const auto sums = hn::Add(PrefixSum(d, hn::LoadU(d, from)), mins);
    hn::StoreU(hn::Add(sums, carry), d, reinterpret_cast<uint64_t*>(out));
    carry = hn::Add(carry, BroadcastLast(d, sums));
  }
  return static_cast<T>(hn::GetLane(carry));
}
#endif  // CFILE_PACK_WIDE

template <typename T>
HWY_INLINE T DecodeMiniblocks(const uint8_t* packed, const uint8_t* widths, size_t miniblocks,
                              size_t groups, T min_delta, T previous, T* out) {
  while (miniblocks > 0) {
    const int width = widths[0];
    // Miniblocks of the same width are decoded as one, because each call below has a cost.
    size_t same = 1;
    while (same < miniblocks && widths[same] == widths[0]) ++same;
    const size_t some = same * groups;
#if CFILE_UNPACK_SIMD
    if (width <= GroupUnpacker<uint32_t>::kMaxWidth) {
      previous = DecodeNarrow<T>(packed, width, min_delta, previous, some, out);
    } else  // NOLINT: continues below
#endif
#if CFILE_PACK_WIDE
        if (width <= GroupUnpacker<uint64_t>::kMaxWidth) {
      previous = DecodeWide<T>(packed, width, min_delta, previous, some, out);
    } else if (sizeof(T) == 8 && width == 64) {
      previous = DecodeWords<T>(packed, min_delta, previous, some, out);
    } else  // NOLINT: continues below
#endif
    {
      previous = DecodeDeltaGroupsPortably<T>(packed, width, min_delta, previous, some, out);
    }
    packed += some * static_cast<size_t>(width);
    out += some * kDeltaGroup;
    widths += same;
    miniblocks -= same;
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

template <typename T, typename U = std::make_unsigned_t<T>>
HWY_INLINE size_t Pack(const T* deltas, T least, const U* ranges, size_t miniblocks, size_t groups,
                       uint8_t* widths, uint8_t* out) {
  uint8_t* const begin = out;
  for (size_t i = 0; i < miniblocks; ++i, deltas += groups * kDeltaGroup) {
    const auto width = static_cast<size_t>(std::bit_width(ranges[i]));
    widths[i] = static_cast<uint8_t>(width);
    PackGroups<U>(reinterpret_cast<const U*>(deltas), static_cast<U>(least), groups, width, out);
    out += groups * width;
  }
  return static_cast<size_t>(out - begin);
}
size_t PackDeltas32(const int32_t* deltas, int32_t least, const uint32_t* ranges, size_t miniblocks,
                    size_t groups, uint8_t* widths, uint8_t* out) {
  return Pack<int32_t>(deltas, least, ranges, miniblocks, groups, widths, out);
}
size_t PackDeltas64(const int64_t* deltas, int64_t least, const uint64_t* ranges, size_t miniblocks,
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
size_t PackDeltas<int32_t>(const int32_t* deltas, int32_t least, const uint32_t* ranges,
                           size_t miniblocks, size_t groups, uint8_t* widths, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(PackDeltas32)(deltas, least, ranges, miniblocks, groups, widths, out);
}
template <>
size_t PackDeltas<int64_t>(const int64_t* deltas, int64_t least, const uint64_t* ranges,
                           size_t miniblocks, size_t groups, uint8_t* widths, uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(PackDeltas64)(deltas, least, ranges, miniblocks, groups, widths, out);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
