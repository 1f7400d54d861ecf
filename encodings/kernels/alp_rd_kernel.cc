#include "encodings/kernels/alp_rd_kernel.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/alp_rd_kernel.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/core/assert.h"
#include "encodings/kernels/interleaved_bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

// Looks up bases in a table of kMaxBases numbers. Codes are less than kBases.
template <typename U, size_t kBases>
class MemoryLookup {
 public:
  HWY_INLINE explicit MemoryLookup(const U* table) : table_(table) {}

  HWY_INLINE hn::Vec<RowTag<U>> operator()(hn::Vec<RowTag<U>> codes) const {
    const RowTag<U> d;
    return hn::GatherIndex(d, table_, hn::BitCast(hn::RebindToSigned<RowTag<U>>(), codes));
  }

 private:
  const U* table_;
};

// Looks up bases in a table that is in one or two SIMD vectors of at least 4 lanes.
template <typename U, size_t kBases>
class RegisterLookup {
 public:
  using D = RowTag<U>;
  using V = hn::Vec<D>;

  HWY_INLINE explicit RegisterLookup(const U* table) {
    HWY_ALIGN U repeated[2 * kLanes];
    for (size_t i = 0; i < 2 * kLanes; ++i) repeated[i] = table[i % AlpRdForm::kMaxBases];
    low_ = hn::Load(D(), repeated);
    high_ = hn::Load(D(), repeated + kLanes);
  }

  HWY_INLINE V operator()(V codes) const {
    const D d;
    if constexpr (kLanes >= kBases) {
      return hn::TableLookupLanes(low_, hn::IndicesFromVec(d, codes));
    } else {
      const auto indices = hn::IndicesFromVec(d, hn::And(codes, hn::Set(d, U{3})));
      return hn::IfThenElse(hn::TestBit(codes, hn::Set(d, U{4})),
                            hn::TableLookupLanes(high_, indices),
                            hn::TableLookupLanes(low_, indices));
    }
  }

 private:
  static constexpr size_t kLanes = hn::MaxLanes(D());

  V low_;
  V high_;
};

template <typename U, size_t kBases>
using BaseLookup = std::conditional_t<HWY_HAVE_SCALABLE || hn::MaxLanes(RowTag<U>()) < 4,
                                      MemoryLookup<U, kBases>, RegisterLookup<U, kBases>>;

template <typename U, size_t kBases>
HWY_INLINE void DecodeWith(const uint8_t* packed, const AlpRdForm& form, const U* table,
                           U* HWY_RESTRICT out) {
  const RowTag<U> d;
  const BaseLookup<U, kBases> lookup(table);
  const size_t offset_width = static_cast<size_t>(form.offset_width);
  const size_t shift = static_cast<size_t>(form.shift);
  UnpackRows<U>(packed, static_cast<size_t>(form.width()), kBitsOf<U>,
                [&](size_t index, auto numbers) HWY_ATTR {
                  const auto bases = lookup(ShiftRight<U>(numbers, offset_width));
                  hn::StoreU(hn::Add(ShiftLeft<U>(numbers, shift), bases), d, out + index);
                });
}

template <typename U>
HWY_INLINE void DecodeOneBase(const uint8_t* packed, const AlpRdForm& form, U base,
                              U* HWY_RESTRICT out) {
  const RowTag<U> d;
  const auto bases = hn::Set(d, base);
  const size_t shift = static_cast<size_t>(form.shift);
  UnpackRows<U>(packed, static_cast<size_t>(form.width()), kBitsOf<U>,
                [&](size_t index, auto numbers) HWY_ATTR {
                  hn::StoreU(hn::Add(ShiftLeft<U>(numbers, shift), bases), d, out + index);
                });
}

template <typename U>
HWY_INLINE void Decode(const uint8_t* packed, const AlpRdForm& form, const U* table, U* out) {
  if (form.code_width == 0) {
    DecodeOneBase<U>(packed, form, table[0], out);
  } else if (form.code_width <= 2) {
    DecodeWith<U, 4>(packed, form, table, out);
  } else {
    DecodeWith<U, 8>(packed, form, table, out);
  }
}

template <typename U>
HWY_INLINE void Encode(const U* HWY_RESTRICT values, const AlpRdForm& form, const U* bases,
                       U* HWY_RESTRICT numbers, U* HWY_RESTRICT highs) {
  const RowTag<U> d;
  const size_t lanes = hn::Lanes(d);
  const size_t count = form.bases();
  const size_t shift = static_cast<size_t>(form.shift);
  const size_t offset_width = static_cast<size_t>(form.offset_width);
  const size_t covered = static_cast<size_t>(form.covered());
  const auto mask = hn::Set(d, static_cast<U>(LowBits(form.offset_width)));
  if (covered == kBitsOf<U>) {
    // The only base covers all values.
    const auto base = hn::Set(d, bases[0]);
    for (size_t i = 0; i < kVectorValues; i += lanes) {
      hn::StoreU(ShiftRight<U>(hn::Sub(hn::LoadU(d, values + i), base), shift), d, numbers + i);
      hn::StoreU(hn::Zero(d), d, highs + i);
    }
    return;
  }
  for (size_t i = 0; i < kVectorValues; i += lanes) {
    const auto value = hn::LoadU(d, values + i);
    const auto first = hn::Sub(value, hn::Set(d, bases[0]));
    auto number = hn::And(ShiftRight<U>(first, shift), mask);
    auto high = ShiftRight<U>(first, covered);
    for (size_t k = 1; k < count; ++k) {
      const auto above = hn::Sub(value, hn::Set(d, bases[k]));
      const auto fits = hn::Eq(ShiftRight<U>(above, covered), hn::Zero(d));
      const auto code = hn::Set(d, static_cast<U>(U{static_cast<U>(k)} << offset_width));
      number = hn::IfThenElse(fits, hn::Or(ShiftRight<U>(above, shift), code), number);
      high = hn::IfThenElse(fits, hn::Zero(d), high);
    }
    hn::StoreU(number, d, numbers + i);
    hn::StoreU(high, d, highs + i);
  }
}

#define CFILE_ALP_RD(U)                                                                           \
  void Decode_##U(const uint8_t* packed, const AlpRdForm& form, const U* table, U* out) {         \
    Decode<U>(packed, form, table, out);                                                          \
  }                                                                                               \
  void Encode_##U(const U* values, const AlpRdForm& form, const U* bases, U* numbers, U* highs) { \
    Encode<U>(values, form, bases, numbers, highs);                                               \
  }
CFILE_ALP_RD(uint32_t)
CFILE_ALP_RD(uint64_t)
#undef CFILE_ALP_RD

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

template <typename U>
void CheckForm(const AlpRdForm& form) {
  [[maybe_unused]] constexpr int kBits = 8 * sizeof(U);
  CFILE_ASSERT(0 <= form.code_width && form.code_width <= AlpRdForm::kMaxCodeWidth);
  CFILE_ASSERT(form.offset_width >= 0 && form.shift >= 0);
  CFILE_ASSERT(form.width() <= kBits && form.covered() <= kBits);
  CFILE_ASSERT(form.shift < kBits && (form.code_width == 0 || form.covered() < kBits));
  static_cast<void>(form);
}

#define CFILE_ALP_RD(U)                                                                            \
  HWY_EXPORT(Decode_##U);                                                                          \
  HWY_EXPORT(Encode_##U);                                                                          \
  template <>                                                                                      \
  void AlpRdDecode(const uint8_t* packed, const AlpRdForm& form, const U* bases, U* out) {         \
    CheckForm<U>(form);                                                                            \
    if (form.width() == 0 || (form.code_width == 0 && form.shift == 0)) {                          \
      return UnpackInterleaved<U>(packed, form.width(), bases[0], out);                            \
    }                                                                                              \
    /* The kernel adds whole numbers, with their codes, to the numbers of the table. */            \
    U table[AlpRdForm::kMaxBases] = {bases[0]};                                                    \
    for (size_t k = 1; k < form.bases(); ++k)                                                      \
      table[k] = static_cast<U>(bases[k] - (static_cast<U>(k) << form.covered()));                 \
    HWY_DYNAMIC_DISPATCH(Decode_##U)(packed, form, table, out);                                    \
  }                                                                                                \
  template <>                                                                                      \
  void AlpRdEncode(const U* values, const AlpRdForm& form, const U* bases, U* numbers, U* highs) { \
    CheckForm<U>(form);                                                                            \
    HWY_DYNAMIC_DISPATCH(Encode_##U)(values, form, bases, numbers, highs);                         \
  }
CFILE_ALP_RD(uint32_t)
CFILE_ALP_RD(uint64_t)
#undef CFILE_ALP_RD

}  // namespace cfile::encodings
#endif  // HWY_ONCE
