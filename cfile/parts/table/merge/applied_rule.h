// A table's merge rule (cfile/schema.h), as readers apply it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cfile/batch.h"
#include "cfile/filter.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Says which of the newest rows are gone: those whose key was deleted, and those that are too old.
// Immutable.
class AppliedRule {
 public:
  // Precondition: `schema` has a rule.
  AppliedRule(const Schema& schema, std::optional<int64_t> time_bound)
      : deleted_(schema.merge_rule->deleted_column),
        time_(time_bound ? schema.merge_rule->time_column : std::nullopt),
        bound_(time_bound.value_or(0)) {
    for (const std::optional<size_t>& column : {deleted_, time_}) {
      if (column) columns_.push_back(*column);
    }
    wide_ = time_ && schema.columns[*time_].type.physical() == PhysicalType::kInt64;
  }

  // The columns that say whether a row is gone; none: no row is gone.
  const std::vector<size_t>& columns() const { return columns_; }

  // Whether a row is gone. `values`: a batch of each of columns(), with the same rows.
  bool IsGone(std::span<const AnyBatch> values, size_t row) const {
    if (deleted_ && values[0].IsValid(row) && static_cast<const bool*>(values[0].values)[row])
      return true;
    if (!time_ || !values.back().IsValid(row)) return false;
    const void* const times = values.back().values;
    return (wide_ ? static_cast<const int64_t*>(times)[row]
                  : int64_t{static_cast<const int32_t*>(times)[row]}) < bound_;
  }

  // The filter that is true for rows that are gone.
  Filter Gone(const Schema& schema) const {
    std::vector<Filter> conditions;
    if (deleted_) conditions.push_back(Eq(schema.columns[*deleted_].name, true));
    if (time_) conditions.push_back(Lt(schema.columns[*time_].name, bound_));
    return Or(std::move(conditions));
  }
  // The filter that is true for all other rows.
  Filter Remaining(const Schema& schema) const {
    std::vector<Filter> conditions;
    const auto add = [&](size_t column, Filter remains) {
      const ColumnSchema& found = schema.columns[column];
      conditions.push_back(found.nullable ? Or(IsNull(found.name), std::move(remains))
                                          : std::move(remains));
    };
    if (deleted_) add(*deleted_, Eq(schema.columns[*deleted_].name, false));
    if (time_) add(*time_, Ge(schema.columns[*time_].name, bound_));
    return And(std::move(conditions));
  }

 private:
  const std::optional<size_t> deleted_;
  const std::optional<size_t> time_;  // if there is a bound
  const int64_t bound_;
  bool wide_ = false;  // times are stored as int64
  std::vector<size_t> columns_;
};

}  // namespace cfile::internal
