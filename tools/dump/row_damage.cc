// Rows without those whose values are damaged, for `rows --skip-damaged`.
#include "tools/dump/row_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cfile::tools {
namespace {

// A lost file is damage of the table, as for `verify`.
bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

// The first rows that cannot be read, see EndOfLost.
struct FirstLost {
  OrdinalRange rows;
  absl::Status status;
};

// The end of the rows that are lost with the row `ordinal` of `column`, at most `end`: the end of
// the data block, or of the part if the index does not show where the block ends.
uint64_t EndOfLost(const Input& input, const std::string& column, uint64_t ordinal, uint64_t end) {
  std::optional<Reader> file = input.file;
  uint64_t first = 0;
  if (input.table) {
    for (size_t i = 0; !file; ++i) {
      const auto part = input.table->part(i);
      if (!part.ok()) return end;
      first = part->first_ordinal;
      if (ordinal >= first + part->num_rows) continue;
      end = std::min(end, first + part->num_rows);
      auto opened = input.table->OpenColumn(i, *input.table->schema().Find(column));
      if (!opened.ok()) return end;
      file = *std::move(opened);
    }
  }
  const auto begin = file->BlockBegin(ordinal - first);
  if (!begin.ok()) return end;
  // The end is the first row that begins another block, or the end of the file.
  uint64_t low = ordinal - first + 1, high = file->num_rows();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const auto found = file->BlockBegin(middle);
    if (!found.ok()) return end;
    if (*found == *begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::min(end, first + low);
}

class SkippingRows final : public RowText {
 public:
  SkippingRows(const Input& input, const RowPlan& plan, RowRanges ranges, FlushText flush,
               LostRows& lost)
      : input_(input),
        plan_(plan),
        ranges_(std::move(ranges)),
        flush_(std::move(flush)),
        lost_(lost) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    while (!ranges_.empty()) {
      absl::StatusOr<bool> more = true;
      if (rows_ == nullptr) {
        auto opened = plan_.open(ranges_, flush_);
        if (opened.ok()) {
          rows_ = *std::move(opened);
        } else {
          more = opened.status();
        }
      }
      if (rows_ != nullptr) more = rows_->Append(out);
      if (more.ok() || !IsDamage(more.status())) return more;
      CFILE_RETURN_IF_ERROR(
          Skip(rows_ == nullptr ? ranges_.front().begin : rows_->ordinal(), more.status()));
      rows_.reset();
    }
    return false;
  }
  uint64_t ordinal() const override {
    return rows_ != nullptr ? rows_->ordinal() : ranges_.empty() ? end_ : ranges_.front().begin;
  }

 private:
  // Removes the rows before `begin`, and the first damaged rows from there on, from ranges_.
  absl::Status Skip(uint64_t begin, const absl::Status& damage) {
    end_ = ranges_.back().end;
    ranges_ = Within(ranges_, {begin, UINT64_MAX});
    if (ranges_.empty()) return absl::OkStatus();
    // The damage may be in any column, and behind rows that the condition excludes. Without a
    // column in which it shows, the rest cannot be read.
    FirstLost lost{.rows = {ranges_.front().begin, ranges_.back().end}, .status = damage};
    bool found = false;
    for (const std::string& column : plan_.columns)
      CFILE_RETURN_IF_ERROR(Search(column, found, lost));
    if (input_.file) CFILE_RETURN_IF_ERROR(Search("", found, lost));
    const uint64_t rows = RowsOf(Within(ranges_, lost.rows));
    lost_.Add(lost.rows, rows, std::string(lost.status.message()));
    // The rows before the damage are read again: none of them matched the condition.
    RowRanges rest = Within(ranges_, {0, lost.rows.begin});
    for (const OrdinalRange& range : Within(ranges_, {lost.rows.end, UINT64_MAX})) {
      rest.push_back(range);
    }
    ranges_ = std::move(rest);
    return absl::OkStatus();
  }

  // Searches the first damaged row of a column; "": of a file.
  absl::Status Search(const std::string& column, bool& found, FirstLost& lost) const {
    for (const OrdinalRange& range : ranges_) {
      if (found && range.begin >= lost.rows.begin) return absl::OkStatus();
      RowSelection one;
      if (!column.empty()) one.options.columns = {column};
      one.options.range = range;
      uint64_t next = range.begin;
      auto scan = one.NewScan(input_);
      absl::Status status = scan.status();
      while (status.ok()) {
        const auto batch = scan->Next();
        status = batch.status();
        if (!batch.ok() || batch->empty()) break;
        next = batch->ordinal(batch->num_rows() - 1) + 1;
      }
      if (status.ok()) continue;
      if (!IsDamage(status)) return status;
      if (found && next >= lost.rows.begin) return absl::OkStatus();
      found = true;
      lost = {.rows = {next, EndOfLost(input_, column, next, ranges_.back().end)},
              .status = status};
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  const Input& input_;
  const RowPlan& plan_;
  RowRanges ranges_;  // from the rows on that were not appended
  const FlushText flush_;
  LostRows& lost_;
  std::unique_ptr<RowText> rows_;
  uint64_t end_ = 0;
};

}  // namespace

void LostRows::Add(const OrdinalRange& rows, uint64_t count, std::string reason) {
  const std::scoped_lock lock(mutex_);
  count_ += count;
  ranges_.push_back({rows, std::move(reason)});
}

uint64_t LostRows::Report() {
  std::ranges::stable_sort(ranges_, {}, [](const Range& range) { return range.rows.begin; });
  for (size_t i = 0; i < ranges_.size();) {
    OrdinalRange rows = ranges_[i].rows;
    const std::string& reason = ranges_[i].reason;
    for (; i < ranges_.size() && ranges_[i].reason == reason && ranges_[i].rows.begin <= rows.end;
         ++i)
      rows.end = std::max(rows.end, ranges_[i].rows.end);
    Warn(kToolName,
         absl::StrCat("rows ", rows.begin, " to ", rows.end - 1, " are left out: ", reason));
  }
  return count_;
}

RowPlan SkippingDamage(const Input& input, RowPlan plan, LostRows& lost) {
  RowPlan skipping = plan;
  skipping.open = [&input, plan = std::move(plan), &lost](
                      RowRanges ranges,
                      FlushText flush) -> absl::StatusOr<std::unique_ptr<RowText>> {
    return std::make_unique<SkippingRows>(input, plan, std::move(ranges), std::move(flush), lost);
  };
  return skipping;
}

}  // namespace cfile::tools
