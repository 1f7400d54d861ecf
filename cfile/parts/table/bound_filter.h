// A filter whose columns and constants were checked against a schema, in the form that scans
// evaluate.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/filter.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/predicate.h"
#include "cfile/schema.h"

namespace cfile::internal {

// A filter without kNot, which is true for the same rows as the Filter from which it was made: each
// negation is inside a condition. The negation of a condition that is unknown for a row is unknown,
// too, and a scan does not return the row in both cases. A plain value.
struct BoundFilter {
  Filter::Kind kind = Filter::Kind::kAnd;
  std::vector<BoundFilter> operands = {};  // kAnd and kOr

  // For kColumn: the position of the column in the schema, and its condition. If `negated`, the
  // condition is true for the rows that hold a value which does not match the predicate.
  size_t column = 0;
  PredicateKind predicate = PredicateKind::kEqual;
  std::shared_ptr<const ValueMatcher> matcher = nullptr;  // for the C++ type of the column
  bool negated = false;
  // The column with which the column is compared; `matcher` then only excludes nulls.
  std::optional<size_t> other_column = {};
  size_t number = 0;  // counts the conditions in the order of the filter, from 0
};

// kInvalidArgument: the schema has no such column, or the column is repeated; a constant does not
// fit its column's type; a condition has too few or too many constants; a condition needs an order,
// but the column is of type int96; a condition on strings is for a column without strings, or its
// pattern is not valid; columns of different types are compared; the filter is nested more than 200
// deep. kUnimplemented: a condition needs RE2, which was not built in. `name`: the name of the
// table. Each message begins with it.
absl::StatusOr<BoundFilter> BindFilter(const Filter& filter, const Schema& schema,
                                       std::string_view name);

// Returns the memcmp form of a constant as a value of `type`. Floating-point numbers are rounded.
// kInvalidArgument: the constant is not a value of `type`, or has no memcmp form (NaN, int96).
absl::StatusOr<std::string> KeyOfLiteral(const ColumnType& type, const Literal& literal);

// Returns the positions in the schema of the columns that `names` name (TableScanOptions::columns).
// kInvalidArgument: there is no such column. `table` is the name of the table; the message begins
// with it.
absl::StatusOr<std::vector<size_t>> BindColumns(
    const std::optional<std::vector<std::string>>& names, const Schema& schema,
    const std::string& table);

}  // namespace cfile::internal
