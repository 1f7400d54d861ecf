#include "cfile/parts/scan/predicate_judge.h"

#include <algorithm>

#include "cfile/core/read/value_cursor.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {

Verdict JudgeStatistics(const ValueMatcher& matcher, bool negated,
                        const BlockStatistics& statistics) {
  const Verdict verdict = matcher.Judge(statistics);
  if (!negated || verdict == Verdict::kSome) return verdict;
  if (verdict == Verdict::kAll || statistics.present_count == 0) return Verdict::kNone;
  return statistics.null_count > 0 ? Verdict::kSome : Verdict::kAll;
}

absl::Status PredicateJudge::Open(const std::shared_ptr<FileReader>& file) {
  const FileInfo& info = file->info();
  num_rows_ = info.num_rows;
  CFILE_ASSIGN_OR_RETURN(statistics_, file->Statistics());
  // In a file with repeated values, the counts are not counts of rows.
  if (statistics_ != nullptr && !(info.has_levels() && info.levels.max_repetition > 0)) {
    uint64_t begin = 0;
    for (const BlockStatistics& block : statistics_->blocks) {
      block_begins_.push_back(begin);
      begin += block.num_entries();
    }
  }
  whole_ = JudgeFile(info);
  const Form form = matcher_->form();
  const bool in_range = (form == Form::kRange || form == Form::kList) && matcher_->has_bounds();
  return whole_.verdict == Verdict::kSome && info.value_index_root && in_range
             ? SearchValueIndex(file)
             : absl::OkStatus();
}

JudgedRows PredicateJudge::Judge(uint64_t row) const {
  CFILE_ASSERT(row < num_rows_);
  if (whole_.verdict != Verdict::kSome) return whole_;
  OrdinalRange rows = whole_.rows;
  if (found_) {
    const auto next = std::upper_bound(
        ranges_.begin(), ranges_.end(), row,
        [](uint64_t wanted, const OrdinalRange& range) { return wanted < range.end; });
    const bool inside = next != ranges_.end() && next->begin <= row;
    if (inside) {
      rows = *next;
    } else {
      if (next != ranges_.begin()) rows.begin = next[-1].end;
      if (next != ranges_.end()) rows.end = next->begin;
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

absl::StatusOr<const BlockStatistics*> PredicateJudge::StatisticsOf(uint64_t first) const {
  if (!has_blocks()) return nullptr;
  const size_t index = BlockOf(first);
  if (block_begins_[index] != first) {
    return DataLoss("the positional index has a block that begins at ordinal ", first,
                    ", the statistics have none");
  }
  return &statistics_->blocks[index];
}

absl::Status PredicateJudge::CheckBlock(uint64_t first, uint64_t num_rows,
                                        uint64_t num_present) const {
  CFILE_ASSIGN_OR_RETURN(const BlockStatistics* const statistics, StatisticsOf(first));
  if (statistics == nullptr ||
      (num_rows == statistics->num_entries() && num_present == statistics->present_count)) {
    return absl::OkStatus();
  }
  return DataLoss("the block has ", num_rows, " rows and ", num_present,
                  " present values, its statistics say ", statistics->num_entries(), " and ",
                  statistics->present_count);
}

JudgedRows PredicateJudge::JudgeFile(const FileInfo& info) const {
  JudgedRows all = {.rows = {0, info.num_rows}};
  const Form form = matcher_->form();
  const bool nullable = info.nullable || info.has_levels();
  if ((form == Form::kNothing && !negated_) || (form == Form::kNull && !nullable)) {
    all.verdict = Verdict::kNone;
  } else if (!nullable && ((!negated_ && (form == Form::kNotNull ||
                                          (form == Form::kRange && !matcher_->has_bounds()))) ||
                           (form == Form::kNothing && negated_))) {
    all.verdict = Verdict::kAll;
  } else if (statistics_ != nullptr) {
    all.verdict = JudgeRows(statistics_->file);
    if (all.verdict == Verdict::kSome && !negated_ && !matcher_->PassesBloomFilter(*statistics_))
      return {Verdict::kNone, all.rows, JudgedBy::kBloomFilter};
  }
  return all;
}

absl::Status PredicateJudge::SearchValueIndex(const std::shared_ptr<FileReader>& file) {
  CFILE_ASSIGN_OR_RETURN(const auto cursor, NewValueCursor(file));
  CFILE_ASSIGN_OR_RETURN(const KeyPosition low, cursor->SeekToKey(matcher_->low()));
  uint64_t end = num_rows_;
  if (const void* const after = matcher_->end()) {
    CFILE_ASSIGN_OR_RETURN(const KeyPosition high, cursor->SeekToKey(after));
    end = high.ordinal;
  }
  found_ = OrdinalRange{low.ordinal, std::max(low.ordinal, end)};
  if (found_->size() > 0) ranges_.push_back(*found_);
  inside_ = negated_ ? Verdict::kNone : Verdict::kAll;
  outside_ = negated_ ? Verdict::kAll : Verdict::kNone;
  if (matcher_->form() == Form::kList) inside_ = Verdict::kSome;
  return absl::OkStatus();
}

void PredicateJudge::SearchList(const std::shared_ptr<FileReader>& file, const OrdinalRange& rows) {
  // Two searches take about as long as comparing so many rows with a list.
  constexpr uint64_t kRowsOfSearches = 2048;
  // A slow source would have to wait for the blocks of the values one by one.
  if (!found_ || file->reads_in_background()) return;
  const uint64_t begin = std::max(rows.begin, found_->begin);
  const uint64_t end = std::max(begin, std::min(rows.end, found_->end));
  std::vector<KeyPosition> bounds;
  matcher_->UseListBounds([&](encodings::ValueSpan keys) {
    if (keys.count / 2 > (end - begin) / kRowsOfSearches) return;
    const auto cursor = NewValueCursor(file);
    if (!cursor.ok()) return;
    bounds.resize(keys.count);
    if (!(*cursor)->SeekMany(keys, bounds).ok()) bounds.clear();
  });
  if (bounds.empty()) return;
  ranges_.clear();
  uint64_t behind = 0;  // the end of the last range: in a damaged file, positions may not ascend
  for (size_t i = 0; i < bounds.size(); i += 2) {
    const OrdinalRange range{std::max(bounds[i].ordinal, behind),
                             i + 1 < bounds.size() ? bounds[i + 1].ordinal : num_rows_};
    if (range.begin >= range.end) continue;
    ranges_.push_back(range);
    behind = range.end;
  }
  inside_ = negated_ ? Verdict::kNone : Verdict::kAll;
}

}  // namespace cfile::internal
