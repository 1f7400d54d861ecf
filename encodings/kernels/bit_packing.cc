#include "encodings/kernels/bit_packing.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "encodings/core/assert.h"
#include "encodings/kernels/bool_bits.h"
#include "encodings/kernels/min_max.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/bit_packing.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/kernels/bit_packing-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

void PackGroups32(const uint32_t* values, size_t groups, size_t width, uint8_t* out) {
  PackGroups<uint32_t>(values, 0, groups, width, out);
}
void PackGroups64(const uint64_t* values, size_t groups, size_t width, uint8_t* out) {
  PackGroups<uint64_t>(values, 0, groups, width, out);
}

// Unpacks values with SIMD vectors, if this is faster than scalar code. Returns how many: a
// multiple of 8, or 0.
template <typename T>
HWY_INLINE size_t UnpackVectors([[maybe_unused]] std::span<const uint8_t> packed,
                                [[maybe_unused]] int width, [[maybe_unused]] T* out,
                                [[maybe_unused]] size_t count) {
#if CFILE_UNPACK_SIMD
  const auto store = [](auto lanes, T* to) HWY_ATTR {
    const hn::DFromV<decltype(lanes)> d;
    if constexpr (sizeof(hn::TFromD<decltype(d)>) == sizeof(T)) {
      hn::StoreU(lanes, d, to);
    } else {
      const hn::Rebind<T, decltype(d)> d_narrow;
      hn::StoreU(hn::TruncateTo(d_narrow, lanes), d_narrow, to);
    }
  };
  if constexpr (sizeof(T) <= 4) {
    if (width <= GroupUnpacker<uint32_t>::kMaxWidth)
      return UnpackGroups<uint32_t>(packed, width, out, count, store);
  }
  // SSE cannot shift the lanes of a vector by different numbers.
  if constexpr (sizeof(T) >= 4 && (!HWY_ARCH_X86 || kUnpackVectorBytes >= 32)) {
    if (width <= GroupUnpacker<uint64_t>::kMaxWidth)
      return UnpackGroups<uint64_t>(packed, width, out, count, store);
  }
#endif
  return 0;
}
size_t UnpackVectors8(std::span<const uint8_t> packed, int width, uint8_t* out, size_t count) {
  return UnpackVectors(packed, width, out, count);
}
size_t UnpackVectors16(std::span<const uint8_t> packed, int width, uint16_t* out, size_t count) {
  return UnpackVectors(packed, width, out, count);
}
size_t UnpackVectors32(std::span<const uint8_t> packed, int width, uint32_t* out, size_t count) {
  return UnpackVectors(packed, width, out, count);
}
size_t UnpackVectors64(std::span<const uint8_t> packed, int width, uint64_t* out, size_t count) {
  return UnpackVectors(packed, width, out, count);
}

// Unpacks as many values as vectors can unpack. Returns their number, and sets `largest` to the
// largest of them.
size_t UnpackLargest(std::span<const uint8_t> packed, int width, uint32_t* out, size_t count,
                     uint32_t& largest) {
#if CFILE_UNPACK_SIMD
  using Unpacker = GroupUnpacker<uint32_t>;
  if (width > Unpacker::kMaxWidth) return 0;
  const Unpacker::D d;
  auto most = hn::Zero(d);
  const size_t done =
      UnpackGroups<uint32_t>(packed, width, out, count, [&](auto values, uint32_t* to) HWY_ATTR {
        most = hn::Max(most, values);
        hn::StoreU(values, d, to);
      });
  largest = hn::GetLane(hn::MaxOfLanes(d, most));
  return done;
#else
  (void)packed, (void)width, (void)out, (void)count, (void)largest;
  return 0;
#endif
}

// Unpacks as many values as whole vectors hold. Returns their number.
// Precondition: 1 <= width <= 8.
size_t UnpackNarrow16(std::span<const uint8_t> packed, int width, uint16_t* HWY_RESTRICT out,
                      size_t count) {
#if CFILE_UNPACK_SIMD
  const hn::CappedTag<uint16_t, 16> d;
  const hn::Repartition<uint8_t, decltype(d)> d8;
  constexpr size_t kMaxLanes = 16;
  const size_t lanes = hn::Lanes(d);
  // Each lane gets the two bytes that hold its value. A product moves the value to the upper end of
  // the lane, because the instruction sets have no shift by different numbers of 16-bit lanes.
  alignas(32) uint8_t picks[2 * kMaxLanes];
  alignas(32) uint16_t factors[kMaxLanes];
  const auto bits = static_cast<size_t>(width);
  for (size_t i = 0; i < kMaxLanes; ++i) {
    const size_t byte = i * bits / 8;
    picks[2 * i] = static_cast<uint8_t>(byte);
    // If `byte` is the last one, it holds the whole value.
    picks[2 * i + 1] = static_cast<uint8_t>(std::min<size_t>(byte + 1, 15));
    factors[i] = static_cast<uint16_t>(1u << (16 - bits - i * bits % 8));
  }
  const auto pick = hn::Load(d8, picks);
  const auto factor = hn::Load(d, factors);
  const uint8_t* p = packed.data();
  const uint8_t* const end = p + packed.size();
  size_t done = 0;
  for (; count - done >= lanes && end - p >= 16; done += lanes, p += lanes / 8 * bits) {
    const auto pairs = hn::TableLookupBytes(hn::LoadDup128(d8, p), pick);
    const auto moved = hn::Mul(hn::BitCast(d, pairs), factor);
    hn::StoreU(hn::ShiftRightSame(moved, 16 - width), d, out + done);
  }
  return done;
#else
  (void)packed, (void)width, (void)out, (void)count;
  return 0;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
namespace {

HWY_EXPORT(PackGroups32);
HWY_EXPORT(PackGroups64);
HWY_EXPORT(UnpackLargest);
HWY_EXPORT(UnpackNarrow16);
HWY_EXPORT(UnpackVectors8);
HWY_EXPORT(UnpackVectors16);
HWY_EXPORT(UnpackVectors32);
HWY_EXPORT(UnpackVectors64);

// For fewer values, choosing the instruction set takes longer than unpacking.
constexpr size_t kFewValues = 64;

// Unpacks values with SIMD vectors, if there are enough values and this is faster than scalar code.
// Returns how many it unpacked: a multiple of 8, or 0. Precondition: the first value begins at the
// first bit of `packed`.
template <typename T>
size_t UnpackWhole(std::span<const uint8_t> packed, int width, T* out, size_t count) {
  // The caller has faster code for these widths: it writes zeros, or copies the values.
  if (count < kFewValues || width == 0 || width == static_cast<int>(8 * sizeof(T))) return 0;
  if constexpr (sizeof(T) == 1) {
    return HWY_DYNAMIC_DISPATCH(UnpackVectors8)(packed, width, out, count);
  } else if constexpr (sizeof(T) == 2) {
    return width <= 8 ? HWY_DYNAMIC_DISPATCH(UnpackNarrow16)(packed, width, out, count)
                      : HWY_DYNAMIC_DISPATCH(UnpackVectors16)(packed, width, out, count);
  } else if constexpr (sizeof(T) == 4) {
    return HWY_DYNAMIC_DISPATCH(UnpackVectors32)(packed, width, out, count);
  } else {
    return HWY_DYNAMIC_DISPATCH(UnpackVectors64)(packed, width, out, count);
  }
}

// Unpacks the 8 values of kWidth bits at `packed`. May read 8 bytes after the kWidth bytes of the
// group.
template <typename T, int kWidth>
inline void UnpackGroup(const uint8_t* packed, T* out) {
  if constexpr (kWidth == 0) {
    std::memset(out, 0, 8 * sizeof(T));
  } else if constexpr (kWidth == 8 * sizeof(T)) {
    std::memcpy(out, packed, 8 * sizeof(T));
  } else {
    constexpr uint64_t kMask = LowBits(kWidth);
    for (int i = 0; i < 8; ++i) {  // the compiler unrolls this: all offsets are constants
      const int byte = i * kWidth / 8;
      const int shift = i * kWidth % 8;
      uint64_t value = LoadLittleEndian<uint64_t>(packed + byte) >> shift;
      if (kWidth > 56 && shift + kWidth > 64)
        value |= static_cast<uint64_t>(packed[byte + 8]) << (64 - shift);
      out[i] = static_cast<T>(value & kMask);
    }
  }
}

template <typename T, int kWidth>
void UnpackAll(std::span<const uint8_t> packed, T* out, size_t count) {
  constexpr bool kCopy = kWidth == 8 * sizeof(T);
  if constexpr (kCopy) {
    if (count > 0) std::memcpy(out, packed.data(), count * sizeof(T));
    return;
  }
  const uint8_t* p = packed.data();
  const uint8_t* const end = p + packed.size();
  while (count >= 8 && static_cast<size_t>(end - p) >= kWidth + 8) {
    UnpackGroup<T, kWidth>(p, out);
    p += kWidth;
    out += 8;
    count -= 8;
  }
  while (count > 0) {  // near the end of the bytes: copy, so that wide loads stay in bounds
    uint8_t padded[kWidth + 8] = {};
    T group[8];
    const size_t taken = count < 8 ? count : 8;
    const size_t bytes = PackedBytes(taken, kWidth);
    if (bytes > 0) std::memcpy(padded, p, bytes);
    UnpackGroup<T, kWidth>(padded, group);
    std::memcpy(out, group, taken * sizeof(T));
    p += bytes;
    out += taken;
    count -= taken;
  }
}

template <typename T>
using Unpacker = void (*)(std::span<const uint8_t>, T*, size_t);

template <typename T, size_t... kWidths>
constexpr std::array<Unpacker<T>, sizeof...(kWidths)> Unpackers(std::index_sequence<kWidths...>) {
  return {&UnpackAll<T, static_cast<int>(kWidths)>...};
}

template <typename T>
constexpr auto kUnpackers = Unpackers<T>(std::make_index_sequence<8 * sizeof(T) + 1>());

}  // namespace

uint64_t UnpackOne(std::span<const uint8_t> packed, int width, uint64_t index) {
  CFILE_ASSERT(PackedBytes(index + 1, width) <= packed.size());
  if (width == 0) return 0;
  const uint64_t bit = index * static_cast<uint64_t>(width);
  const int shift = static_cast<int>(bit % 8);
  const uint8_t* p = packed.data() + bit / 8;
  const size_t left = packed.size() - static_cast<size_t>(bit / 8);
  uint8_t window[9] = {};
  if (left < sizeof(window)) {
    std::memcpy(window, p, left);
    p = window;
  }
  uint64_t value = LoadLittleEndian<uint64_t>(p) >> shift;
  if (shift > 0) value |= static_cast<uint64_t>(p[8]) << (64 - shift);
  return value & LowBits(width);
}

template <typename T>
void UnpackBits(std::span<const uint8_t> packed, int width, uint64_t first, T* out, size_t count) {
  CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(T)));
  CFILE_ASSERT(PackedBytes(first + count, width) <= packed.size());
  if constexpr (sizeof(T) == 1) {
    if (width == 1) return UnpackBools(packed, first, reinterpret_cast<bool*>(out), count);
  }
  // A group begins at a byte boundary. Values before the first group are unpacked one by one,
  // unless each begins at one.
  if (width % 8 != 0) {
    for (; first % 8 != 0 && count > 0; ++first, --count)
      *out++ = static_cast<T>(UnpackOne(packed, width, first));
  }
  size_t begin = static_cast<size_t>(first * static_cast<uint64_t>(width) / 8);
  const size_t done = UnpackWhole(packed.subspan(count > 0 ? begin : 0), width, out, count);
  begin += done / 8 * static_cast<size_t>(width);
  out += done;
  count -= done;
  kUnpackers<T>[static_cast<size_t>(width)](packed.subspan(count > 0 ? begin : 0), out, count);
}

uint32_t UnpackIndexes(std::span<const uint8_t> packed, int width, uint64_t first, uint32_t* out,
                       size_t count) {
  CFILE_ASSERT(0 <= width && width <= 32);
  CFILE_ASSERT(PackedBytes(first + count, width) <= packed.size());
  uint32_t largest = 0;
  size_t done = 0;
  if (first % 8 == 0 && count >= 8) {
    const size_t begin = static_cast<size_t>(first / 8 * static_cast<uint64_t>(width));
    done = HWY_DYNAMIC_DISPATCH(UnpackLargest)(packed.subspan(begin), width, out, count, largest);
  }
  const std::span<uint32_t> rest(out + done, count - done);
  UnpackBits(packed, width, first + done, rest.data(), rest.size());
  if (rest.size() >= kFewValues) return std::max(largest, FindMinMax<uint32_t>(rest).max);
  for (const uint32_t value : rest) largest = std::max(largest, value);
  return largest;
}

template <typename T>
void PackBits(std::span<const T> values, int width, ByteWriter& out) {
  CFILE_ASSERT(0 <= width && width <= static_cast<int>(8 * sizeof(T)));
  CFILE_ASSERT(std::all_of(values.begin(), values.end(), [&](T v) { return v <= LowBits(width); }));
  const size_t size = static_cast<size_t>(PackedBytes(values.size(), width));
  if (size == 0) return;
  if (width == static_cast<int>(8 * sizeof(T))) {
    std::memcpy(out.Extend(size), values.data(), size);
    return;
  }
  using Lane = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const size_t begin = out.size();
  const auto group_bytes = static_cast<size_t>(width);
  uint8_t* p = out.Extend(size + group_bytes + kPackAhead);
  const auto pack = [&](const Lane* lanes, size_t groups) {
    if constexpr (sizeof(Lane) == 4) {
      HWY_DYNAMIC_DISPATCH(PackGroups32)(lanes, groups, group_bytes, p);
    } else {
      HWY_DYNAMIC_DISPATCH(PackGroups64)(lanes, groups, group_bytes, p);
    }
    p += groups * group_bytes;
  };
  if constexpr (std::is_same_v<T, Lane>) {
    const size_t groups = values.size() / 8;
    if (groups > 0) pack(values.data(), groups);
    values = values.subspan(8 * groups);
  }
  Lane lanes[std::is_same_v<T, Lane> ? 8 : 256];
  while (!values.empty()) {
    const auto chunk = values.first(std::min(values.size(), std::size(lanes)));
    const size_t groups = (chunk.size() + 7) / 8;
    std::fill(std::copy(chunk.begin(), chunk.end(), lanes), lanes + 8 * groups, Lane{0});
    pack(lanes, groups);
    values = values.subspan(chunk.size());
  }
  out.Truncate(begin + size);
}

#define CFILE_INSTANTIATE(T)                                                        \
  template void UnpackBits<T>(std::span<const uint8_t>, int, uint64_t, T*, size_t); \
  template void PackBits<T>(std::span<const T>, int, ByteWriter&);
CFILE_INSTANTIATE(uint8_t)
CFILE_INSTANTIATE(uint16_t)
CFILE_INSTANTIATE(uint32_t)
CFILE_INSTANTIATE(uint64_t)
#undef CFILE_INSTANTIATE

}  // namespace cfile::encodings
#endif  // HWY_ONCE
