// SpreadValues: copies the present values of a batch with nulls to their rows.
#include "encodings/hybrid/validity.h"

#include <array>

#include "encodings/core/physical_type.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/hybrid/validity_spread.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_VALIDITY_SPREAD_TABLES
#define CFILE_ENCODINGS_VALIDITY_SPREAD_TABLES
namespace cfile::encodings {

// For each byte of a bitmap and each of its 8 rows: the index of the row's value among the next
// present values; -1 for a null. The first 16 entries are also used for 4 rows.
constexpr std::array<std::array<int8_t, 8>, 256> MakeSpreadTable() {
  std::array<std::array<int8_t, 8>, 256> table{};
  for (size_t mask = 0; mask < 256; ++mask) {
    int8_t next = 0;
    for (size_t row = 0; row < 8; ++row)
      table[mask][row] = (mask >> row & 1) != 0 ? next++ : int8_t{-1};
  }
  return table;
}
alignas(64) inline constexpr auto kSpread = MakeSpreadTable();

// The same table for values that take kLanes lanes each. An entry is for 8 / kLanes rows, and its
// elements are indexes of lanes.
template <size_t kLanes>
constexpr auto MakeSpreadLanesTable() {
  std::array<std::array<int8_t, 8>, size_t{1} << 8 / kLanes> table{};
  for (size_t mask = 0; mask < table.size(); ++mask) {
    for (size_t lane = 0; lane < 8; ++lane) {
      const int value = kSpread[mask][lane / kLanes];
      table[mask][lane] = static_cast<int8_t>(
          value < 0 ? -1 : static_cast<int>(kLanes) * value + static_cast<int>(lane % kLanes));
    }
  }
  return table;
}
alignas(64) inline constexpr auto kSpreadPairs = MakeSpreadLanesTable<2>();
alignas(64) inline constexpr auto kSpreadQuads = MakeSpreadLanesTable<4>();

// Returns, for each byte of `word`, the number of ones in the bytes below it. Sets `total` to the
// number of ones in `word`.
inline uint64_t OnesBelowEachByte(uint64_t word, uint64_t& total) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  const uint64_t sums = word * 0x0101010101010101u;  // ones in each byte and the bytes below it
  total = sums >> 56;
  return sums << 8;
}

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_VALIDITY_SPREAD_TABLES

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#define CFILE_SPREAD_SIMD \
  (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && !HWY_HAVE_SCALABLE)
// True if there are vectors of 32 bytes that can pick lanes across the whole vector.
#define CFILE_SPREAD_WIDE (CFILE_SPREAD_SIMD && HWY_MAX_BYTES >= 32)

#if CFILE_SPREAD_SIMD
#if CFILE_SPREAD_WIDE
// Writes 8 lanes of 32 or 64 bits to `out`: lane i is the lane of `present` with index indices[i],
// or zero if that index is -1.
template <typename D>
HWY_INLINE void PickLanes(D d, const uint8_t* present, const int8_t* indices, uint8_t* out) {
  using Lane = hn::TFromD<D>;
  const hn::Rebind<int32_t, D> d32;
  const hn::Rebind<int8_t, D> d8;
  const auto index = [&](auto narrow) HWY_ATTR {
    if constexpr (sizeof(Lane) == 8) {
      return hn::PromoteTo(d, narrow);
    } else {
      return narrow;
    }
  }(hn::PromoteTo(d32, hn::Load(d8, indices)));
  const auto lanes = hn::IndicesFromVec(d, hn::And(index, hn::Set(d, Lane{7})));
  const auto values = hn::LoadU(d, reinterpret_cast<const Lane*>(present));
  hn::StoreU(hn::AndNot(hn::BroadcastSignBit(index), hn::TableLookupLanes(values, lanes)), d,
             reinterpret_cast<Lane*>(out));
}
#endif

// Writes the 8 rows of the bitmap byte `mask` to `out`. Always reads 8 values at `present`, even if
// the rows need fewer.
template <size_t kSize>
HWY_INLINE void SpreadByte(const uint8_t* present, uint32_t mask, uint8_t* out) {
  if constexpr (kSize == 1) {
    const hn::FixedTag<uint8_t, 8> d;
    const auto index = hn::LoadU(d, reinterpret_cast<const uint8_t*>(kSpread[mask].data()));
    hn::StoreU(hn::TableLookupBytesOr0(hn::LoadU(d, present), index), d, out);
  } else if constexpr (kSize == 2) {
    const hn::FixedTag<int16_t, 8> d;
    const hn::FixedTag<uint8_t, 16> d8;
    // Value i has the bytes 2 * i and 2 * i + 1. For index -1 both byte indexes have the top bit
    // set, which gives zeros.
    const auto index =
        hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, decltype(d)>(), kSpread[mask].data()));
    const auto bytes = hn::Add(hn::Mul(index, hn::Set(d, 0x0202)), hn::Set(d, 0x0100));
    hn::StoreU(hn::TableLookupBytesOr0(hn::LoadU(d8, present), hn::BitCast(d8, bytes)), d8, out);
  } else if constexpr (kSize == 4) {
#if CFILE_SPREAD_WIDE
    PickLanes(hn::FixedTag<int32_t, 8>(), present, kSpread[mask].data(), out);
#else
    const hn::FixedTag<int32_t, 4> d;
    const hn::FixedTag<uint8_t, 16> d8;
    for (uint32_t half = 0; half < 2; ++half) {
      const uint32_t nibble = mask >> (4 * half) & 15;
      const auto index =
          hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, decltype(d)>(), kSpread[nibble].data()));
      const auto bytes = hn::Add(hn::Mul(index, hn::Set(d, 0x04040404)), hn::Set(d, 0x03020100));
      hn::StoreU(hn::TableLookupBytesOr0(hn::LoadU(d8, present), hn::BitCast(d8, bytes)), d8,
                 out + 16 * half);
      present += 4 * static_cast<size_t>(hwy::PopCount(nibble));
    }
#endif
  } else if constexpr (kSize == 8) {
#if CFILE_SPREAD_WIDE
    const hn::FixedTag<int32_t, 8> d;
    PickLanes(d, present, kSpreadPairs[mask & 15].data(), out);
    present += 8 * hwy::PopCount(uint64_t{mask & 15});
    PickLanes(d, present, kSpreadPairs[mask >> 4].data(), out + 32);
#endif
  } else {
    static_assert(kSize == 16);
#if CFILE_SPREAD_WIDE && HWY_MAX_BYTES >= 64
    const hn::FixedTag<int64_t, 8> d;
    PickLanes(d, present, kSpreadPairs[mask & 15].data(), out);
    present += 16 * hwy::PopCount(uint64_t{mask & 15});
    PickLanes(d, present, kSpreadPairs[mask >> 4].data(), out + 64);
#elif CFILE_SPREAD_WIDE
    const hn::FixedTag<int32_t, 8> d;
    for (size_t pair = 0; pair < 4; ++pair) {
      const uint32_t bits = mask >> (2 * pair) & 3;
      PickLanes(d, present, kSpreadQuads[bits].data(), out + 32 * pair);
      present += 16 * ((bits & 1) + (bits >> 1));
    }
#endif
  }
}
#endif  // CFILE_SPREAD_SIMD

// True if SpreadByte is available for this size.
template <size_t kSize>
constexpr bool HasSpreadByte() {
#if CFILE_SPREAD_WIDE
  return kSize != 12;
#elif CFILE_SPREAD_SIMD
  return kSize <= 4;
#else
  return false;
#endif
}

template <size_t kSize>
HWY_INLINE void SpreadBytes(const uint8_t* present, const uint8_t* bits, size_t count,
                            uint8_t* out) {
  const auto bits_of = [bits](size_t row, size_t rows) {
    uint64_t word = 0;
    if (rows >= 64) {
      word = LoadLittleEndian<uint64_t>(bits + row / 8);
    } else {
      std::memcpy(&word, bits + row / 8, (rows + 7) / 8);
      word &= (uint64_t{1} << rows) - 1;
    }
    return word;
  };
  size_t values = 0;  // values of `present` that are not spread yet
  for (size_t row = 0; row < count; row += 64) values += hwy::PopCount(bits_of(row, count - row));

  for (size_t row = 0; row < count; row += 64) {
    const size_t rows = count - row < 64 ? count - row : 64;
    uint64_t word = bits_of(row, rows);
    uint8_t* const rows_out = out + row * kSize;
    if (word == ~uint64_t{0}) {
      std::memcpy(rows_out, present, 64 * kSize);
      present += 64 * kSize;
      values -= 64;
      continue;
    }
    if constexpr (HasSpreadByte<kSize>()) {
      if (rows == 64 && values >= 64 && word != 0) {
        uint64_t ones;
        const uint64_t below = OnesBelowEachByte(word, ones);
        for (size_t byte = 0; byte < 8; ++byte) {
          SpreadByte<kSize>(present + (below >> (8 * byte) & 0xff) * kSize,
                            word >> (8 * byte) & 0xff, rows_out + 8 * byte * kSize);
        }
        present += ones * kSize;
        values -= ones;
        continue;
      }
    }
    std::memset(rows_out, 0, rows * kSize);
    for (; word != 0; word &= word - 1) {
      std::memcpy(rows_out + hwy::Num0BitsBelowLS1Bit_Nonzero64(word) * kSize, present, kSize);
      present += kSize;
      --values;
    }
  }
}

void Spread1(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<1>(present, bits, count, out);
}
void Spread2(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<2>(present, bits, count, out);
}
void Spread4(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<4>(present, bits, count, out);
}
void Spread8(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<8>(present, bits, count, out);
}
void Spread12(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<12>(present, bits, count, out);
}
void Spread16(const uint8_t* present, const uint8_t* bits, size_t count, uint8_t* out) {
  SpreadBytes<16>(present, bits, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(Spread1);
HWY_EXPORT(Spread2);
HWY_EXPORT(Spread4);
HWY_EXPORT(Spread8);
HWY_EXPORT(Spread12);
HWY_EXPORT(Spread16);

void SpreadValues(Lane lane, const void* present, const uint8_t* bits, size_t count, void* out) {
  // Nulls become zero bytes, which are T{} for every type.
  const auto* const from = static_cast<const uint8_t*>(present);
  auto* const to = static_cast<uint8_t*>(out);
  switch (WidthOf(lane)) {
    case 1:
      return HWY_DYNAMIC_DISPATCH(Spread1)(from, bits, count, to);
    case 2:
      return HWY_DYNAMIC_DISPATCH(Spread2)(from, bits, count, to);
    case 4:
      return HWY_DYNAMIC_DISPATCH(Spread4)(from, bits, count, to);
    case 8:
      return HWY_DYNAMIC_DISPATCH(Spread8)(from, bits, count, to);
    case 12:
      return HWY_DYNAMIC_DISPATCH(Spread12)(from, bits, count, to);
    default:
      return HWY_DYNAMIC_DISPATCH(Spread16)(from, bits, count, to);
  }
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
