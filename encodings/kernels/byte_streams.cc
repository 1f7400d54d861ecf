#include "encodings/kernels/byte_streams.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/byte_streams.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A block of 16 values is an array of kWidth vectors of 16 bytes. Interleaving the first half of
// the array with the second (a perfect shuffle) rotates the bits of each byte's index by one.
// Converting values to streams is a rotation by 4 bits, because 4 bits of the index are the lane
// number. Converting back is a rotation by the other bits, which are the byte's number in its
// value.
//
// The same shuffles convert values of 12 bytes to streams. A perfect shuffle of n bytes moves the
// byte at index i to index 2 * i modulo n - 1, even if n is not a power of two. Byte b of value v
// is at index i = 12 * v + b. Four shuffles move it to index 16 * i, which is v + 16 * b modulo
// 16 * 12 - 1. Converting back takes four inverse shuffles. One Deal does two inverse shuffles.
//
// Vectors of 32 bytes hold two such arrays, one in each half.

#if HWY_TARGET != HWY_SCALAR

#if HWY_ARCH_X86 && (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL)
using D = hn::FixedTag<uint8_t, 32>;
constexpr size_t kLanes = 32;

// Loads vector j of both arrays of `width` vectors at `p`.
HWY_INLINE hn::Vec<D> LoadVector(const uint8_t* p, size_t width, size_t j) {
  const hn::FixedTag<uint8_t, 16> half;
  return hn::Combine(D(), hn::LoadU(half, p + 16 * (width + j)), hn::LoadU(half, p + 16 * j));
}
// Stores vectors j and j + 1 of both arrays. One call stores two vectors so that each store is a
// whole vector.
HWY_INLINE void StorePair(hn::Vec<D> x, hn::Vec<D> next, uint8_t* p, size_t width, size_t j) {
  hn::StoreU(hn::ConcatLowerLower(D(), next, x), D(), p + 16 * j);
  hn::StoreU(hn::ConcatUpperUpper(D(), next, x), D(), p + 16 * (width + j));
}
#else
using D = hn::FixedTag<uint8_t, 16>;
constexpr size_t kLanes = 16;

HWY_INLINE hn::Vec<D> LoadVector(const uint8_t* p, size_t /*width*/, size_t j) {
  return hn::LoadU(D(), p + 16 * j);
}
HWY_INLINE void StorePair(hn::Vec<D> x, hn::Vec<D> next, uint8_t* p, size_t /*width*/, size_t j) {
  hn::StoreU(x, D(), p + 16 * j);
  hn::StoreU(next, D(), p + 16 * (j + 1));
}
#endif

// Loops over vectors are written as parameter packs. If a loop indexed the array of vectors, the
// compiler would keep it in memory.
template <size_t kWidth>
using Numbers = std::make_index_sequence<kWidth>;

template <int kTimes, size_t kWidth, size_t... kJ>
HWY_INLINE void Shuffle(hn::Vec<D> (&x)[kWidth], std::index_sequence<kJ...> half) {
  if constexpr (kTimes > 0) {
    const hn::Vec<D> even[] = {hn::InterleaveLower(D(), x[kJ], x[kJ + kWidth / 2])...};
    const hn::Vec<D> odd[] = {hn::InterleaveUpper(D(), x[kJ], x[kJ + kWidth / 2])...};
    ((x[2 * kJ] = even[kJ], x[2 * kJ + 1] = odd[kJ]), ...);
    Shuffle<kTimes - 1>(x, half);
  }
}

constexpr int Log2(size_t width) { return width == 1 ? 0 : 1 + Log2(width / 2); }

// Groups the bytes of the four vectors x[4 * kK] to x[4 * kK + 3] by their index modulo 4. `to` has
// four equal parts; the byte with index i goes to part i % 4, at index i / 4.
template <size_t kK, size_t kWidth>
HWY_INLINE void DealFour(const hn::Vec<D> (&x)[kWidth], hn::Vec<D> (&to)[kWidth]) {
  const hn::Repartition<uint32_t, D> d32;
  const hn::Repartition<uint64_t, D> d64;
  alignas(16) static constexpr uint8_t kQuarters[16] = {0, 4, 8,  12, 1, 5, 9,  13,
                                                        2, 6, 10, 14, 3, 7, 11, 15};
  const auto quarters = hn::LoadDup128(D(), kQuarters);
  const auto a = hn::BitCast(d32, hn::TableLookupBytes(x[4 * kK], quarters));
  const auto b = hn::BitCast(d32, hn::TableLookupBytes(x[4 * kK + 1], quarters));
  const auto c = hn::BitCast(d32, hn::TableLookupBytes(x[4 * kK + 2], quarters));
  const auto d = hn::BitCast(d32, hn::TableLookupBytes(x[4 * kK + 3], quarters));
  const auto ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
  const auto cd = hn::BitCast(d64, hn::InterleaveLower(d32, c, d));
  const auto upper_ab = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
  const auto upper_cd = hn::BitCast(d64, hn::InterleaveUpper(d32, c, d));
  to[kK] = hn::BitCast(D(), hn::InterleaveLower(d64, ab, cd));
  to[kK + kWidth / 4] = hn::BitCast(D(), hn::InterleaveUpper(d64, ab, cd));
  to[kK + kWidth / 2] = hn::BitCast(D(), hn::InterleaveLower(d64, upper_ab, upper_cd));
  to[kK + kWidth / 4 * 3] = hn::BitCast(D(), hn::InterleaveUpper(d64, upper_ab, upper_cd));
}
// Does kTimes Deals: calls DealFour for all vectors, each time.
template <int kTimes, size_t kWidth, size_t... kK>
HWY_INLINE void Deal(hn::Vec<D> (&x)[kWidth], std::index_sequence<kK...> quarter) {
  if constexpr (kTimes > 0) {
    hn::Vec<D> dealt[kWidth];
    (DealFour<kK>(x, dealt), ...);
    ((x[4 * kK] = dealt[4 * kK], x[4 * kK + 1] = dealt[4 * kK + 1],
      x[4 * kK + 2] = dealt[4 * kK + 2], x[4 * kK + 3] = dealt[4 * kK + 3]),
     ...);
    Deal<kTimes - 1>(x, quarter);
  }
}

// Converts all values but the last few, and returns how many.
template <size_t... kJ>
size_t Split(const uint8_t* HWY_RESTRICT values, size_t count, uint8_t* HWY_RESTRICT streams,
             size_t stride, std::index_sequence<kJ...>) {
  constexpr size_t kWidth = sizeof...(kJ);
  size_t done = 0;
  for (; count - done >= kLanes; done += kLanes) {
    hn::Vec<D> x[] = {LoadVector(values + done * kWidth, kWidth, kJ)...};
    Shuffle<4>(x, Numbers<kWidth / 2>());
    (hn::StoreU(x[kJ], D(), streams + kJ * stride + done), ...);
  }
  return done;
}

template <size_t kWidth, size_t... kJ>
HWY_INLINE void StoreAll(const hn::Vec<D> (&x)[kWidth], uint8_t* p, std::index_sequence<kJ...>) {
  (StorePair(x[2 * kJ], x[2 * kJ + 1], p, kWidth, 2 * kJ), ...);
}

template <size_t... kJ>
size_t Join(const uint8_t* HWY_RESTRICT streams, size_t stride, size_t count,
            uint8_t* HWY_RESTRICT values, std::index_sequence<kJ...>) {
  constexpr size_t kWidth = sizeof...(kJ);
  size_t done = 0;
  for (; count - done >= kLanes; done += kLanes) {
    hn::Vec<D> x[] = {hn::LoadU(D(), streams + kJ * stride + done)...};
    if constexpr (std::has_single_bit(kWidth)) {
      Shuffle<Log2(kWidth)>(x, Numbers<kWidth / 2>());
    } else {
      Deal<2>(x, Numbers<kWidth / 4>());
    }
    StoreAll(x, values + done * kWidth, Numbers<kWidth / 2>());
  }
  return done;
}

#else

// Without vectors there are no kernels.
template <size_t kWidth>
struct Numbers {};
template <typename Width>
size_t Split(const uint8_t*, size_t, uint8_t*, size_t, Width) {
  return 0;
}
template <typename Width>
size_t Join(const uint8_t*, size_t, size_t, uint8_t*, Width) {
  return 0;
}

#endif  // HWY_TARGET != HWY_SCALAR

size_t SplitWhole(const uint8_t* values, size_t count, size_t width, uint8_t* streams,
                  size_t stride) {
  switch (width) {
    case 2:
      return Split(values, count, streams, stride, Numbers<2>());
    case 4:
      return Split(values, count, streams, stride, Numbers<4>());
    case 8:
      return Split(values, count, streams, stride, Numbers<8>());
    case 12:
      return Split(values, count, streams, stride, Numbers<12>());
    case 16:
      return Split(values, count, streams, stride, Numbers<16>());
    default:
      return 0;
  }
}

size_t JoinWhole(const uint8_t* streams, size_t stride, size_t count, size_t width,
                 uint8_t* values) {
  switch (width) {
    case 2:
      return Join(streams, stride, count, values, Numbers<2>());
    case 4:
      return Join(streams, stride, count, values, Numbers<4>());
    case 8:
      return Join(streams, stride, count, values, Numbers<8>());
    case 12:
      return Join(streams, stride, count, values, Numbers<12>());
    case 16:
      return Join(streams, stride, count, values, Numbers<16>());
    default:
      return 0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(SplitWhole);
HWY_EXPORT(JoinWhole);

// Widths without a kernel are converted in tiles of this many values, which stay in the cache.
constexpr size_t kTileValues = 256;

}  // namespace

void SplitByteStreams(const uint8_t* values, size_t count, size_t width, uint8_t* streams,
                      size_t stride) {
  if (count == 0) return;
  if (width == 1) {
    std::memcpy(streams, values, count);
    return;
  }
  size_t begin = HWY_DYNAMIC_DISPATCH(SplitWhole)(values, count, width, streams, stride);
  for (; begin < count; begin += kTileValues) {
    const size_t end = std::min(count, begin + kTileValues);
    for (size_t j = 0; j < width; ++j) {
      for (size_t i = begin; i < end; ++i) streams[j * stride + i] = values[i * width + j];
    }
  }
}

void JoinByteStreams(const uint8_t* streams, size_t stride, size_t count, size_t width,
                     uint8_t* values) {
  if (count == 0) return;
  if (width == 1) {
    std::memcpy(values, streams, count);
    return;
  }
  size_t begin = HWY_DYNAMIC_DISPATCH(JoinWhole)(streams, stride, count, width, values);
  for (; begin < count; begin += kTileValues) {
    const size_t end = std::min(count, begin + kTileValues);
    for (size_t j = 0; j < width; ++j) {
      for (size_t i = begin; i < end; ++i) values[i * width + j] = streams[j * stride + i];
    }
  }
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
