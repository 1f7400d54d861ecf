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

// Returns the range of the keys that `filter` allows.
// Uses only conditions on the first key columns. All of these conditions must be true.
// So the filter must be one condition, or join conditions with And.
// Example: the key columns are service and time. The filter service = 'api' AND time > 5 has a
// range. The filter time > 5 has no range.
// The range of a nullable column excludes its nulls. With IsNull, the range excludes its values.
// Returns nullopt if the filter has no range, or if the table has no key columns.
std::optional<KeyRange> KeyRangeOf(const BoundFilter& filter, const Schema& schema);

}  // namespace cfile::internal
