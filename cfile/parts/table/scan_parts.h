// The parts of a table that a scan reads, and what it counts for the conditions of its filter.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/parts/scan/row_reader.h"
#include "cfile/parts/table/bound_filter.h"
#include "cfile/parts/table/filter_tree.h"
#include "cfile/parts/table/key_range.h"
#include "cfile/parts/table/merge/newest_rows.h"
#include "cfile/parts/table/scan_source.h"
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

// A part of a table, and what a scan has opened of it. Rows of the part count from 0.
struct ScannedPart {
  ManifestPart part;
  OrdinalRange rows;                                // that may match
  std::optional<FilterTree> tree;                   // nullopt: all of `rows` match
  std::vector<std::unique_ptr<RowReader>> readers;  // of the columns; opened when needed
};

// Finds the parts that a scan reads. Thread-compatible.
class ScanParts {
 public:
  // All arguments must outlive this object. `columns`: the positions of the columns that the scan
  // returns. `range`: the rows of the scan. `reads_all`: true if the caller will likely read all
  // parts of the range. `cancelled`: as in TableScanOptions. `versions`: nullopt without a merge
  // rule. `counters`: of the scan.
  ScanParts(const ScanSource& source, const BoundFilter& filter, const std::vector<size_t>& columns,
            OrdinalRange range, bool reverse, bool reads_all, const std::atomic<bool>* cancelled,
            std::optional<RowVersions> versions, TableScanCounters& counters);

  // Goes to the next part that has rows of the range and is not excluded by bounds or keys, and
  // opens what its filter needs. nullopt: there is no such part.
  // After an error a call may be repeated.
  absl::StatusOr<std::optional<ScannedPart>> Next();

 private:
  // Finds the parts with rows of the range, and sets next_part_ and stop_part_.
  // Does nothing if called again.
  absl::Status FindParts();
  // Says what bounds tell about `rows` of one or several parts. If the bounds exclude the rows,
  // counts those that are in range_.
  Verdict JudgeRows(ScanSource::BoundsOfColumn bounds_of, const OrdinalRange& rows);
  bool IsExcluded(ScanSource::BoundsOfColumn bounds_of) const {
    return JudgeBounds(filter_, bounds_of).rows.verdict == Verdict::kNone;
  }
  // Returns the rows of a part whose compound keys are in keys_.
  absl::StatusOr<OrdinalRange> RowsOfKeys(const ManifestPart& part, uint64_t num_rows) const;
  // Opens the files of `part` and of some of the next parts together, if the storage can do this.
  // Does nothing if earlier calls have opened the files of `part` and of enough parts after it.
  void OpenAhead(const ManifestPart& part);

  const ScanSource& source_;
  const BoundFilter& filter_;
  const std::optional<KeyRange> keys_;  // the keys that filter_ allows
  std::optional<RowVersions> versions_;
  const std::vector<size_t> opened_columns_;  // of each part that is opened ahead
  const OrdinalRange range_;
  const bool reverse_;
  const std::atomic<bool>* const cancelled_;
  TableScanCounters& counters_;
  size_t next_part_ = 0;             // the next part; if reverse_: plus 1
  std::optional<size_t> stop_part_;  // next_part_ at the end of the scan; nullopt: not known yet
  size_t opened_end_ = 0;            // OpenAhead has opened the parts before this one
  size_t open_next_at_ = 0;          // the part for which OpenAhead opens further parts
  const size_t most_parts_ahead_;
  size_t parts_ahead_;  // the number of parts that OpenAhead opens next
  // The results of ScanSource::OpenTogether. Each has the number of the part that follows the parts
  // of the opened files. The scan keeps a result until it comes to this part.
  std::deque<std::pair<size_t, ScanSource::BegunFiles>> begun_;
  // Conditions of the next part that are open already, if a further one could not be opened.
  FilterTree::OpenConditions opened_;
};

}  // namespace cfile::internal
