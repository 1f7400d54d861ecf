// The grammar of --where: conditions on columns, joined by AND, OR and NOT. Keywords are not
// case-sensitive.
//
//   FILTER      ALL [OR ALL]...
//   ALL         ONE [AND ONE]...
//   ONE         CONDITION, NOT ONE, or (FILTER)
//   CONDITION   COLUMN OPERATOR VALUE, where OPERATOR is one of = != <> < <= > >=
//               COLUMN OPERATOR COLUMN, where both columns have the same type
//               COLUMN, which is a column of true and false
//               COLUMN [NOT] BETWEEN VALUE AND VALUE
//               COLUMN [NOT] IN (VALUE, ...)
//               COLUMN [NOT] LIKE PATTERN [ESCAPE CHARACTER], where % stands for any characters
//               and _ for one; ILIKE is LIKE without regard to case
//               COLUMN [NOT] BEGINS PREFIX
//               COLUMN [NOT] CONTAINS PART
//               COLUMN ~ EXPRESSION, a regular expression that matches a part; !~ is its contrary
//               COLUMN IS [NOT] NULL
//   COLUMN      a word, or any name in double quotes, in which "" stands for a quote
//   VALUE       words, or any text in single quotes, in which '' stands for a quote
//
// A word is any text without blanks, without the characters ' " ( ) , = < > ~ and without !=. Several
// words are one value, with the blanks between them, if none is a keyword: name = New York. But a
// word after an OPERATOR is the column with this name, if there is one. A column before an OPERATOR
// whose name is not is written in double quotes, unless = or another sign follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/filter.h"

namespace cfile::tools {

// One condition. Values are text, because the parser does not know the types of the columns.
struct Condition {
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
  Condition condition = {};                 // if kind is kColumn
  std::vector<ParsedFilter> operands = {};  // otherwise: one for kNot, several for the others
};

// Parses `where`, which must have at least one condition. Errors are those of WhereError.
absl::StatusOr<ParsedFilter> ParseFilter(std::string_view where);

// Returns kInvalidArgument for an error at byte `offset` of `where`. The message has `what`, the
// number of the character at `offset`, counted from 1, and the text from there on.
absl::Status WhereError(std::string_view where, size_t offset, std::string_view what);

// Parses a list of names such as id,First Name,"a,b". A name ends at the next comma, or is enclosed
// in double quotes, in which "" stands for a quote. kInvalidArgument: an empty name, a missing
// closing quote, or text after the closing quote.
absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view list);

// `name` in a form that both grammars accept: in double quotes if necessary.
std::string NameAsWritten(std::string_view name);

}  // namespace cfile::tools
