// Counts what a scan has done for the conditions of its filter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cfile/internal/read/predicate_judge.h"
#include "cfile/internal/table/bound_filter.h"
#include "cfile/internal/table/filter_tree.h"
#include "cfile/schema.h"
#include "cfile/table_scan.h"

namespace cfile::internal {

// Makes an element for each condition of `filter`, with the name of its column.
inline void NameConditions(const BoundFilter& filter, const Schema& schema,
                           std::vector<ConditionCounters>& conditions) {
  if (filter.kind == Filter::Kind::kColumn) {
    conditions.resize(std::max(conditions.size(), filter.number + 1));
    conditions[filter.number].column = schema.columns[filter.column].name;
  }
  for (const BoundFilter& operand : filter.operands) NameConditions(operand, schema, conditions);
}

// Counts rows that were excluded without reading values.
inline void CountExcluded(const FilterTree::Judgement& judgement, uint64_t rows,
                          std::vector<ConditionCounters>& conditions) {
  if (judgement.condition >= conditions.size()) return;
  ConditionCounters& counters = conditions[judgement.condition];
  switch (judgement.rows.by) {
    case JudgedBy::kStatistics:
      counters.rows_excluded_by_statistics += rows;
      break;
    case JudgedBy::kBloomFilter:
      counters.rows_excluded_by_bloom_filter += rows;
      break;
    case JudgedBy::kValueIndex:
      counters.rows_excluded_by_value_index += rows;
      break;
  }
}

// The blocks and rows of one part that were counted. Thread-compatible.
class CountedConditions {
 public:
  void Begin(size_t num_conditions) {
    blocks_.assign(num_conditions, 0);
    rows_.assign(num_conditions, 0);
  }
  // Adds what the conditions have done since the last call.
  void Add(const FilterTree& tree, std::vector<ConditionCounters>& conditions) {
    tree.VisitConditions([&](size_t number, const RowFilter& filter) {
      conditions[number].blocks_read += filter.blocks_read() - blocks_[number];
      conditions[number].rows_compared += filter.rows_compared() - rows_[number];
      blocks_[number] = filter.blocks_read();
      rows_[number] = filter.rows_compared();
    });
  }

 private:
  std::vector<uint64_t> blocks_;
  std::vector<uint64_t> rows_;
};

}  // namespace cfile::internal
