// A predicate prepared for use on values, statistics and indexes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/predicate.h"
#include "cfile/statistics.h"
#include "encodings/core/assert.h"

namespace cfile::internal {

// How many rows of a set match.
enum class Verdict : uint8_t { kNone, kSome, kAll };

// The least string that is greater than all strings that begin with `prefix`; nullopt if there is
// none.
std::optional<std::string> AfterPrefix(std::string prefix);

// Immutable. For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class PredicateMatcher {
 public:
  explicit PredicateMatcher(const Predicate<T>& predicate);

  // The kind of the simplified predicate.
  enum class Form : uint8_t {
    kNothing,  // matches nothing
    kNull,
    kNotNull,
    kRange,     // values from low to high
    kNotEqual,  // all values that are not from low to high
    kList,      // some of the values from low to high
  };
  Form form() const { return form_; }

  // Writes a bitmap in the form of MatchRange (encodings/kernels/match_range.h): bit i is 1 if
  // values[i] matches. `values` has no nulls. Precondition: form() is kRange, kNotEqual or kList.
  void Match(std::span<const T> values, uint8_t* bits) const;

  // Sets `bits` like Match, for `count` values that are still encoded. Two functions of the caller
  // compare them; both return absl::StatusOr<bool>, and false if they cannot compare:
  //   compare(low, high, bits)  compares with a range and sets `bits` (BlockDecoder::ReadMatches)
  //   compare_list(values)      compares with a list and sets the `bits` of MatchBy
  //                             (BlockDecoder::ReadMatchesOfAny)
  // Returns true if `bits` are set. Returns false or an error if `compare` does. Preconditions:
  // is_ranges(); count <= kMaxMatchBy.
  template <typename Compare, typename CompareList>
  absl::StatusOr<bool> MatchBy(size_t count, const Compare& compare,
                               const CompareList& compare_list, uint8_t* bits) const;
  static constexpr size_t kMaxMatchBy = 4096;
  // True if few comparisons with ranges are enough: the predicate is not a long list. For strings,
  // each range must have only one value.
  bool is_ranges() const {
    if (form_ == Form::kList) return list_.size() <= kMaxListPasses;
    return !encodings::kIsBytes<T> || single_;
  }

  // Tells whether none, some or all of the rows that `statistics` describe match. Returns kSome if
  // the statistics do not tell.
  Verdict Judge(const BlockStatistics& statistics) const;
  // False if the Bloom filter excludes all values that match.
  bool PassesBloomFilter(const FileStatistics& statistics) const;

  // For kRange and kList: the values that match are at least low() and below end(), in the order of
  // keys. end() is nullopt if there is no upper bound.
  T low() const { return T(low_); }
  std::optional<Owned<T>> end() const;

 private:
  // If a list has at most this many numbers, the values are compared with one number of the list
  // after the other.
  static constexpr size_t kMaxListPasses = 8;

  // Inverts a bitmap of `count` bits.
  static void Invert(size_t count, uint8_t* bits) {
    for (size_t i = 0; i < (count + 7) / 8; ++i) bits[i] = static_cast<uint8_t>(~bits[i]);
    if (count % 8 != 0) bits[count / 8] &= static_cast<uint8_t>((1u << count % 8) - 1);
  }

  void SetRange(const T& low, const T& high);
  void SetList(const std::vector<Owned<T>>& constants);
  bool InList(const T& value) const;
  bool IsAbove(const std::string& key) const;

  Form form_ = Form::kNothing;
  // Numbers: the range is [low_, high_]. Bytes: [low_, high_), or everything from low_ on if
  // unbounded_.
  Owned<T> low_{};
  Owned<T> high_{};
  bool unbounded_ = false;
  bool single_ = false;         // the range has one value, low_
  std::vector<Owned<T>> list_;  // kList: ascending
  // The keys (memcmp form) of low_, high_ and list_. For numbers, high_key_ is inclusive.
  std::string low_key_;
  std::string high_key_;
  std::vector<std::string> list_keys_;
};

template <typename T>
template <typename Compare, typename CompareList>
absl::StatusOr<bool> PredicateMatcher<T>::MatchBy(size_t count, const Compare& compare,
                                                  const CompareList& compare_list,
                                                  uint8_t* bits) const {
  CFILE_ASSERT(form_ == Form::kRange || form_ == Form::kNotEqual || form_ == Form::kList);
  CFILE_ASSERT(is_ranges() && count <= kMaxMatchBy);
  if (form_ != Form::kList) {
    const absl::StatusOr<bool> done = compare(low_, encodings::kIsBytes<T> ? low_ : high_, bits);
    if (done.value_or(false) && form_ == Form::kNotEqual) Invert(count, bits);
    return done;
  }
  T constants[kMaxListPasses];
  std::copy(list_.begin(), list_.end(), constants);
  const absl::StatusOr<bool> listed = compare_list(std::span<const T>(constants, list_.size()));
  if (!listed.ok() || *listed) return listed;
  uint8_t some[kMaxMatchBy / 8];
  const size_t bytes = (count + 7) / 8;
  std::fill_n(bits, bytes, uint8_t{0});
  for (const T constant : list_) {
    const absl::StatusOr<bool> done = compare(constant, constant, some);
    if (!done.value_or(false)) return done;
    for (size_t i = 0; i < bytes; ++i) bits[i] |= some[i];
  }
  return true;
}

}  // namespace cfile::internal
