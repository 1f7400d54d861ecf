// A predicate prepared for use on values, statistics and indexes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/format/key_codec.h"
#include "cfile/predicate.h"
#include "cfile/statistics.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/lane.h"

namespace cfile::internal {

// How many rows of a set match.
enum class Verdict : uint8_t { kNone, kSome, kAll };

// A prepared predicate, without the type of the values. A `void*` and a ValueSpan have values of
// the column's C++ type. Immutable.
class ValueMatcher {
 public:
  virtual ~ValueMatcher() = default;

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
  // True if values must be compared; false if only nulls matter.
  bool comparing() const {
    return form_ == Form::kRange || form_ == Form::kList || form_ == Form::kNotEqual;
  }

  // Writes a bitmap in the form of MatchRange (encodings/kernels/match_range.h): bit i is 1 if
  // value i matches. `values` has no nulls. Precondition: comparing().
  virtual void Match(encodings::ValueSpan values, uint8_t* bits) const = 0;

  // True if MatchEncoded may be able to compare: the values are no floats, and few comparisons with
  // ranges are enough. For strings, each range must have only one value.
  bool compares_encoded() const { return compares_encoded_; }
  // Sets `bits` like Match, for the next `count` values of `decoder`, which compares them in their
  // encoded form (BlockDecoder::ReadMatches) and moves past them. Returns false, and leaves the
  // decoder where it is, if the decoder cannot do this for this predicate. Preconditions:
  // compares_encoded(); count <= kMaxMatchEncoded and at most the values that are left.
  absl::StatusOr<bool> MatchEncoded(encodings::AnyBlockDecoder& decoder, size_t count,
                                    uint8_t* bits) const;
  static constexpr size_t kMaxMatchEncoded = 4096;

  // Tells whether none, some or all of the rows that `statistics` describe match. Returns kSome if
  // the statistics do not tell.
  Verdict Judge(const BlockStatistics& statistics) const;
  // False if the Bloom filter excludes all values that match.
  virtual bool PassesBloomFilter(const FileStatistics& statistics) const = 0;

  // For kRange and kList: the values that match are at least low() and below end(), in the order of
  // keys. end() is null if there is no upper bound.
  virtual const void* low() const = 0;
  virtual const void* end() const = 0;
  // For a kList of integers or bytes, calls `use` with all values of the list in ascending order.
  // After each value comes the next greater value of the type, if there is one. For other
  // predicates, does nothing.
  virtual void UseListBounds(absl::FunctionRef<void(encodings::ValueSpan bounds)> /*use*/) const {}
  // For kRange and kList: false if low() and end() exclude no value.
  bool has_bounds() const { return !unbounded_ || !low_key_.empty(); }

 protected:
  explicit ValueMatcher(encodings::Lane lane)
      : lane_(lane), exclusive_(lane == encodings::Lane::kBytes) {}

  // For a list of at most this many numbers, each number is compared with all values in turn.
  static constexpr size_t kMaxListPasses = 8;

  // For MatchEncoded: the least and the greatest value of kRange and kNotEqual, and all values of a
  // kList of at most kMaxListPasses values.
  virtual const void* high() const = 0;
  virtual const void* list() const = 0;

  // True if a value with this key is greater than all values of the range.
  bool IsAbove(const std::string& key) const {
    return exclusive_ ? !unbounded_ && key >= high_key_ : key > high_key_;
  }

  const encodings::Lane lane_;
  Form form_ = Form::kNothing;
  bool compares_encoded_ = false;
  size_t list_size_ = 0;  // of list()
  // The keys (memcmp form) of the range and of the list. For bytes, high_key_ is exclusive, and the
  // range has no end if unbounded_.
  std::string low_key_;
  std::string high_key_;
  std::vector<std::string> list_keys_;
  const bool exclusive_;
  bool unbounded_ = false;
};

// For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class PredicateMatcher final : public ValueMatcher {
 public:
  explicit PredicateMatcher(const Predicate<T>& predicate);
  PredicateMatcher(const PredicateMatcher&) = delete;

  void Match(encodings::ValueSpan values, uint8_t* bits) const override;
  bool PassesBloomFilter(const FileStatistics& statistics) const override;
  const void* low() const override { return &low_value_; }
  const void* end() const override { return end_ ? &end_value_ : nullptr; }
  const void* high() const override { return &high_value_; }
  const void* list() const override { return list_values_; }
  void UseListBounds(absl::FunctionRef<void(encodings::ValueSpan bounds)> use) const override;

 private:
  // Sets all members but end_ and the views.
  void Simplify(const Predicate<T>& predicate);
  void SetRange(const T& low, const T& high);
  void SetList(const std::vector<Owned<T>>& constants);
  bool InList(const T& value) const;

  // Numbers: the range is [low_, high_]. Bytes: [low_, high_), or everything from low_ on if
  // unbounded_.
  Owned<T> low_{};
  Owned<T> high_{};
  bool single_ = false;         // the range has one value, low_
  std::vector<Owned<T>> list_;  // kList: ascending
  std::optional<Owned<T>> end_;
  // Views of low_, high_, end_ and list_.
  T low_value_{};
  T high_value_{};
  T end_value_{};
  T list_values_[kMaxListPasses] = {};
};

// Returns a matcher for values of at least `key`. Precondition: the values have an order.
std::shared_ptr<const ValueMatcher> MatchAtLeast(KeyRef key);

}  // namespace cfile::internal
