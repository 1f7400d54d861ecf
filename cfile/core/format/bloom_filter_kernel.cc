// SetBloomBits, which processes the eight words of a block at once.
#include "cfile/core/format/bloom_filter.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cfile/core/format/bloom_filter_kernel.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/core/assert.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void SetBits(std::span<const uint64_t> hashes, std::span<BloomBlock> filter) {
  // Prefetch all blocks first, so that the memory latencies of a large filter overlap.
  uint32_t* blocks[kBloomBatch];
  for (size_t k = 0; k < hashes.size(); ++k) {
    blocks[k] = filter[BloomBlockOf(hashes[k], filter.size())].words;
    __builtin_prefetch(blocks[k], 1);
  }
  const hn::CappedTag<uint32_t, kBloomBlockWords> d;
  for (size_t k = 0; k < hashes.size(); ++k) {
    uint32_t* const block = blocks[k];
    const auto low = hn::Set(d, static_cast<uint32_t>(hashes[k]));
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

HWY_EXPORT(SetBits);

void SetBloomBits(std::span<const uint64_t> hashes, std::span<BloomBlock> filter) {
  CFILE_ASSERT(hashes.size() <= kBloomBatch);
  HWY_DYNAMIC_DISPATCH(SetBits)(hashes, filter);
}

}  // namespace cfile::internal
#endif  // HWY_ONCE
