// Evaluates a predicate on dictionary codes: compares the dictionary's values once, then looks up
// the codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cfile/parts/scan/predicate_matcher.h"
#include "encodings/kernels/match_range.h"

namespace cfile::internal {

// Thread-compatible.
class CodeMatcher {
 public:
  // Evaluates `matcher` for each value of `dictionary`. Does nothing if `dictionary` has the same
  // address and size as in the last call. Precondition: the values at one address do not change.
  void SetDictionary(const ValueMatcher& matcher, encodings::ValueSpan dictionary) {
    if (dictionary.data == dictionary_.data && dictionary.count == dictionary_.count) return;
    dictionary_ = dictionary;
    const size_t size = dictionary.count;
    std::vector<uint8_t> bits((size + 7) / 8);
    matcher.Match(dictionary, bits.data());
    matches_.assign(size, 0);
    for (size_t code = 0; code < size; ++code) matches_[code] = bits[code / 8] >> (code % 8) & 1;
    const auto count =
        static_cast<size_t>(std::count(matches_.begin(), matches_.end(), uint8_t{1}));
    verdict_ = count == 0 ? Verdict::kNone : count == size ? Verdict::kAll : Verdict::kSome;
    // If the matching codes are consecutive, Match compares codes with the first and the last one.
    first_ =
        static_cast<uint32_t>(std::find(matches_.begin(), matches_.end(), 1) - matches_.begin());
    const auto end = std::find(matches_.begin() + first_, matches_.end(), 0);
    last_ = static_cast<uint32_t>(end - matches_.begin()) - 1;
    consecutive_ = count > 0 && last_ - first_ + 1 == count;
  }

  // Tells whether none, some or all of the dictionary's values match.
  Verdict verdict() const { return verdict_; }

  // Writes a bitmap in the form of MatchRange (encodings/kernels/match_range.h): bit i is 1 if
  // codes[i] stands for a matching value. Preconditions: the codes are codes of the dictionary;
  // verdict() is not kNone.
  void Match(std::span<const uint32_t> codes, uint8_t* bits) const {
    if (consecutive_) {
      encodings::MatchRange(codes.data(), codes.size(), first_, last_, bits);
    } else {
      const uint8_t* const matches = matches_.data();
      encodings::MatchEach(
          codes.data(), codes.size(), [matches](uint32_t code) { return matches[code] != 0; },
          bits);
    }
  }

 private:
  encodings::ValueSpan dictionary_;
  std::vector<uint8_t> matches_;  // by code: 1 or 0
  Verdict verdict_ = Verdict::kNone;
  bool consecutive_ = false;  // true: the matching codes are first_ to last_
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};

}  // namespace cfile::internal
