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
#include "cfile/internal/read/file_reader.h"
#include "cfile/internal/read/predicate_matcher.h"
#include "cfile/reader.h"
#include "cfile/statistics.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

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
template <typename T>
Verdict JudgeStatistics(const PredicateMatcher<T>& matcher, bool negated,
                        const BlockStatistics& statistics) {
  const Verdict verdict = matcher.Judge(statistics);
  if (!negated || verdict == Verdict::kSome) return verdict;
  if (verdict == Verdict::kAll || statistics.present_count == 0) return Verdict::kNone;
  return statistics.null_count > 0 ? Verdict::kSome : Verdict::kAll;
}

// Immutable after Open.
template <typename T>
class PredicateJudge {
 public:
  using Matcher = PredicateMatcher<T>;
  using Form = typename Matcher::Form;

  // `negated`: the rows to find hold a value that does not match `predicate`.
  explicit PredicateJudge(const Predicate<T>& predicate, bool negated = false)
      : matcher_(predicate), negated_(negated) {}

  // Reads the statistics of `file`, and searches its value index. `reader` reads the same file.
  // Errors: those of Reader::Statistics and Cursor::SeekToKey.
  absl::Status Open(const Reader& reader, FileReader& file) {
    const FileInfo& info = file.info();
    num_rows_ = info.num_rows;
    CFILE_ASSIGN_OR_RETURN(statistics_, file.Statistics());
    // In a file with repeated values, the counts are not counts of rows.
    if (statistics_ != nullptr && !(info.has_levels() && info.levels.max_repetition > 0)) {
      uint64_t begin = 0;
      for (const BlockStatistics& block : statistics_->blocks) {
        block_begins_.push_back(begin);
        begin += block.num_entries();
      }
    }
    whole_ = JudgeFile(info);
    const Form form = matcher_.form();
    const bool in_range = form == Form::kRange || form == Form::kList;
    return whole_.verdict == Verdict::kSome && info.value_index_root && in_range
               ? SearchValueIndex(reader)
               : absl::OkStatus();
  }

  const Matcher& matcher() const { return matcher_; }
  // True if values must be compared; false if only nulls matter.
  bool comparing() const {
    return matcher_.form() == Form::kRange || matcher_.form() == Form::kList ||
           matcher_.form() == Form::kNotEqual;
  }

  // The verdict for all rows, by the statistics of the file and its Bloom filter.
  const JudgedRows& whole() const { return whole_; }
  // The rows that the value index found for the predicate's range (PredicateMatcher::low to end);
  // nullopt if it was not searched.
  const std::optional<OrdinalRange>& found() const { return found_; }

  // The verdict for row `row`. It holds for all rows of the result's range, which contains `row`.
  // Precondition: row < the number of rows.
  JudgedRows Judge(uint64_t row) const {
    CFILE_ASSERT(row < num_rows_);
    if (whole_.verdict != Verdict::kSome) return whole_;
    OrdinalRange rows = whole_.rows;
    if (found_) {
      const bool inside = row >= found_->begin && row < found_->end;
      if (inside) {
        rows = *found_;
      } else if (row < found_->begin) {
        rows.end = found_->begin;
      } else {
        rows.begin = found_->end;
      }
      const Verdict verdict = inside ? inside_ : outside_;
      if (verdict != Verdict::kSome) return {verdict, rows, JudgedBy::kValueIndex};
    }
    if (block_begins_.empty()) return {Verdict::kSome, rows};
    const size_t block = BlockOf(row);
    rows.begin = std::max(rows.begin, block_begins_[block]);
    if (block + 1 < block_begins_.size()) rows.end = std::min(rows.end, block_begins_[block + 1]);
    return {JudgeRows(statistics_->blocks[block]), rows};
  }

  // Whether the file has statistics of each block, by rows.
  bool has_blocks() const { return !block_begins_.empty(); }
  // The number of the block with row `row`. Precondition: has_blocks().
  size_t BlockOf(uint64_t row) const {
    return static_cast<size_t>(std::upper_bound(block_begins_.begin(), block_begins_.end(), row) -
                               block_begins_.begin() - 1);
  }
  // The number of blocks with rows of `rows`; 0 without statistics of blocks.
  uint64_t CountBlocks(const OrdinalRange& rows) const {
    if (!has_blocks() || rows.begin >= rows.end) return 0;
    return BlockOf(rows.end - 1) - BlockOf(rows.begin) + 1;
  }

  // The statistics of the block that begins with row `first`; nullptr if there are none. kDataLoss:
  // according to the statistics, no block begins there.
  absl::StatusOr<const BlockStatistics*> StatisticsOf(uint64_t first) const {
    if (!has_blocks()) return nullptr;
    const size_t index = BlockOf(first);
    if (block_begins_[index] != first) {
      return encodings::DataLoss("the positional index has a block that begins at ordinal ", first,
                                 ", the statistics have none");
    }
    return &statistics_->blocks[index];
  }

  // Compares a block that begins with row `first` with its statistics. kDataLoss: they differ.
  absl::Status CheckBlock(uint64_t first, uint64_t num_rows, uint64_t num_present) const {
    CFILE_ASSIGN_OR_RETURN(const BlockStatistics* const statistics, StatisticsOf(first));
    if (statistics == nullptr ||
        (num_rows == statistics->num_entries() && num_present == statistics->present_count)) {
      return absl::OkStatus();
    }
    return encodings::DataLoss("the block has ", num_rows, " rows and ", num_present,
                               " present values, its statistics say ", statistics->num_entries(),
                               " and ", statistics->present_count);
  }

 private:
  Verdict JudgeRows(const BlockStatistics& statistics) const {
    return JudgeStatistics(matcher_, negated_, statistics);
  }

  JudgedRows JudgeFile(const FileInfo& info) const {
    JudgedRows all = {.rows = {0, info.num_rows}};
    const Form form = matcher_.form();
    const bool nullable = info.nullable || info.has_levels();
    if ((form == Form::kNothing && !negated_) || (form == Form::kNull && !nullable)) {
      all.verdict = Verdict::kNone;
    } else if (!nullable &&
               ((form == Form::kNotNull && !negated_) || (form == Form::kNothing && negated_))) {
      all.verdict = Verdict::kAll;
    } else if (statistics_ != nullptr) {
      all.verdict = JudgeRows(statistics_->file);
      if (all.verdict == Verdict::kSome && !negated_ && !matcher_.PassesBloomFilter(*statistics_))
        return {Verdict::kNone, all.rows, JudgedBy::kBloomFilter};
    }
    return all;
  }

  // Finds the rows of the predicate's range: in a sorted column they are consecutive.
  absl::Status SearchValueIndex(const Reader& reader) {
    CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, reader.template NewCursor<T>());
    CFILE_ASSIGN_OR_RETURN(const KeyPosition low, cursor.SeekToKey(matcher_.low()));
    uint64_t end = num_rows_;
    if (const auto after = matcher_.end()) {
      CFILE_ASSIGN_OR_RETURN(const KeyPosition high, cursor.SeekToKey(T(*after)));
      end = high.ordinal;
    }
    found_ = OrdinalRange{low.ordinal, std::max(low.ordinal, end)};
    inside_ = negated_ ? Verdict::kNone : Verdict::kAll;
    outside_ = negated_ ? Verdict::kAll : Verdict::kNone;
    if (matcher_.form() == Form::kList) inside_ = Verdict::kSome;
    return absl::OkStatus();
  }

  const Matcher matcher_;
  const bool negated_;
  uint64_t num_rows_ = 0;
  std::shared_ptr<const FileStatistics> statistics_;  // null if there are none
  std::vector<uint64_t> block_begins_;                // first row of each block
  JudgedRows whole_;
  // The rows that the value index found for the predicate's range, and the verdicts of these rows
  // and of all others.
  std::optional<OrdinalRange> found_;
  Verdict inside_ = Verdict::kSome;
  Verdict outside_ = Verdict::kSome;
};

}  // namespace cfile::internal
