// Conditions on the rows of a table, for table scans (cfile/table_scan.h).
//
//   const Filter filter = And(Eq("service", "api"), Between("time", begin, end),
//                             Or(Gt("status", 499), IsNull("status")));
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cfile/predicate.h"
#include "cfile/types.h"
#include "encodings/core/assert.h"

namespace cfile {

// A constant that is compared with the values of a column. Its type must fit the column's type:
//
//   column                          constant
//   bool                            bool
//   integers, date, time, timestamp integers (for dates and times: the stored number, for example
//                                   days or milliseconds); double
//   float, double                   integers, double (a number within the range of the column's
//                                   type is rounded to the nearest value of this type)
//   decimal                         integers: the unscaled number. For 12.34 write 1234; 12 is 0.12
//   string, binary, uuid, fixed     strings
//   int96                           Int96
//
// An integer or a double may lie outside the range of the column's type, or between two of its
// values. Then it is still compared as a number. A plain value.
class Literal {
 public:
  using Variant = std::variant<bool, int128_t, double, Int96, std::string>;

  Literal(bool value) : value_(value) {}          // NOLINT: implicit
  Literal(double value) : value_(value) {}        // NOLINT: implicit
  Literal(const Int96& value) : value_(value) {}  // NOLINT: implicit
  Literal(int128_t value) : value_(value) {}      // NOLINT: implicit
  template <std::integral Integer>
  Literal(Integer value) : value_(static_cast<int128_t>(value)) {}  // NOLINT: implicit
  Literal(std::string_view value) : value_(std::string(value)) {}   // NOLINT: implicit
  Literal(const char* value) : Literal(std::string_view(value)) {}  // NOLINT: implicit
  Literal(std::nullptr_t) = delete;                                 // compare with IsNull
  template <typename T>
  requires(!std::same_as<std::remove_cv_t<T>, char>) Literal(T*)
  = delete;                                                 // would be a bool
  Literal(std::string value) : value_(std::move(value)) {}  // NOLINT: implicit

  const Variant& value() const { return value_; }
  friend bool operator==(const Literal&, const Literal&) = default;

 private:
  Variant value_;
};

// A condition on a row: a test of one column, a comparison of two columns, or a combination of
// conditions. A plain value.
//
// A condition is true, false or unknown, as in SQL.
// A test of a null is unknown, except IsNull and IsNotNull.
// - Not is unknown if its condition is unknown.
// - And is false if one of its conditions is false.
//   Otherwise And is unknown if one of its conditions is unknown.
// - Or is true if one of its conditions is true.
//   Otherwise Or is unknown if one of its conditions is unknown.
//
// A scan returns the rows for which the filter is true.
// Predicate (cfile/predicate.h) describes how values are compared.
class Filter {
 public:
  enum class Kind : uint8_t { kColumn, kAnd, kOr, kNot };

  // A filter that is true for all rows: And without conditions.
  Filter() = default;
  // A test of a column. `literals`: two for kBetween, one or two for kLike and kILike (see Like), any
  // number for kIn, none for kIsNull and kIsNotNull, otherwise one.
  Filter(std::string column, PredicateKind test, std::vector<Literal> literals)
      : kind_(Kind::kColumn),
        column_(std::move(column)),
        test_(test),
        literals_(std::move(literals)) {}
  // A combination. Precondition: kind is not kColumn; exactly one operand if kind is kNot.
  Filter(Kind kind, std::vector<Filter> operands) : kind_(kind), operands_(std::move(operands)) {
    CFILE_ASSERT(kind != Kind::kColumn && (kind != Kind::kNot || operands_.size() == 1));
  }

  Kind kind() const { return kind_; }
  // True if the filter is And without conditions.
  bool empty() const { return kind_ == Kind::kAnd && operands_.empty(); }

  // For kColumn only: the name of the column.
  // For a leaf column of records, this is its path ("tcp.port").
  const std::string& column() const { return column_; }
  PredicateKind test() const { return test_; }
  const std::vector<Literal>& literals() const { return literals_; }
  // The column that column() is compared with; nullopt if it is compared with literals().
  const std::optional<std::string>& other_column() const { return other_column_; }

  // For the other kinds.
  const std::vector<Filter>& operands() const { return operands_; }

  friend bool operator==(const Filter&, const Filter&) = default;
  friend Filter CompareColumns(std::string, PredicateKind, std::string);

 private:
  Kind kind_ = Kind::kAnd;
  std::string column_;
  PredicateKind test_ = PredicateKind::kIsNotNull;
  std::vector<Literal> literals_;
  std::optional<std::string> other_column_;
  std::vector<Filter> operands_;
};

inline Filter Eq(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kEqual, {std::move(value)}};
}
inline Filter Ne(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kNotEqual, {std::move(value)}};
}
inline Filter Lt(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kLess, {std::move(value)}};
}
inline Filter Le(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kLessOrEqual, {std::move(value)}};
}
inline Filter Gt(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kGreater, {std::move(value)}};
}
inline Filter Ge(std::string column, Literal value) {
  return {std::move(column), PredicateKind::kGreaterOrEqual, {std::move(value)}};
}
// low <= value <= high.
inline Filter Between(std::string column, Literal low, Literal high) {
  return {std::move(column), PredicateKind::kBetween, {std::move(low), std::move(high)}};
}
// Equal to one of `values`; false for each value if `values` is empty.
inline Filter In(std::string column, std::vector<Literal> values) {
  return {std::move(column), PredicateKind::kIn, std::move(values)};
}
// Strings and bytes only: the value begins with `prefix`.
inline Filter HasPrefix(std::string column, std::string_view prefix) {
  return {std::move(column), PredicateKind::kHasPrefix, {prefix}};
}
// Strings only: all of the value matches `pattern`, in which % stands for any characters and _ for
// one. After `escape`, which is one byte or empty, both stand for themselves.
inline Filter Like(std::string column, std::string_view pattern, std::string_view escape = "") {
  return {std::move(column), PredicateKind::kLike, {pattern, escape}};
}
// Like, but upper and lower case are the same. Letters outside ASCII in a pattern need RE2.
inline Filter ILike(std::string column, std::string_view pattern, std::string_view escape = "") {
  return {std::move(column), PredicateKind::kILike, {pattern, escape}};
}
// Strings and bytes only: `text` is a part of the value.
inline Filter Contains(std::string column, std::string_view text) {
  return {std::move(column), PredicateKind::kContains, {text}};
}
// Strings only: a part of the value matches a regular expression of RE2. The scan answers
// kUnimplemented if the library was built without RE2.
inline Filter Matches(std::string column, std::string_view expression) {
  return {std::move(column), PredicateKind::kMatches, {expression}};
}
// Compares two columns of the same type: CompareColumns("arrived", PredicateKind::kGreater, "due").
// `test`: kEqual to kGreaterOrEqual.
inline Filter CompareColumns(std::string column, PredicateKind test, std::string other_column) {
  Filter filter(std::move(column), test, {});
  filter.other_column_ = std::move(other_column);
  return filter;
}
inline Filter IsNull(std::string column) { return {std::move(column), PredicateKind::kIsNull, {}}; }
inline Filter IsNotNull(std::string column) {
  return {std::move(column), PredicateKind::kIsNotNull, {}};
}

// And, Or: of any number of filters, or of the elements of a vector.
inline Filter And(std::vector<Filter> operands) {
  return {Filter::Kind::kAnd, std::move(operands)};
}
inline Filter Or(std::vector<Filter> operands) { return {Filter::Kind::kOr, std::move(operands)}; }
template <std::convertible_to<Filter>... Filters>
Filter And(Filters... operands) {
  return {Filter::Kind::kAnd, {std::move(operands)...}};
}
template <std::convertible_to<Filter>... Filters>
Filter Or(Filters... operands) {
  return {Filter::Kind::kOr, {std::move(operands)...}};
}
inline Filter Not(Filter operand) { return {Filter::Kind::kNot, {std::move(operand)}}; }

}  // namespace cfile
