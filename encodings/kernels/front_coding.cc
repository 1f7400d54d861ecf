// The string before stays in vector registers: loading it from memory would stall, because it has
// just been stored in several parts. A suffix is loaded from shared[i] bytes before it, so that it
// arrives at its place in the string; a mask then keeps the shared bytes of the string before.
#include "encodings/kernels/front_coding.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/front_coding.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

// The compiler vectorizes the loops. Precondition: all sums fit into Number.
template <typename Number>
FrontCodedSums CompleteAs(const FrontCodedSizes& sizes, uint32_t* shared, uint32_t* suffixes) {
  const auto first = static_cast<Number>(sizes.first);
  const auto common = static_cast<Number>(sizes.common);
  const auto least_shared = static_cast<Number>(sizes.least_shared);
  const auto least_suffix = static_cast<Number>(sizes.least_suffix);
  Number wrong = sizes.count > 1 && static_cast<Number>(shared[1]) + least_shared > first;
  for (size_t i = 2; i < sizes.count; ++i) {
    const Number previous =
        static_cast<Number>(shared[i - 1]) + static_cast<Number>(suffixes[i - 1]) + least_suffix;
    wrong |= static_cast<Number>(shared[i]) > previous;
  }
  Number used = first, longest = first;
  for (size_t i = 1; i < sizes.count; ++i) {
    const Number shared_size = static_cast<Number>(shared[i]) + least_shared;
    const Number suffix = static_cast<Number>(suffixes[i]) + least_suffix;
    used += suffix;
    longest = std::max(longest, shared_size + suffix);
    shared[i] = static_cast<uint32_t>(shared_size + common);
    suffixes[i] = static_cast<uint32_t>(suffix);
  }
  return {wrong == 0, static_cast<uint64_t>(used),
          static_cast<uint64_t>(longest) + static_cast<uint64_t>(common)};
}

FrontCodedSums Complete(const FrontCodedSizes& sizes, uint32_t* shared, uint32_t* suffixes) {
  // 32 bits are enough for the usual sizes, and are faster.
  constexpr int kBits = 24;
  constexpr size_t kCount = 64;
  static_assert(uint64_t{kCount} << (kBits + 1) <= INT32_MAX + uint64_t{1});
  const uint64_t numbers = sizes.first | sizes.least_shared | sizes.least_suffix | sizes.common;
  const bool small = sizes.count <= kCount && sizes.bits < kBits && numbers >> (kBits - 1) == 0;
  return small ? CompleteAs<int32_t>(sizes, shared, suffixes)
               : CompleteAs<int64_t>(sizes, shared, suffixes);
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
// Without vectors, or if vectors cannot be in arrays.
void Join(const uint32_t* shared, const uint32_t* unshared, const uint8_t* previous,
          const uint8_t* suffixes, uint8_t* to, std::span<std::string_view> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    std::memcpy(to, previous, shared[i]);
    std::memcpy(to + shared[i], suffixes, unshared[i]);
    previous = to;
    suffixes += unshared[i];
    out[i] = {reinterpret_cast<const char*>(to), size_t{shared[i]} + unshared[i]};
    to += out[i].size();
  }
}
#else

namespace hn = hwy::HWY_NAMESPACE;

void Join(const uint32_t* shared, const uint32_t* unshared, const uint8_t* previous,
          const uint8_t* suffixes, uint8_t* to, std::span<std::string_view> out) {
  const hn::CappedTag<uint8_t, kMaxShortStringBytes> d;
  constexpr size_t kLanes = hn::MaxLanes(d);
  constexpr size_t kVectors = kMaxShortStringBytes / kLanes;
  hn::Vec<decltype(d)> lanes[kVectors], places[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    lanes[v] = hn::LoadU(d, previous + v * kLanes);
    places[v] = hn::Iota(d, static_cast<uint8_t>(v * kLanes));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const auto kept = hn::Set(d, static_cast<uint8_t>(shared[i]));
    for (size_t v = 0; v < kVectors; ++v) {
      lanes[v] = hn::IfThenElse(hn::Lt(places[v], kept), lanes[v],
                                hn::LoadU(d, suffixes - shared[i] + v * kLanes));
      hn::StoreU(lanes[v], d, to + v * kLanes);
    }
    suffixes += unshared[i];
    out[i] = {reinterpret_cast<const char*>(to), size_t{shared[i]} + unshared[i]};
    to += out[i].size();
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(Complete);
HWY_EXPORT(Join);

FrontCodedSums CompleteSizes(const FrontCodedSizes& sizes, uint32_t* shared, uint32_t* suffixes) {
  return HWY_DYNAMIC_DISPATCH(Complete)(sizes, shared, suffixes);
}

void JoinShortStrings(const uint32_t* shared, const uint32_t* unshared, const uint8_t* previous,
                      const uint8_t* suffixes, uint8_t* to, std::span<std::string_view> out) {
  HWY_DYNAMIC_DISPATCH(Join)(shared, unshared, previous, suffixes, to, out);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
