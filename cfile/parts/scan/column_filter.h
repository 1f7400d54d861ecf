// A condition on the values of one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/scan/code_matcher.h"
#include "cfile/parts/scan/condition_rows.h"
#include "cfile/parts/scan/predicate_judge.h"
#include "cfile/parts/scan/row_filter.h"
#include "encodings/core/lane.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Compares the values of one column.
class ColumnFilter final : public RowFilter {
 public:
  ColumnFilter(std::shared_ptr<const ValueMatcher> matcher, bool negated)
      : judge_(std::move(matcher), negated), negated_(negated) {}

  // `others`: other filters. One of them may read the same file. `make_decoder`: as for
  // PrepareToRead.
  absl::Status Open(const std::shared_ptr<FileReader>& file,
                    std::span<const std::unique_ptr<RowFilter>> others,
                    encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

  // Call after Open: PredicateJudge::SearchList.
  void SearchList(const OrdinalRange& rows) { judge_.SearchList(file_, rows); }

  const PredicateJudge& judge() const { return judge_; }
  const std::shared_ptr<FileReader>& file() const { return file_; }
  // Null if judge() says that no row of the file matches.
  ConditionRows* rows() const { return rows_.get(); }

  std::shared_ptr<void> RowsOf(const FileReader* file) const override {
    return file == file_.get() ? rows_ : nullptr;
  }

  JudgedRows Judge(uint64_t row) const override { return judge_.Judge(row); }
  bool reads_in_background() const override { return file_->reads_in_background(); }
  bool has_all_begun() const override { return rows_ == nullptr || rows_->has_all_begun(); }
  void Expect(const OrdinalRange& rows, bool backward) override {
    if (rows_ != nullptr) rows_->Expect(rows, backward);
  }
  absl::StatusOr<size_t> Match(uint64_t begin, size_t count, uint8_t* bits) override;
  double cost_per_row() const override;

  // Compares all rows, at most `count`, of the open block; returns how many. `decodes`: no row is
  // excluded yet, so `bits` need not be set; decodes the values or the codes of all rows, unless
  // none matches.
  absl::StatusOr<size_t> MatchAll(uint64_t begin, size_t count, uint8_t* bits, bool decodes);

 private:
  // Compares only the rows whose bit is 1.
  absl::StatusOr<size_t> MatchEach(uint64_t begin, size_t count, uint8_t* bits);

  // Returns where MatchAll puts the matches of `rows` rows: `bits`, or matches_ for Apply.
  uint8_t* Place(const uint8_t* validity, size_t rows, uint8_t* bits, bool decodes);

  // Sets `matches` for values. The bit of a null is unspecified.
  void Compare(encodings::ValueSpan values, uint8_t* matches) const;

  // Clears the bits of rows that do not match, by matches_ for values and by `validity` for nulls.
  void Apply(const uint8_t* validity, size_t count, uint8_t* bits) const;

  PredicateJudge judge_;
  const bool negated_;
  encodings::Lane lane_ = encodings::Lane::k1;
  std::shared_ptr<FileReader> file_;
  std::shared_ptr<ConditionRows> rows_;
  CodeMatcher codes_;
  std::vector<uint32_t> taken_;  // used by MatchEach
  uint8_t matches_[kMaxRows / 8];
};

}  // namespace cfile::internal
