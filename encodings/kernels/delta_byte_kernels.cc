#include "encodings/kernels/delta_byte_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/delta_byte_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The number of bytes of a vector, but at most kMost.
template <size_t kMost>
inline constexpr size_t kRegisterBytes = HWY_MAX_BYTES < kMost ? HWY_MAX_BYTES : kMost;

// Rebuilds values of at most kMost bytes. A smaller kMost makes narrower stores, which cross fewer
// cache lines.
//
// The previous value stays in registers: reading it back from memory right after two stores would
// stall. The load of a suffix begins `prefix` bytes before the suffix, so that the suffix is at its
// final position in the vector; the prefix then replaces the bytes before it.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
template <size_t kMost>
HWY_INLINE RebuiltValues Rebuild(std::span<const int32_t> prefixes, const int32_t* suffixes,
                                 const uint8_t* suffix, const uint8_t* first, const uint8_t* last,
                                 std::span<const uint8_t> previous, size_t room, uint8_t* out,
                                 uint32_t offset, uint32_t* ends) {
  constexpr size_t kLanes = kRegisterBytes<kMost>;
  constexpr size_t kParts = kMost / kLanes;
  const hn::FixedTag<uint8_t, kLanes> d;
  hn::Vec<decltype(d)> value[kParts];
  for (size_t part = 0; part < kParts; ++part)
    value[part] = hn::LoadU(d, previous.data() + part * kLanes);
  auto size = static_cast<uint32_t>(std::min(previous.size(), kMost));
  const uint8_t* from = suffix;
  size_t used = 0;
  size_t i = 0;
  for (; i < prefixes.size(); ++i) {
    const auto prefix = static_cast<uint32_t>(prefixes[i]);
    const uint64_t next_size = uint64_t{prefix} + static_cast<uint32_t>(suffixes[i]);
    if (prefix > size || next_size > kMost || next_size > room - used || from < first ||
        from > last) {
      break;
    }
    size = static_cast<uint32_t>(next_size);
    const uint8_t* const shifted = from - prefix;
    for (size_t part = 0; part < kParts; ++part) {
      const size_t before = part * kLanes;
      const auto kept = hn::FirstN(d, prefix > before ? prefix - before : 0);
      value[part] = hn::IfThenElse(kept, value[part], hn::LoadU(d, shifted + before));
      hn::StoreU(value[part], d, out + used + before);
    }
    from += static_cast<uint32_t>(suffixes[i]);
    used += size;
    ends[i] = offset + static_cast<uint32_t>(used);
  }
  return {i, used, static_cast<size_t>(from - suffix)};
}
#endif

RebuiltValues RebuildShort(std::span<const int32_t> prefixes, const int32_t* suffixes,
                           const uint8_t* suffix, std::span<const uint8_t> readable,
                           std::span<const uint8_t> previous, size_t room, uint8_t* out,
                           uint32_t offset, uint32_t* ends, [[maybe_unused]] uint32_t longest) {
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
  (void)prefixes, (void)suffixes, (void)suffix, (void)readable, (void)previous, (void)room;
  (void)out, (void)offset, (void)ends;
  return {};
#else
  if (readable.size() < 2 * kMaxRebuiltBytes) return {};
  const uint8_t* const first = readable.data() + kMaxRebuiltBytes;
  const uint8_t* const last = readable.data() + readable.size() - kMaxRebuiltBytes;
  const auto rebuild = longest <= 16   ? &Rebuild<16>
                       : longest <= 32 ? &Rebuild<32>
                                       : &Rebuild<kMaxRebuiltBytes>;
  return rebuild(prefixes, suffixes, suffix, first, last, previous, room, out, offset, ends);
#endif
}

size_t ComparePrefixes(std::span<const std::string_view> values, const char* readable_end,
                       int32_t* prefixes) {
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
  (void)values, (void)readable_end, (void)prefixes;
  return 0;
#else
  const hn::FixedTag<uint8_t, kRegisterBytes<kMaxComparedBytes> > d;
  size_t i = 1;
  for (; i < values.size(); ++i) {
    const auto* const value = reinterpret_cast<const uint8_t*>(values[i].data());
    const auto* const before = reinterpret_cast<const uint8_t*>(values[i - 1].data());
    if (reinterpret_cast<const uint8_t*>(readable_end) - value <
        static_cast<ptrdiff_t>(kMaxComparedBytes)) {
      break;
    }
    size_t same = 0;
    for (; same < kMaxComparedBytes; same += hn::Lanes(d)) {
      const auto differs = hn::Ne(hn::LoadU(d, value + same), hn::LoadU(d, before + same));
      if (const intptr_t first = hn::FindFirstTrue(d, differs); first >= 0) {
        same += static_cast<size_t>(first);
        break;
      }
    }
    prefixes[i] = static_cast<int32_t>(std::min({same, values[i].size(), values[i - 1].size()}));
  }
  return i;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {
HWY_EXPORT(RebuildShort);
HWY_EXPORT(ComparePrefixes);

RebuiltValues RebuildShortValues(std::span<const int32_t> prefixes, const int32_t* suffixes,
                                 const uint8_t* suffix, std::span<const uint8_t> readable,
                                 std::span<const uint8_t> previous, size_t room, uint8_t* out,
                                 uint32_t offset, uint32_t* ends, uint32_t longest) {
  return HWY_DYNAMIC_DISPATCH(RebuildShort)(prefixes, suffixes, suffix, readable, previous, room,
                                            out, offset, ends, longest);
}

size_t CommonPrefixes(std::span<const std::string_view> values, const char* readable_end,
                      int32_t* prefixes) {
  return HWY_DYNAMIC_DISPATCH(ComparePrefixes)(values, readable_end, prefixes);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
