// PackValues copies the present values of a batch with nulls. SpreadBits moves bits of present
// values to their rows.
#include "encodings/hybrid/validity.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "encodings/core/bytes.h"
#include "encodings/core/physical_type.h"
#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/hybrid/validity_pack.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_VALIDITY_PACK_TABLE
#define CFILE_ENCODINGS_VALIDITY_PACK_TABLE
namespace cfile::encodings {

// table[mask][bits]: bit i of `bits` at the position of the i-th one of `mask`, as the instruction
// PDEP does with 4 bits.
constexpr std::array<std::array<uint8_t, 16>, 16> MakeDepositTable() {
  std::array<std::array<uint8_t, 16>, 16> table{};
  for (unsigned mask = 0; mask < 16; ++mask) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      unsigned left = bits;
      for (unsigned place = 0; place < 4; ++place) {
        if ((mask >> place & 1) == 0) continue;
        table[mask][bits] = static_cast<uint8_t>(table[mask][bits] | (left & 1) << place);
        left >>= 1;
      }
    }
  }
  return table;
}
alignas(64) inline constexpr auto kDeposit = MakeDepositTable();

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_VALIDITY_PACK_TABLE

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Copies those of 64 values whose bit in `word` is 1 to the front of `present`, and returns their
// number. May write to all of present[0, 64).
template <typename Lane>
size_t Pack64(const Lane* HWY_RESTRICT values, uint64_t word, Lane* HWY_RESTRICT present) {
  const hn::CappedTag<Lane, 16> d;
  const size_t lanes = hn::Lanes(d);
  Lane* to = present;
  for (size_t i = 0; i < 64; i += lanes, word >>= lanes) {
    uint8_t bits[8];
    StoreLittleEndian(lanes < 8 ? word & ((uint64_t{1} << lanes) - 1) : word, bits);
    // Not CompressStore: some processors need hundreds of cycles for a store that compresses.
    const auto mask = hn::LoadMaskBits(d, bits);
    hn::StoreU(hn::Compress(hn::LoadU(d, values + i), mask), d, to);
    to += hn::CountTrue(d, mask);
  }
  return static_cast<size_t>(to - present);
}

size_t Pack64x32(const uint32_t* values, uint64_t word, uint32_t* present) {
  return Pack64(values, word, present);
}
size_t Pack64x64(const uint64_t* values, uint64_t word, uint64_t* present) {
  return Pack64(values, word, present);
}

// Returns a word with bit i of `bits` at the place of the i-th one of `mask`, from the least
// significant bit on. The other bits are 0.
HWY_INLINE uint64_t Deposit(uint64_t bits, uint64_t mask) {
  // Processors that have AVX2 but not AVX-512 may need hundreds of cycles for this instruction.
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  return _pdep_u64(bits, mask);
#else
  uint64_t word = 0;
  for (int place = 0; place < 64; place += 4) {
    const unsigned nibble = mask >> place & 15;
    word |= uint64_t{kDeposit[nibble][bits & 15]} << place;
    bits >>= 0x4332322132212110 >> (4 * nibble) & 15;  // the number of ones of each nibble
  }
  return word;
#endif
}

void Spread(uint8_t* bits, const uint8_t* valid, size_t count, size_t present) {
  // Goes from the last row to the first. The bits of a row lie at or before its place, so no bit is
  // overwritten before it is moved.
  for (size_t end = count; end > 0;) {
    const size_t begin = (end - 1) / 64 * 64;
    uint8_t* const to = bits + begin / 8;
    const size_t rows = end - begin;
    const size_t bytes = (rows + 7) / 8;
    const auto load = [bytes](const uint8_t* from) {
      if (bytes == 8) return LoadLittleEndian<uint64_t>(from);
      uint64_t word = 0;
      std::memcpy(&word, from, bytes);
      return word;
    };
    const uint64_t mask = load(valid + begin / 8) & (~uint64_t{0} >> (64 - rows));
    const size_t ones = hwy::PopCount(mask);
    uint64_t word = 0;
    if (ones > 0) {
      present -= ones;
      const size_t shift = present % 8;
      const uint8_t* const from = bits + present / 8;
      // The bits may end one byte after the loaded bytes, so this byte is added. If it was loaded
      // already, it only changes bits that Deposit ignores.
      const uint64_t last = from[(shift + ones - 1) / 8];
      word = Deposit(load(from) >> shift | last << 1 << (8 * bytes - 1 - shift), mask);
    }
    std::memcpy(to, &word, bytes);
    end = begin;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(Pack64x32);
HWY_EXPORT(Pack64x64);
HWY_EXPORT(Spread);

namespace {

template <size_t kWidth>
size_t PackBytes(const uint8_t* values, const uint8_t* bits, uint64_t first, size_t count,
                 uint8_t* present) {
  const std::span<const uint8_t> packed(bits, static_cast<size_t>(PackedBytes(first + count, 1)));
  uint8_t* to = present;
  size_t i = 0;
  if constexpr (kWidth == 4 || kWidth == 8) {
    // At most `i` values were packed so far, so `present` has room for 64 more.
    for (; count - i >= 64; i += 64) {
      const uint64_t word = LoadBits(packed, first + i, 32) | LoadBits(packed, first + i + 32, 32)
                                                                  << 32;
      const uint8_t* const from = values + i * kWidth;
      if constexpr (kWidth == 4) {
        to += kWidth * HWY_DYNAMIC_DISPATCH(Pack64x32)(reinterpret_cast<const uint32_t*>(from),
                                                       word, reinterpret_cast<uint32_t*>(to));
      } else {
        to += kWidth * HWY_DYNAMIC_DISPATCH(Pack64x64)(reinterpret_cast<const uint64_t*>(from),
                                                       word, reinterpret_cast<uint64_t*>(to));
      }
    }
  }
  while (i < count) {
    const auto taken = static_cast<int>(std::min<size_t>(count - i, kMaxBitsPerLoad));
    uint64_t word = LoadBits(packed, first + i, taken);
    // Copy every value; the next value overwrites a null.
    for (const size_t end = i + static_cast<size_t>(taken); i < end; ++i, word >>= 1) {
      std::memcpy(to, values + i * kWidth, kWidth);
      to += kWidth * (word & 1);
    }
  }
  return static_cast<size_t>(to - present) / kWidth;
}

}  // namespace

size_t PackValues(Lane lane, const void* values, const uint8_t* bits, uint64_t first, size_t count,
                  void* present) {
  return VisitWidth(lane, [&](auto width) {
    return PackBytes<width>(static_cast<const uint8_t*>(values), bits, first, count,
                            static_cast<uint8_t*>(present));
  });
}

void SpreadBits(uint8_t* bits, const uint8_t* valid, size_t count, size_t present) {
  HWY_DYNAMIC_DISPATCH(Spread)(bits, valid, count, present);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
