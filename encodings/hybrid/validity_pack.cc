// PackValues: copies the present values of a batch with nulls.
#include "encodings/hybrid/validity.h"

#include <algorithm>

#include "encodings/core/physical_type.h"
#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/hybrid/validity_pack.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

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

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(Pack64x32);
HWY_EXPORT(Pack64x64);

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

}  // namespace cfile::encodings
#endif  // HWY_ONCE
