// Compares statistics with the values that they describe, for Verify.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/internal/format/value_summary.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// Takes the values of all of a file's blocks, in any order of blocks. Thread-compatible.
template <typename T>
class StatisticsChecker {
 public:
  // `statistics`: null if the file has none; all checks then succeed.
  explicit StatisticsChecker(std::shared_ptr<const FileStatistics> statistics)
      : statistics_(std::move(statistics)) {}

  // Adds values of the current block: present values, or rows.
  void Add(std::span<const T> values);
  void Add(const Batch<T>& batch);

  // Ends the current block. `num_entries`: its rows, or entries. kDataLoss: the values contradict
  // the statistics of block `index`, or the Bloom filter. After a block that could not be read to
  // its end, the result is undefined.
  absl::Status FinishBlock(size_t index, uint64_t num_entries);
  // Ends the file. `num_blocks`: the blocks of the file, all of which were added. kDataLoss: the
  // values contradict the statistics of the file.
  absl::Status FinishFile(size_t num_blocks);

 private:
  std::shared_ptr<const FileStatistics> statistics_;
  ValueSummary<T> block_;
  ValueSummary<T> file_;
  uint64_t null_count_ = 0;
  bool missing_in_filter_ = false;  // the filter excludes a value of the current block
  std::unique_ptr<T[]> present_;
  size_t capacity_ = 0;
};

}  // namespace cfile::internal
