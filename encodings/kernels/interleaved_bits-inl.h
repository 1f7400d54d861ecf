// Reads interleaved vectors (interleaved_bits.h) row by row, for kernels that use the unpacked
// numbers at once. Files that are compiled for several targets include this file once per target,
// and interleaved_bits.h before it.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "encodings/core/bytes.h"
#include "hwy/highway.h"

#if defined(CFILE_ENCODINGS_INTERLEAVED_BITS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CFILE_ENCODINGS_INTERLEAVED_BITS_INL_H
#undef CFILE_ENCODINGS_INTERLEAVED_BITS_INL_H
#else
#define CFILE_ENCODINGS_INTERLEAVED_BITS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The tag of SIMD vectors that are at most as long as a row.
template <typename U>
using RowTag = hn::CappedTag<U, kVectorRowBytes / sizeof(U)>;
template <typename U>
inline constexpr size_t kRowLanes = kVectorRowBytes / sizeof(U);
template <typename U>
inline constexpr size_t kBitsOf = 8 * sizeof(U);

// Load and store packed words. The memory may have any alignment.
template <typename U>
HWY_INLINE hn::Vec<RowTag<U>> LoadWords(const uint8_t* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(RowTag<U>(), LoadLittleEndian<U>(from));
#else
  return hn::LoadU(RowTag<U>(), reinterpret_cast<const U*>(from));
#endif
}
template <typename U>
HWY_INLINE void StoreWords(hn::Vec<RowTag<U>> words, uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  StoreLittleEndian<U>(hn::GetLane(words), to);
#else
  hn::StoreU(words, RowTag<U>(), reinterpret_cast<U*>(to));
#endif
}

// Shift all lanes by the same number of bits. There are no shifts of 8-bit lanes, so pairs of them
// are shifted as 16-bit lanes, and the caller must clear the bits that a lane gets from its
// neighbour.
#if HWY_TARGET == HWY_SCALAR
template <typename U>
using ShiftTag = RowTag<U>;
#else
template <typename U>
using ShiftTag = hn::Repartition<std::conditional_t<sizeof(U) == 1, uint16_t, U>, RowTag<U>>;
#endif
template <typename U>
HWY_INLINE hn::Vec<RowTag<U>> ShiftRight(hn::Vec<RowTag<U>> v, size_t bits) {
  return hn::BitCast(RowTag<U>(),
                     hn::ShiftRightSame(hn::BitCast(ShiftTag<U>(), v), static_cast<int>(bits)));
}
template <typename U>
HWY_INLINE hn::Vec<RowTag<U>> ShiftLeft(hn::Vec<RowTag<U>> v, size_t bits) {
  return hn::BitCast(RowTag<U>(),
                     hn::ShiftLeftSame(hn::BitCast(ShiftTag<U>(), v), static_cast<int>(bits)));
}

// Shifts all lanes by `bits`, like the functions above, for which the processor copies `bits` to a
// SIMD register before each shift. This class copies `bits` only once, and uses the instruction of
// AVX2 that shifts each lane by a number of its own.
template <typename U>
class LaneShift {
 public:
  using V = hn::Vec<RowTag<U>>;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  static constexpr bool kPerLane = sizeof(U) >= 4;
#else
  static constexpr bool kPerLane = false;
#endif

  HWY_INLINE explicit LaneShift(size_t bits)
      : bits_(bits), counts_(hn::Set(RowTag<U>(), static_cast<U>(bits))) {}
  HWY_INLINE V Right(V v) const {
    if constexpr (kPerLane) return hn::Shr(v, counts_);
    return ShiftRight<U>(v, bits_);
  }
  HWY_INLINE V Left(V v) const {
    if constexpr (kPerLane) return hn::Shl(v, counts_);
    return ShiftLeft<U>(v, bits_);
  }

 private:
  const size_t bits_;
  const V counts_;
};

// Calls visit(index, numbers) for each of the first `rows` rows of packed numbers; a row has one
// number for each lane. `index` is the index of the first number in the row. numbers(lane) returns
// a SIMD vector with the numbers of the row, beginning with this lane. Precondition: width > 0.
template <typename U, typename Visit>
HWY_INLINE void VisitRows(const uint8_t* packed, size_t width, size_t rows, const Visit& visit) {
  constexpr size_t kBits = kBitsOf<U>;
  const RowTag<U> d;
  const U all = static_cast<U>(LowBits(static_cast<int>(width)));
  const auto mask = hn::Set(d, all);
  for (size_t row = 0; row < rows; ++row) {
    const size_t bit = row * width;
    const size_t shift = bit % kBits;
    const uint8_t* const words = packed + bit / kBits * kVectorRowBytes;
    const size_t index = row * kRowLanes<U>;
    const LaneShift<U> to_front(shift);
    if (shift + width <= kBits) {
      visit(index, [&](size_t lane) HWY_ATTR {
        return hn::And(to_front.Right(LoadWords<U>(words + lane * sizeof(U))), mask);
      });
      continue;
    }
    // The numbers continue in the next words.
    const U low_bits = static_cast<U>(LowBits(static_cast<int>(kBits - shift)));
    const auto low_mask = hn::Set(d, low_bits);
    const auto high_mask = hn::Set(d, static_cast<U>(all & ~low_bits));
    const LaneShift<U> to_back(kBits - shift);
    visit(index, [&](size_t lane) HWY_ATTR {
      const uint8_t* const word = words + lane * sizeof(U);
      auto low = to_front.Right(LoadWords<U>(word));
      if constexpr (sizeof(U) == 1) low = hn::And(low, low_mask);
      const auto high = to_back.Left(LoadWords<U>(word + kVectorRowBytes));
      return hn::Or(low, hn::And(high, high_mask));
    });
  }
}

// Unpacks the first `rows` rows of packed numbers. Calls put(index, numbers) for each SIMD vector
// of numbers, which begins with number `index`. Precondition: width > 0.
template <typename U, typename Put>
HWY_INLINE void UnpackRows(const uint8_t* packed, size_t width, size_t rows, const Put& put) {
  const size_t lanes = hn::Lanes(RowTag<U>());
  VisitRows<U>(packed, width, rows, [&](size_t index, const auto& numbers) HWY_ATTR {
    for (size_t lane = 0; lane < kRowLanes<U>; lane += lanes) put(index + lane, numbers(lane));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
