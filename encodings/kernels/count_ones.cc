#include "encodings/kernels/count_ones.h"

#include <algorithm>
#include <bit>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/count_ones.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Counts the ones of 64-bit words, as long as they fill whole vectors. `words` is the number of
// words at `bytes`; it is set to the number of words counted. (Baseline x86-64 has no instruction
// that counts bits: without vectors, each count would be a function call.)
uint64_t CountOnesOfVectors(const uint8_t* bytes, size_t& words) {
#if HWY_TARGET == HWY_SCALAR
  (void)bytes;
  words = 0;
  return 0;
#else
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint8_t, decltype(d)> d_bytes;
  const size_t lanes = hn::Lanes(d);
  auto ones = hn::Zero(d);
  size_t done = 0;
  for (; words - done >= lanes; done += lanes) {
    ones = hn::Add(ones, hn::PopulationCount(hn::BitCast(d, hn::LoadU(d_bytes, bytes + 8 * done))));
  }
  words = done;
  return hn::GetLane(hn::SumOfLanes(d, ones));
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(CountOnesOfVectors);

uint64_t CountOnes(std::span<const uint8_t> packed, uint64_t first, uint64_t count) {
  uint64_t ones = 0;
  const auto count_loaded = [&](uint64_t bits) {
    const int taken = static_cast<int>(std::min<uint64_t>(bits, kMaxBitsPerLoad));
    ones += static_cast<uint64_t>(std::popcount(LoadBits(packed, first, taken)));
    first += static_cast<uint64_t>(taken);
    count -= static_cast<uint64_t>(taken);
  };
  if (count >= 256) {
    if (first % 8 != 0) count_loaded(8 - first % 8);
    auto words = static_cast<size_t>(count / 64);
    ones += HWY_DYNAMIC_DISPATCH(CountOnesOfVectors)(packed.data() + first / 8, words);
    first += 64 * words;
    count -= 64 * words;
  }
  while (count > 0) count_loaded(count);
  return ones;
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
