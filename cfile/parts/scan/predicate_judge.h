// Tells which rows of a file match a predicate, without reading values: by the statistics, the
// Bloom filter and the value index of the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/statistics.h"

namespace cfile::internal {

// How a JudgedRows was found.
enum class JudgedBy : uint8_t { kStatistics, kBloomFilter, kValueIndex };

// Consecutive rows that have one verdict.
struct JudgedRows {
  Verdict verdict = Verdict::kSome;
  OrdinalRange rows;
  JudgedBy by = JudgedBy::kStatistics;
};

// Tells whether none, some or all of the rows that `statistics` describe match. `negated`: a row
// matches if it holds a value that does not match the predicate.
Verdict JudgeStatistics(const ValueMatcher& matcher, bool negated,
                        const BlockStatistics& statistics);

// Immutable after Open and SearchList.
class PredicateJudge {
 public:
  using Form = ValueMatcher::Form;

  // `negated`: the rows to find hold a value that does not match the predicate.
  explicit PredicateJudge(std::shared_ptr<const ValueMatcher> matcher, bool negated = false)
      : matcher_(std::move(matcher)), negated_(negated) {}

  // Reads the statistics of `file`, and searches its value index. Errors: those of
  // Reader::Statistics, Reader::NewCursor and Cursor::SeekToKey.
  absl::Status Open(const std::shared_ptr<FileReader>& file);

  // Call after Open. If the predicate is a list of values, this function may search the value index
  // for each of them. Judge then knows exactly which rows match. It searches only if this is likely
  // faster than comparing values; `rows` are the rows that the scan would compare. A search that
  // fails changes nothing: if the scan reads the same block, it finds the error.
  void SearchList(const std::shared_ptr<FileReader>& file, const OrdinalRange& rows);

  const ValueMatcher& matcher() const { return *matcher_; }

  // The verdict for all rows, by the statistics of the file and its Bloom filter.
  const JudgedRows& whole() const { return whole_; }
  // The rows that the value index found for the predicate's range (ValueMatcher::low to end);
  // nullopt if it was not searched.
  const std::optional<OrdinalRange>& found() const { return found_; }

  // The verdict for row `row`. It holds for all rows of the result's range, which contains `row`.
  // Precondition: row < the number of rows.
  JudgedRows Judge(uint64_t row) const;

  // Whether the file has statistics of each block, by rows.
  bool has_blocks() const { return !block_begins_.empty(); }
  // The number of the block with row `row`. Precondition: has_blocks().
  size_t BlockOf(uint64_t row) const {
    return static_cast<size_t>(std::upper_bound(block_begins_.begin(), block_begins_.end(), row) -
                               block_begins_.begin() - 1);
  }
  // The first row of the block with row `row`. Precondition: has_blocks().
  uint64_t BlockBegin(uint64_t row) const { return block_begins_[BlockOf(row)]; }
  // The number of blocks with rows of `rows`; 0 without statistics of blocks.
  uint64_t CountBlocks(const OrdinalRange& rows) const {
    if (!has_blocks() || rows.begin >= rows.end) return 0;
    return BlockOf(rows.end - 1) - BlockOf(rows.begin) + 1;
  }

  // The statistics of the block that begins with row `first`; nullptr if there are none. kDataLoss:
  // according to the statistics, no block begins there.
  absl::StatusOr<const BlockStatistics*> StatisticsOf(uint64_t first) const;

  // Compares a block that begins with row `first` with its statistics. kDataLoss: they differ.
  absl::Status CheckBlock(uint64_t first, uint64_t num_rows, uint64_t num_present) const;

 private:
  Verdict JudgeRows(const BlockStatistics& statistics) const {
    return JudgeStatistics(*matcher_, negated_, statistics);
  }
  JudgedRows JudgeFile(const FileInfo& info) const;
  // Finds the rows of the predicate's range: in a sorted column they are consecutive.
  absl::Status SearchValueIndex(const std::shared_ptr<FileReader>& file);

  const std::shared_ptr<const ValueMatcher> matcher_;
  const bool negated_;
  uint64_t num_rows_ = 0;
  std::shared_ptr<const FileStatistics> statistics_;  // null if there are none
  std::vector<uint64_t> block_begins_;                // first row of each block
  JudgedRows whole_;
  std::optional<OrdinalRange> found_;
  // Ranges that are not empty, in ascending order: found_, or the rows of each value that
  // SearchList found. inside_ is the verdict of their rows, outside_ that of all other rows.
  std::vector<OrdinalRange> ranges_;
  Verdict inside_ = Verdict::kSome;
  Verdict outside_ = Verdict::kSome;
};

}  // namespace cfile::internal
