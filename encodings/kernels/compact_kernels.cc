#include "encodings/kernels/compact_kernels.h"

#include <bit>

#include "encodings/core/bytes.h"
#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/compact_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Implements UnpackOffsets. If kWide is true, offsets have up to 64 bits and take two loads each;
// otherwise they have at most 57 bits and take one.
template <bool kWide, typename U>
HWY_INLINE size_t UnpackEach(const BinTable<U>& table, const uint8_t* bins, const uint8_t* packed,
                             U* out, size_t count) {
  size_t position = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t bin = bins[i];
    const size_t width = table.widths[bin];
    const uint8_t* const from = packed + position / 8;
    uint64_t word = LoadLittleEndian<uint64_t>(from) >> position % 8;
    if constexpr (kWide) {
      word |= uint64_t{from[8]} << 1 << (63 - position % 8);
      // A shift by the number of bits of a word is not defined.
      word &= width == 0 ? 0 : ~uint64_t{0} >> (64 - width);
    } else {
      word &= (uint64_t{1} << width) - 1;
    }
    out[i] = static_cast<U>(table.lowers[bin] + word);
    position += width;
  }
  return position;
}

template <typename U>
HWY_INLINE size_t Unpack(const BinTable<U>& table, const uint8_t* bins, const uint8_t* packed,
                         U* out, size_t count) {
  if (sizeof(U) < 8 || table.most_width <= 57)
    return UnpackEach<false>(table, bins, packed, out, count);
  return UnpackEach<true>(table, bins, packed, out, count);
}

// Divides `count` numbers into SIMD vectors. Calls each(i) for each vector, which begins with
// number i, and last(i) for each number i after the last whole vector.
template <typename D, typename Each, typename Last>
HWY_INLINE void ForVectors(D d, size_t count, const Each& each, const Last& last) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; count - i >= lanes; i += lanes) each(i);
  for (; i < count; ++i) last(i);
}

template <typename T>
HWY_INLINE void Divide(const FloatBits<T>* integers, T divisor, T* out, size_t count) {
  using Integer = FloatInteger<T>;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto* const from = reinterpret_cast<const Integer*>(integers);
  const auto divisors = hn::Set(d, divisor);
  const auto reciprocals = hn::Set(d, T{1} / divisor);
  ForVectors(
      d, count,
      [&](size_t i) HWY_ATTR {
        const auto dividend = hn::ConvertTo(d, hn::LoadU(di, from + i));
#if HWY_NATIVE_FMA
        // Faster than a division. The remainders are computed without rounding. The first
        // correction makes the error of the quotient less than one unit in the last place. The
        // second gives the float that is nearest to the true quotient, because `reciprocals` is the
        // float that is nearest to 1 / divisor.
        auto quotient = hn::Mul(dividend, reciprocals);
        for (int k = 0; k < 2; ++k) {
          const auto remainder = hn::NegMulAdd(quotient, divisors, dividend);
          quotient = hn::MulAdd(remainder, reciprocals, quotient);
        }
#else
        const auto quotient = hn::Div(dividend, divisors);
        (void)reciprocals;
#endif
        hn::StoreU(quotient, d, out + i);
      },
      [&](size_t i) HWY_ATTR { out[i] = static_cast<T>(from[i]) / divisor; });
}

template <typename T>
HWY_INLINE void ToFloats(const FloatBits<T>* order, T* out, size_t count) {
  using U = FloatBits<T>;
  const hn::ScalableTag<U> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
  // If the highest bit of a number is 1, the number stands for a positive float, and only this bit
  // is inverted. Otherwise it stands for a negative float, and all bits are inverted.
  const auto sign = hn::Set(d, kSign);
  ForVectors(
      d, count,
      [&](size_t i) HWY_ATTR {
        const auto v = hn::LoadU(d, order + i);
        const auto positive = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, v)));
        const auto bits = hn::Xor(v, hn::Or(sign, hn::Not(positive)));
        hn::StoreU(hn::BitCast(hn::RebindToFloat<decltype(d)>(), bits),
                   hn::RebindToFloat<decltype(d)>(), out + i);
      },
      [&](size_t i) HWY_ATTR {
        const U bits = (order[i] & kSign) != 0 ? order[i] ^ kSign : ~order[i];
        out[i] = std::bit_cast<T>(bits);
      });
}

#define CFILE_COMPACT(U)                                                                          \
  size_t Unpack_##U(const BinTable<U>& table, const uint8_t* bins, const uint8_t* packed, U* out, \
                    size_t count) {                                                               \
    return Unpack<U>(table, bins, packed, out, count);                                            \
  }                                                                                               \
  void MultiplyAdd_##U(U factor, U addend, U* numbers, size_t count) {                            \
    for (size_t i = 0; i < count; ++i)                                                            \
      numbers[i] = static_cast<U>(uint64_t{numbers[i]} * factor + addend);                        \
  }                                                                                               \
  void AddLine_##U(U first, U slope, U* numbers, size_t count) {                                  \
    for (size_t i = 0; i < count; ++i)                                                            \
      numbers[i] = static_cast<U>(numbers[i] + first + i * slope);                                \
  }
CFILE_COMPACT(uint8_t)
CFILE_COMPACT(uint16_t)
CFILE_COMPACT(uint32_t)
CFILE_COMPACT(uint64_t)
#undef CFILE_COMPACT
#define CFILE_COMPACT(T)                                                           \
  void Divide_##T(const FloatBits<T>* integers, T divisor, T* out, size_t count) { \
    Divide<T>(integers, divisor, out, count);                                      \
  }                                                                                \
  void ToFloats_##T(const FloatBits<T>* order, T* out, size_t count) {             \
    ToFloats<T>(order, out, count);                                                \
  }
CFILE_COMPACT(float)
CFILE_COMPACT(double)
#undef CFILE_COMPACT

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

template <typename U>
void AddLowers(const BinTable<U>& table, const uint8_t* bins, U* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<U>(numbers[i] + table.lowers[bins[i]]);
}

template <typename U>
void LookUpLowers(const BinTable<U>& table, const uint8_t* bins, U* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = table.lowers[bins[i]];
}

template <typename U>
void SumUpLowers(const BinTable<U>& table, const uint8_t* bins, U before, U* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = before = static_cast<U>(before + table.lowers[bins[i]]);
}

template <typename U>
void SumUp(U before, U* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) numbers[i] = before = static_cast<U>(before + numbers[i]);
}

template <typename U>
void PackOffsets(const BinTable<U>& table, const uint8_t* bins, const U* offsets, size_t count,
                 uint8_t* out) {
  uint64_t word = 0;
  size_t used = 0;  // bits of `word`
  for (size_t i = 0; i < count; ++i) {
    const uint64_t offset = offsets[i];
    word |= offset << used;
    const size_t end = used + table.widths[bins[i]];
    if (end >= 64) {
      StoreLittleEndian(word, out);
      out += sizeof(word);
      word = used == 0 ? 0 : offset >> (64 - used);
    }
    used = end % 64;
  }
  StoreLittleEndian(word, out);
}

#define CFILE_COMPACT(U)                                                                        \
  HWY_EXPORT(Unpack_##U);                                                                       \
  HWY_EXPORT(MultiplyAdd_##U);                                                                  \
  HWY_EXPORT(AddLine_##U);                                                                      \
  template <>                                                                                   \
  size_t UnpackOffsets<U>(const BinTable<U>& table, const uint8_t* bins, const uint8_t* packed, \
                          U* out, size_t count) {                                               \
    return HWY_DYNAMIC_DISPATCH(Unpack_##U)(table, bins, packed, out, count);                   \
  }                                                                                             \
  template <>                                                                                   \
  void MultiplyAdd<U>(U factor, U addend, U * numbers, size_t count) {                          \
    HWY_DYNAMIC_DISPATCH(MultiplyAdd_##U)(factor, addend, numbers, count);                      \
  }                                                                                             \
  template <>                                                                                   \
  void AddLine<U>(U first, U slope, U * numbers, size_t count) {                                \
    HWY_DYNAMIC_DISPATCH(AddLine_##U)(first, slope, numbers, count);                            \
  }                                                                                             \
  template void PackOffsets<U>(const BinTable<U>&, const uint8_t*, const U*, size_t, uint8_t*); \
  template void AddLowers<U>(const BinTable<U>&, const uint8_t*, U*, size_t);                   \
  template void LookUpLowers<U>(const BinTable<U>&, const uint8_t*, U*, size_t);                \
  template void SumUpLowers<U>(const BinTable<U>&, const uint8_t*, U, U*, size_t);              \
  template void SumUp<U>(U, U*, size_t);
CFILE_COMPACT(uint8_t)
CFILE_COMPACT(uint16_t)
CFILE_COMPACT(uint32_t)
CFILE_COMPACT(uint64_t)
#undef CFILE_COMPACT

#define CFILE_COMPACT(T)                                                                  \
  HWY_EXPORT(Divide_##T);                                                                 \
  HWY_EXPORT(ToFloats_##T);                                                               \
  template <>                                                                             \
  void DivideIntegers<T>(const FloatBits<T>* integers, T divisor, T* out, size_t count) { \
    HWY_DYNAMIC_DISPATCH(Divide_##T)(integers, divisor, out, count);                      \
  }                                                                                       \
  template <>                                                                             \
  void OrderToFloats<T>(const FloatBits<T>* order, T* out, size_t count) {                \
    HWY_DYNAMIC_DISPATCH(ToFloats_##T)(order, out, count);                                \
  }                                                                                       \
  template <>                                                                             \
  void FloatsToOrder<T>(const T* floats, FloatBits<T>* out, size_t count) {               \
    constexpr FloatBits<T> kSign = FloatBits<T>{1} << (8 * sizeof(T) - 1);                \
    for (size_t i = 0; i < count; ++i) {                                                  \
      const auto bits = std::bit_cast<FloatBits<T>>(floats[i]);                           \
      out[i] = (bits & kSign) != 0 ? ~bits : bits ^ kSign;                                \
    }                                                                                     \
  }
CFILE_COMPACT(float)
CFILE_COMPACT(double)
#undef CFILE_COMPACT

}  // namespace cfile::encodings
#endif  // HWY_ONCE
