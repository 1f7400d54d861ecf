// The compound keys that a filter allows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cfile/internal/table/bound_filter.h"
#include "cfile/schema.h"

namespace cfile::internal {

// All rows for which a filter is true have a compound key that is at least `low` and less than
// `high` (nullopt: no bound).
struct KeyRange {
  std::string low;
  std::optional<std::string> high;
  size_t condition = 0;  // the number of the condition on the first key column
};

// Returns the range of keys of `filter`: its conditions on the first key columns, if the filter is
// one of them or joins them with And. For the keys (service, time): service = 'api' AND time > 5
// gives a range; time > 5 alone gives none. nullopt: the filter allows all keys, or the table has
// no key columns.
std::optional<KeyRange> KeyRangeOf(const BoundFilter& filter, const Schema& schema);

}  // namespace cfile::internal
