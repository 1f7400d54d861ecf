// Statistics compared with the values that they are about: for Verify.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "cfile/batch.h"
#include "cfile/internal/value_summary.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// Takes the values of all of a file's blocks, in any order of blocks. Thread-compatible.
template <typename T>
class StatisticsChecker {
 public:
  // `statistics`: null if the file has none; then everything is right.
  explicit StatisticsChecker(std::shared_ptr<const FileStatistics> statistics)
      : statistics_(std::move(statistics)) {}

  // Values of one block, present ones, or rows.
  void Add(std::span<const T> values);
  void Add(const Batch<T>& batch);

  // The block had `num_entries` rows, or entries. kDataLoss: what the statistics say of block
  // `index`, or the Bloom filter, is not so. After a block that could not be read to its end
  // anything may come out.
  absl::Status FinishBlock(size_t index, uint64_t num_entries);
  // The file has so many blocks, all of them seen.
  absl::Status FinishFile(size_t num_blocks);

 private:
  std::shared_ptr<const FileStatistics> statistics_;
  ValueSummary<T> block_;
  ValueSummary<T> file_;
  uint64_t null_count_ = 0;
  bool missing_in_filter_ = false;  // a value of the block
  std::unique_ptr<T[]> present_;
  size_t capacity_ = 0;
};

}  // namespace cfile::internal
