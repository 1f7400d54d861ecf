// The string before stays in vector registers: loading it from memory would stall, because it has
// just been stored in several parts. A suffix is loaded from shared[i] bytes before it, so that it
// arrives at its place in the string; a mask then keeps the shared bytes of the string before.
#include "encodings/kernels/front_coding.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/front_coding.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {

// The compiler makes vector instructions of the loops.
FrontCodedSums Complete(const FrontCodedSizes& sizes, uint32_t* shared, uint32_t* suffixes) {
  const int64_t first = sizes.first, common = static_cast<int64_t>(sizes.common);
  const int64_t least_shared = sizes.least_shared, least_suffix = sizes.least_suffix;
  bool wrong = sizes.count > 1 && shared[1] + least_shared > first;
  for (size_t i = 2; i < sizes.count; ++i)
    wrong |= int64_t{shared[i]} > int64_t{shared[i - 1]} + suffixes[i - 1] + least_suffix;
  int64_t used = first, longest = first;
  for (size_t i = 1; i < sizes.count; ++i) {
    const int64_t shared_size = shared[i] + least_shared, suffix = suffixes[i] + least_suffix;
    used += suffix;
    longest = std::max(longest, shared_size + suffix);
    shared[i] = static_cast<uint32_t>(shared_size + common);
    suffixes[i] = static_cast<uint32_t>(suffix);
  }
  return {!wrong, static_cast<uint64_t>(used), static_cast<uint64_t>(longest + common)};
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
