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

#include "absl/status/statusor.h"
#include "cfile/predicate.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

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
// An integer or a double is compared as a number even if it lies outside the range of the column's
// type, or, for integers, between two of its values. A plain value.
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
// A condition is true, false or unknown, as in SQL, and a scan returns the rows for which it is
// true. A test of a null is unknown, except IsNull and IsNotNull. Not is unknown if its condition
// is unknown. And is false if one of its conditions is false, else unknown if one is unknown; Or is
// true if one is true, else unknown if one is unknown. Predicate (cfile/predicate.h) describes how
// values are compared.
class Filter {
 public:
  enum class Kind : uint8_t { kColumn, kAnd, kOr, kNot };

  // A filter that is true for all rows: And without conditions.
  Filter() = default;
  // A test of a column. `literals`: two for kBetween, one or two for kLike and kILike (see Like),
  // any number for kIn, none for kIsNull and kIsNotNull, otherwise one.
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
  bool empty() const { return kind_ == Kind::kAnd && operands_.empty(); }

  // For kColumn only: the name of the column; for a leaf column of records, its path ("tcp.port").
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

// Filters in text form: conditions on columns, joined by AND, OR and NOT. Keywords are not
// case-sensitive. Options `--where` of the tools and filters of C and Python have this grammar.
//
//   FilterOfText("carrier = 'UA' AND NOT (arr_delay > dep_delay OR origin LIKE 'E%')", schema)
//
//   FILTER      ALL [OR ALL]...
//   ALL         ONE [AND ONE]...
//   ONE         CONDITION, NOT ONE, or (FILTER)
//   CONDITION   COLUMN OPERATOR VALUE, where OPERATOR is one of = != <> < <= > >=
//               VALUE OPERATOR COLUMN, where VALUE is a number, a date or a text in quotes
//               COLUMN OPERATOR COLUMN, where both columns have the same type
//               COLUMN, which is a column of true and false
//               COLUMN [NOT] BETWEEN VALUE AND VALUE
//               COLUMN [NOT] IN (VALUE, ...)
//               COLUMN [NOT] LIKE PATTERN [ESCAPE CHARACTER], where % stands for any characters
//               and _ for one; ILIKE is LIKE without regard to case: of ASCII letters, or of all
//               letters if the pattern has letters beyond ASCII (needs RE2)
//               COLUMN [NOT] BEGINS PREFIX
//               COLUMN [NOT] CONTAINS PART
//               COLUMN ~ EXPRESSION, a regular expression that matches a part; !~ is its contrary
//               COLUMN IS [NOT] NULL
//   COLUMN      a word, or any name in double quotes, in which "" stands for a quote
//   VALUE       words, or any text in single quotes, in which '' stands for a quote
//
// A word is any text without blanks, without the characters ' " ( ) , = < > ~ and without !=.
// Several words are one value, with the blanks between them, if none is a keyword:
// name = New York. But a word after an OPERATOR is the column with this name, if there is one.
// A column whose name is not a word, or is a keyword that no sign follows, is written in double
// quotes.
//
// Values have these forms:
//
//   numbers     12, -0.5, 1e3, inf. A number that integers or decimals of this type cannot be equal
//               to is compared by its value; for float and double it is rounded to their nearest
//               value first, so that f = 0.1 finds the float 0.1
//   bool        true, false
//   strings     the string itself
//   binary      hexadecimal digits; also fixed-length bytes and int96; a uuid as 8-4-4-4-12 digits
//   date        2013-01-31
//   time        10:00, 10:00:00, 10:00:00.123
//   timestamp   2013-01-31, 2013-01-31T10:00:00.123, and with a time zone also Z or +02:00
//
// Dates, times and timestamps may also be @COUNT, the number of units since 1970-01-01 or midnight.

// One condition of a ParsedFilter. Values are text, because the parser does not know the types of
// the columns.
struct TextCondition {
  using Kind = PredicateKind;
  struct Value {
    std::string text;
    size_t offset;  // in bytes from the start of the parsed text
    enum class Form : uint8_t { kText, kWord, kWords, kName } form = Form::kText;
  };

  std::string column;
  size_t column_offset = 0;
  Kind kind = Kind::kEqual;
  size_t kind_offset = 0;
  // Two values for kBetween (low, high), at least one for kIn, none for kIsNull and kIsNotNull, one
  // or two for kLike and kILike (pattern, escape), one for all other kinds. The value of kEqual is
  // missing if there is only the column. A value of the form kName is a column.
  std::vector<Value> values = {};
};

// A condition, or a combination of conditions.
struct ParsedFilter {
  Filter::Kind kind = Filter::Kind::kColumn;
  TextCondition condition = {};             // if kind is kColumn
  std::vector<ParsedFilter> operands = {};  // otherwise: one for kNot, several for the others
};

// Parses `text`, which must have at least one condition. kInvalidArgument: a syntax error. Its
// message has the number of the character, counted from 1, and the text from there on.
CFILE_EXPORT absl::StatusOr<ParsedFilter> ParseFilter(std::string_view text);

// Makes a filter for a table with this schema, or for a file, whose column is called "value".
// kInvalidArgument, with the place as above: a syntax error, a column that `schema` does not have,
// or a condition that does not fit its column.
CFILE_EXPORT absl::StatusOr<Filter> FilterOfText(std::string_view text, const Schema& schema);

// Parses a list of names such as id,First Name,"a,b". A name ends at the next comma, or is enclosed
// in double quotes, in which "" stands for a quote. kInvalidArgument: an empty name, a missing
// closing quote, or text after the closing quote.
CFILE_EXPORT absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view list);

// `name` in a form that ParseNames and ParseFilter accept: in double quotes if necessary.
CFILE_EXPORT std::string NameAsWritten(std::string_view name);

// For errors about unknown names. Suggestion returns "; did you mean NAME?" with the known name
// that is most like `word`, or "" if more than a third of the letters of each name are different.
// ListOfNames returns the first 20 names, and says how many names follow them.
CFILE_EXPORT std::string Suggestion(std::string_view word, const std::vector<std::string>& known);
CFILE_EXPORT std::string ListOfNames(const std::vector<std::string>& names);

}  // namespace cfile
