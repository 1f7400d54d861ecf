#include "encodings/kernels/count_ones.h"

#include <algorithm>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/count_ones.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Baseline x86-64 has no instruction that counts bits: there, each count is a function call.
uint64_t Count(std::span<const uint8_t> packed, uint64_t first, uint64_t count) {
  uint64_t ones = 0;
  const auto count_loaded = [&](uint64_t bits) HWY_ATTR {
    const int taken = static_cast<int>(std::min<uint64_t>(bits, kMaxBitsPerLoad));
    ones += hwy::PopCount(LoadBits(packed, first, taken));
    first += static_cast<uint64_t>(taken);
    count -= static_cast<uint64_t>(taken);
  };
#if HWY_TARGET != HWY_SCALAR
  if (count >= 256) {
    if (first % 8 != 0) count_loaded(8 - first % 8);
    const hn::ScalableTag<uint64_t> d;
    const hn::Repartition<uint8_t, decltype(d)> d_bytes;
    const size_t lanes = hn::Lanes(d);
    auto in_lanes = hn::Zero(d);
    for (; count >= 64 * lanes; count -= 64 * lanes, first += 64 * lanes) {
      const auto words = hn::BitCast(d, hn::LoadU(d_bytes, packed.data() + first / 8));
      in_lanes = hn::Add(in_lanes, hn::PopulationCount(words));
    }
    ones += hn::GetLane(hn::SumOfLanes(d, in_lanes));
  }
#endif
  while (count > 0) count_loaded(count);
  return ones;
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(Count);

uint64_t CountOnes(std::span<const uint8_t> packed, uint64_t first, uint64_t count) {
  return HWY_DYNAMIC_DISPATCH(Count)(packed, first, count);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
