// BloomFilterBuilder::Add: the eight words of a block at once.
#include "cfile/internal/bloom_filter.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cfile/internal/bloom_filter_kernel.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void SetBloomBits(std::span<const uint64_t> hashes, uint32_t* words, size_t num_blocks) {
  const hn::CappedTag<uint32_t, kBloomBlockWords> d;
  for (const uint64_t hash : hashes) {
    uint32_t* const block = words + BloomBlockOf(hash, num_blocks) * kBloomBlockWords;
    const auto low = hn::Set(d, static_cast<uint32_t>(hash));
    for (size_t i = 0; i < kBloomBlockWords; i += hn::Lanes(d)) {
      const auto bit = hn::ShiftRight<27>(hn::Mul(low, hn::LoadU(d, kBloomSalts + i)));
      const auto bits = hn::Shl(hn::Set(d, 1), bit);
      hn::StoreU(hn::Or(hn::LoadU(d, block + i), bits), d, block + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::internal {

HWY_EXPORT(SetBloomBits);

void BloomFilterBuilder::Add(std::span<const uint64_t> hashes) {
  HWY_DYNAMIC_DISPATCH(SetBloomBits)(hashes, words_.data(), words_.size() / kBloomBlockWords);
}

}  // namespace cfile::internal
#endif  // HWY_ONCE
