#include "encodings/kernels/level_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "encodings/kernels/level_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#ifndef CFILE_ENCODINGS_LEVEL_KERNELS_MASKS
#define CFILE_ENCODINGS_LEVEL_KERNELS_MASKS
namespace cfile::encodings {

// Masks are made for this many words of 64 entries each, and then used. If each word were used at
// once, the processor would wait until the bytes that were just stored can be loaded as a word.
inline constexpr size_t kMaskWords = 16;

// One bit for each entry, from the lowest bit of the first word on.
struct LevelMasks {
  // StoreMaskBits may write 8 bytes even if the mask has fewer, so each array has one more word.
  uint64_t values[kMaskWords + 1];
  uint64_t elements[kMaskWords + 1];
  uint64_t valid[kMaskWords + 1];
};

}  // namespace cfile::encodings
#endif  // CFILE_ENCODINGS_LEVEL_KERNELS_MASKS

HWY_BEFORE_NAMESPACE();
namespace cfile::encodings {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Examine only the levels that fill whole vectors, and set `count` to their number.

// Returns how many of these levels are equal to `wanted`.
size_t CountVectors(const uint16_t* levels, size_t& count, uint16_t wanted) {
#if HWY_TARGET == HWY_SCALAR
  (void)levels, (void)wanted;
  count = 0;
  return 0;
#else
  const hn::ScalableTag<uint16_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto level = hn::Set(d, wanted);
  size_t total = 0;
  size_t done = 0;
  for (; count - done >= lanes; done += lanes)
    total += hn::CountTrue(d, hn::Eq(hn::LoadU(d, levels + done), level));
  count = done;
  return total;
#endif
}

// Returns the largest of these levels, or 0 if there are none.
uint16_t LargestOfVectors(const uint16_t* levels, size_t& count) {
#if HWY_TARGET == HWY_SCALAR
  (void)levels;
  count = 0;
  return 0;
#else
  const hn::ScalableTag<uint16_t> d;
  const size_t lanes = hn::Lanes(d);
  auto largest = hn::Zero(d);
  size_t done = 0;
  for (; count - done >= lanes; done += lanes)
    largest = hn::Max(largest, hn::LoadU(d, levels + done));
  HWY_ALIGN uint16_t each[hn::MaxLanes(d)];
  hn::Store(largest, d, each);
  count = done;
  return *std::max_element(each, each + lanes);
#endif
}

// Sets the masks of the entries that fill whole vectors, and returns the number of these.
template <bool kLists>
HWY_INLINE size_t MaskVectors(const LevelRule& rule, const uint16_t* HWY_RESTRICT repetition,
                              const uint16_t* HWY_RESTRICT definition, size_t count,
                              LevelMasks& masks) {
#if HWY_TARGET == HWY_SCALAR
  (void)rule, (void)repetition, (void)definition, (void)count, (void)masks;
  return 0;
#else
  const hn::CappedTag<uint16_t, 64> d;
  const size_t lanes = hn::Lanes(d);
  if (lanes < 8) return 0;  // a vector must fill whole bytes of a mask
  const auto most = hn::Set(d, rule.repetition);
  const auto least = hn::Set(d, rule.definition);
  const auto least_valid = hn::Set(d, rule.valid_definition);
  const auto most_element = hn::Set(d, rule.element_repetition);
  const auto least_element = hn::Set(d, rule.element_definition);
  const auto bytes_of = [](uint64_t* words) { return reinterpret_cast<uint8_t*>(words); };
  size_t done = 0;
  for (; count - done >= lanes; done += lanes) {
    const auto r = hn::LoadU(d, repetition + done);
    const auto f = hn::LoadU(d, definition + done);
    const auto value = hn::And(hn::Eq(hn::Min(r, most), r), hn::Eq(hn::Max(f, least), f));
    hn::StoreMaskBits(d, value, bytes_of(masks.values) + done / 8);
    hn::StoreMaskBits(d, hn::Eq(hn::Max(f, least_valid), f), bytes_of(masks.valid) + done / 8);
    if constexpr (kLists) {
      const auto element =
          hn::And(hn::Eq(hn::Min(r, most_element), r), hn::Eq(hn::Max(f, least_element), f));
      hn::StoreMaskBits(d, element, bytes_of(masks.elements) + done / 8);
    }
  }
  return done;
#endif
}

template <bool kLists>
HWY_INLINE void Mask(const LevelRule& rule, const uint16_t* repetition, const uint16_t* definition,
                     size_t count, LevelMasks& masks) {
  masks = {};
  for (size_t i = MaskVectors<kLists>(rule, repetition, definition, count, masks); i < count; ++i) {
    const auto set = [i](uint64_t* words, bool one) {
      words[i / 64] |= static_cast<uint64_t>(one) << i % 64;
    };
    set(masks.values, repetition[i] <= rule.repetition && definition[i] >= rule.definition);
    set(masks.valid, definition[i] >= rule.valid_definition);
    set(masks.elements,
        repetition[i] <= rule.element_repetition && definition[i] >= rule.element_definition);
  }
}

template <bool kLists>
HWY_INLINE FoundLevelValues Find(const LevelRule& rule, const uint16_t* repetition,
                                 const uint16_t* definition, size_t count, uint32_t elements_before,
                                 int32_t* HWY_RESTRICT begins, uint8_t* HWY_RESTRICT valid) {
  LevelMasks masks;
  size_t found = 0;
  uint32_t elements = elements_before;
  for (size_t first = 0; first < count; first += 64 * kMaskWords) {
    const size_t some = std::min(count - first, 64 * kMaskWords);
    Mask<kLists>(rule, repetition + first, definition + first, some, masks);
    for (size_t word = 0; word < (some + 63) / 64; ++word) {
      const uint64_t values = masks.values[word];
      const auto present = static_cast<size_t>(std::popcount(values));
      const uint64_t word_valid = masks.valid[word];
      if ((values & ~word_valid) == 0) {
        std::memset(valid + found, 1, 64);
      } else {
        uint8_t* to = valid + found;
        for (uint64_t left = values; left != 0; left &= left - 1)
          *to++ = (word_valid & left & (~left + 1)) != 0;
      }
      if constexpr (kLists) {
        const uint64_t word_elements = masks.elements[word];
        int32_t* const to = begins + found;
        uint64_t left = values;
        // Writes up to three numbers too many, which is faster than a loop of unknown length.
        for (size_t i = 0; i < present; i += 4) {
          for (size_t k = 0; k < 4; ++k) {
            const uint64_t before = (left & (~left + 1)) - 1;
            to[i + k] = static_cast<int32_t>(
                elements + static_cast<uint32_t>(std::popcount(word_elements & before)));
            left &= left - 1;
          }
        }
        elements += static_cast<uint32_t>(std::popcount(word_elements));
      }
      found += present;
    }
  }
  return {found, elements - elements_before};
}

FoundLevelValues FindLists(const LevelRule& rule, const uint16_t* repetition,
                           const uint16_t* definition, size_t count, uint32_t elements_before,
                           int32_t* begins, uint8_t* valid) {
  return Find<true>(rule, repetition, definition, count, elements_before, begins, valid);
}
FoundLevelValues FindOthers(const LevelRule& rule, const uint16_t* repetition,
                            const uint16_t* definition, size_t count, uint8_t* valid) {
  return Find<false>(rule, repetition, definition, count, 0, nullptr, valid);
}

}  // namespace HWY_NAMESPACE
}  // namespace cfile::encodings
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cfile::encodings {

HWY_EXPORT(CountVectors);
HWY_EXPORT(LargestOfVectors);
HWY_EXPORT(FindLists);
HWY_EXPORT(FindOthers);

size_t CountLevels(const uint16_t* levels, size_t count, uint16_t wanted) {
  size_t done = count;
  size_t total = HWY_DYNAMIC_DISPATCH(CountVectors)(levels, done, wanted);
  for (; done < count; ++done) total += levels[done] == wanted;
  return total;
}

uint16_t LargestLevel(const uint16_t* levels, size_t count) {
  size_t done = count;
  uint16_t largest = HWY_DYNAMIC_DISPATCH(LargestOfVectors)(levels, done);
  for (; done < count; ++done) largest = std::max(largest, levels[done]);
  return largest;
}

FoundLevelValues FindLevelValues(const LevelRule& rule, const uint16_t* repetition,
                                 const uint16_t* definition, size_t count, uint32_t elements_before,
                                 int32_t* begins, uint8_t* valid) {
  if (!rule.is_list) {
    return HWY_DYNAMIC_DISPATCH(FindOthers)(rule, repetition, definition, count, valid);
  }
  return HWY_DYNAMIC_DISPATCH(FindLists)(rule, repetition, definition, count, elements_before,
                                         begins, valid);
}

}  // namespace cfile::encodings
#endif  // HWY_ONCE
