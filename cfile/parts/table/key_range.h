// The compound keys that a filter allows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cfile/parts/table/bound_filter.h"
#include "cfile/schema.h"

namespace cfile::internal {

// All rows for which a filter is true have a compound key that is at least `low` and less than
// `high` (nullopt: no bound).
struct KeyRange {
  std::string low;
  std::optional<std::string> high;
  size_t condition = 0;  // the number of the condition on the first key column
  bool exact = false;    // the filter is true for all rows with such a key
};

// Returns the range of the keys that `filter` allows; nullopt if there is none, or if the table has
// no key columns. Uses only conditions on the first key columns that must all be true: the filter
// must be one condition, or join conditions with And. For example, with the key columns service and
// time, service = 'api' AND time > 5 has a range, but time > 5 has none. The range of a nullable
// column excludes its nulls or, with IsNull, its values.
std::optional<KeyRange> KeyRangeOf(const BoundFilter& filter, const Schema& schema);

}  // namespace cfile::internal
