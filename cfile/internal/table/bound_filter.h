// A filter whose columns and constants were checked against a schema, in the form that scans
// evaluate.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/filter.h"
#include "cfile/predicate.h"
#include "cfile/schema.h"
#include "cfile/types.h"

namespace cfile::internal {

#define CFILE_PREDICATE_TYPE(T) , Predicate<T>
using AnyPredicate = std::variant<std::monostate CFILE_FOR_EACH_VALUE_TYPE(CFILE_PREDICATE_TYPE)>;
#undef CFILE_PREDICATE_TYPE

// A filter without kNot: the negations are in the conditions. A row that makes the filter true also
// makes this form true, and no other row does, because a row for which a condition is unknown makes
// neither the condition nor its negation true. A plain value.
struct BoundFilter {
  Filter::Kind kind = Filter::Kind::kAnd;
  std::vector<BoundFilter> operands = {};  // kAnd and kOr

  // For kColumn: the position of the column in the schema, and its condition. If `negated`, the
  // condition is true for the rows that hold a value which does not match the predicate.
  size_t column = 0;
  AnyPredicate predicate = {};
  bool negated = false;
  size_t number = 0;  // counts the conditions in the order of the filter, from 0
};

// kInvalidArgument: the schema has no such column, or the column is repeated; a constant does not
// fit its column's type; a condition has too few or too many constants; a column of type int96 is
// tested for order; a prefix is not for strings; the filter is nested more than 200 deep. `name`,
// the name of the table, begins the messages.
absl::StatusOr<BoundFilter> BindFilter(const Filter& filter, const Schema& schema,
                                       std::string_view name);

// Returns the positions in the schema of the columns that `names` name (TableScanOptions::columns).
// kInvalidArgument: there is no such column. `table`, the name of the table, begins the message.
absl::StatusOr<std::vector<size_t>> BindColumns(
    const std::optional<std::vector<std::string>>& names, const Schema& schema,
    const std::string& table);

}  // namespace cfile::internal
