// The grammar of --where: conditions on columns, joined by AND. Keywords are written in any case.
//
//   conditions  CONDITION [AND CONDITION]...
//   CONDITION   COLUMN OPERATOR VALUE, where OPERATOR is one of = == != <> < <= > >=
//               COLUMN BETWEEN VALUE AND VALUE
//               COLUMN IN (VALUE, ...)
//               COLUMN LIKE 'PREFIX%'
//               COLUMN BEGINS PREFIX
//               COLUMN IS NULL
//               COLUMN IS NOT NULL
//   COLUMN      a word, or any name in double quotes, in which "" stands for a quote
//   VALUE       words, or any text in single quotes, in which '' stands for a quote
//
// A word is anything without blanks and without one of ' " ( ) , = < > and !=. Several words are
// one value, with the blanks between them, if none of them is a keyword: name = New York.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile::tools {

// One condition. The values are texts: the parser knows no types.
struct Condition {
  enum class Kind : uint8_t {
    kEqual,
    kNotEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kBetween,    // two values: low, high
    kIn,         // at least one value
    kHasPrefix,  // the value is the prefix
    kIsNull,     // no value
    kIsNotNull,  // no value
  };
  struct Value {
    std::string text;
    size_t offset;  // of its first byte in the text that was parsed
  };

  std::string column;
  size_t column_offset = 0;
  Kind kind = Kind::kEqual;
  size_t kind_offset = 0;
  std::vector<Value> values = {};
};

// At least one condition. Errors are those of WhereError.
absl::StatusOr<std::vector<Condition>> ParseConditions(std::string_view where);

// kInvalidArgument: `what` is wrong at the byte `offset` of `where`. The message has `what`, the
// number of that character, counted from 1, and the text from there on.
absl::Status WhereError(std::string_view where, size_t offset, std::string_view what);

// The names in a list such as id,First Name,"a,b": each up to the next comma, or in double quotes,
// in which "" stands for a quote. kInvalidArgument: an empty name, or quotes that do not end with
// the name.
absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view list);

// `name` as both grammars take it: in double quotes if it needs them.
std::string NameAsWritten(std::string_view name);

}  // namespace cfile::tools
