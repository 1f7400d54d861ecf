// A predicate made ready for use: on values, on statistics, on indexes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cfile/batch.h"
#include "cfile/predicate.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// How many of some rows match.
enum class Verdict : uint8_t { kNone, kSome, kAll };

// Immutable. For the types of CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
class PredicateMatcher {
 public:
  explicit PredicateMatcher(const Predicate<T>& predicate);

  // What the predicate comes down to.
  enum class Form : uint8_t {
    kNothing,  // matches nothing
    kNull,
    kNotNull,
    kRange,     // the values from low to high
    kNotEqual,  // the others
    kList,      // some of the values from low to high
  };
  Form form() const { return form_; }

  // Which of `values`, that are all present, match: a bitmap as MatchRange writes it. Precondition:
  // form() is one of the last three.
  void Match(std::span<const T> values, uint8_t* bits) const;

  // What statistics allow to say of the rows that they are about.
  Verdict Judge(const BlockStatistics& statistics) const;
  // False if the Bloom filter says that none matches.
  bool PassesBloomFilter(const FileStatistics& statistics) const;

  // Of kRange and kList: the values that match lie from low() on, before end(), which is absent if
  // there is nothing above. In the order of keys.
  T low() const { return T(low_); }
  std::optional<Owned<T>> end() const;

 private:
  void SetRange(const T& low, const T& high);
  void SetList(const std::vector<Owned<T>>& constants);
  bool InList(const T& value) const;
  bool IsAbove(const std::string& key) const;

  Form form_ = Form::kNothing;
  // Numbers: the range is [low_, high_]. Bytes: [low_, high_), or all from low_ on.
  Owned<T> low_{};
  Owned<T> high_{};
  bool unbounded_ = false;
  bool single_ = false;         // a range of one value, low_
  std::vector<Owned<T>> list_;  // kList: ascending
  // In memcmp form; high_key_ is included for numbers.
  std::string low_key_;
  std::string high_key_;
  std::vector<std::string> list_keys_;
};

}  // namespace cfile::internal
