#include "encodings/kernels/index_unpacking.h"

#include <algorithm>
#include <cassert>

#include "encodings/kernels/bit_packing.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/index_unpacking.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include "encodings/kernels/bit_unpacking-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

// Unpacks whole groups of 8 of the `count` values at `packed`: as many groups as wide loads can
// read without reading more than `available` bytes. Returns the number of values unpacked. Sets
// `largest` to the largest of these values and of the old `largest`.
size_t UnpackGroups(const uint8_t* packed, size_t available, int width, uint32_t* out, size_t count,
                    uint32_t& largest) {
#if CFILE_UNPACK_SIMD
  using Unpacker = GroupUnpacker<uint32_t>;
  if (width == 0 || width > Unpacker::kMaxWidth) return 0;
  const Unpacker unpacker(width);
  if (available < unpacker.readable_bytes()) return 0;
  const size_t group_bytes = static_cast<size_t>(width);
  const size_t groups =
      std::min(count / 8, (available - unpacker.readable_bytes()) / group_bytes + 1);
  const Unpacker::D d;
  auto most = hn::Set(d, largest);
  for (size_t group = 0; group < groups; ++group) {
    for (size_t vector = 0; vector < Unpacker::kVectors; ++vector) {
      const auto values = unpacker.Unpack(packed + group * group_bytes, vector);
      most = hn::Max(most, values);
      hn::StoreU(values, d, out + group * 8 + vector * Unpacker::kLanes);
    }
  }
  alignas(64) uint32_t lanes[Unpacker::kLanes];
  hn::Store(most, d, lanes);
  largest = *std::max_element(lanes, lanes + Unpacker::kLanes);
  return groups * 8;
#else
  (void)packed, (void)available, (void)width, (void)out, (void)count, (void)largest;
  return 0;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
HWY_EXPORT(UnpackGroups);

uint32_t UnpackIndexes(std::span<const uint8_t> packed, int width, uint64_t first, uint32_t* out,
                       size_t count) {
  assert(0 <= width && width <= 32);
  assert(PackedBytes(first + count, width) <= packed.size());
  uint32_t largest = 0;
  size_t done = 0;
  if (first % 8 == 0 && count >= 8) {
    const size_t begin = static_cast<size_t>(first / 8 * static_cast<uint64_t>(width));
    done = HWY_DYNAMIC_DISPATCH(UnpackGroups)(packed.data() + begin, packed.size() - begin, width,
                                              out, count, largest);
  }
  UnpackBits(packed, width, first + done, out + done, count - done);
  for (size_t i = done; i < count; ++i) largest = std::max(largest, out[i]);
  return largest;
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
