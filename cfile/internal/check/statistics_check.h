// Compares statistics with the values that they describe, for Verify.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/internal/format/value_summary.h"
#include "cfile/internal/read/block_cursor.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// Compares the values of a file's blocks with the statistics. The blocks may come in any order.
// Thread-compatible.
class StatisticsChecker {
 public:
  // `statistics`: null if the file has none; all checks then succeed. `type`: of the values.
  StatisticsChecker(PhysicalType type, std::shared_ptr<const FileStatistics> statistics)
      : type_(type),
        statistics_(std::move(statistics)),
        block_(AnySummary::Create(type)),
        file_(AnySummary::Create(type)) {}

  // Adds values of the current block. `values`: present values only; `batch`: rows, which may be
  // null.
  void Add(encodings::ValueSpan values);
  void Add(const AnyBatch& batch);

  // Ends the current block. `num_entries`: the number of its rows; in a file with levels, of its
  // entries. kDataLoss: the values contradict the statistics of block `index`, or the Bloom filter.
  // The result is undefined if the block could not be read to its end.
  absl::Status FinishBlock(size_t index, uint64_t num_entries);
  // Ends the file. `num_blocks`: the number of the file's blocks. kDataLoss: the values contradict
  // the statistics of the file. Precondition: the values of all blocks were added.
  absl::Status FinishFile(size_t num_blocks);

 private:
  const PhysicalType type_;
  std::shared_ptr<const FileStatistics> statistics_;
  std::unique_ptr<AnySummary> block_;
  std::unique_ptr<AnySummary> file_;
  uint64_t null_count_ = 0;
  bool missing_in_filter_ = false;  // the filter excludes a value of the current block
  RawBuffer present_;
};

}  // namespace cfile::internal
