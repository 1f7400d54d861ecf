// Conditions on the values of a column, for scans (cfile/scan.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cfile/batch.h"
#include "cfile/types.h"

namespace cfile {

// The test that a predicate makes on a value.
enum class PredicateKind : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBetween,
  kIn,
  kHasPrefix,
  kIsNull,
  kIsNotNull,
  // These kinds test strings and bytes. Only filters (cfile/filter.h) have them, not a Predicate.
  kLike,
  kILike,
  kContains,
  kMatches,
};

// A condition on one value. Owns its constants, including the bytes of strings. Immutable, so
// threads may share it.
//
// A null matches IsNull and no other predicate. Numbers are compared as numbers, and false is less
// than true. Strings and bytes are compared by their unsigned bytes; a prefix of a string is less
// than the string. For floats, -0 equals +0; NaN equals nothing, not even NaN, and is neither less
// nor greater than any value, so it matches only NotEqual and IsNotNull. int96 has no order.
template <typename T>
class Predicate {
  static_assert(CheckValueType<T>());

 public:
  using Kind = PredicateKind;

  static Predicate Equal(const T& value) { return {Kind::kEqual, value}; }
  static Predicate NotEqual(const T& value) { return {Kind::kNotEqual, value}; }
  static Predicate Less(const T& value) { return {Kind::kLess, value}; }
  static Predicate LessOrEqual(const T& value) { return {Kind::kLessOrEqual, value}; }
  static Predicate Greater(const T& value) { return {Kind::kGreater, value}; }
  static Predicate GreaterOrEqual(const T& value) { return {Kind::kGreaterOrEqual, value}; }
  // low <= value <= high.
  static Predicate Between(const T& low, const T& high) {
    Predicate predicate(Kind::kBetween, low);
    predicate.constants_.emplace_back(high);
    return predicate;
  }
  // Equal to one of `values`. Matches nothing if `values` is empty.
  static Predicate In(std::span<const T> values) {
    Predicate predicate(Kind::kIn);
    for (const T& value : values) predicate.constants_.emplace_back(value);
    return predicate;
  }
  static Predicate In(std::initializer_list<T> values) {
    return In(std::span<const T>(values.begin(), values.size()));
  }
  // Strings and bytes only: the value begins with `prefix`.
  static Predicate HasPrefix(std::string_view prefix) {
    static_assert(std::is_same_v<T, std::string_view>, "only bytes have prefixes");
    return {Kind::kHasPrefix, prefix};
  }
  static Predicate IsNull() { return Predicate(Kind::kIsNull); }
  static Predicate IsNotNull() { return Predicate(Kind::kIsNotNull); }

  Kind kind() const { return kind_; }
  // For bool this is a std::vector<bool>: its elements are not bool&.
  const std::vector<Owned<T>>& constants() const { return constants_; }

 private:
  explicit Predicate(Kind kind) : kind_(kind) {}
  Predicate(Kind kind, const T& value) : kind_(kind) { constants_.emplace_back(value); }

  Kind kind_;
  std::vector<Owned<T>> constants_;
};

}  // namespace cfile
