// Rows that are read by a scan.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/status.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_text.h"

namespace cfile::tools {

// Reads batches of the ranges for a text of their rows.
class ScannedRows : public RowText {
 public:
  ScannedRows(const Input& input, RowSelection selection, RowRanges ranges)
      : ordinal_(ranges.empty() ? 0 : ranges.front().begin),
        rows_left_(selection.rows_left),
        scan_(input, Limited(std::move(selection)), std::move(ranges)) {}
  uint64_t ordinal() const final { return ordinal_; }

 protected:
  // Reads the next rows; false at the end.
  absl::StatusOr<bool> Read() {
    CFILE_ASSIGN_OR_RETURN(rows_, scan_.Next());
    if (rows_.batch == nullptr) return false;
    ordinal_ = rows_.batch->ordinal(rows_.end - 1) + 1;
    if (rows_left_) *rows_left_ -= rows_.end - rows_.begin;
    return true;
  }
  // Adds the rows of rows_ to the limit again, because they could not be appended.
  void GiveBack() {
    if (rows_left_) *rows_left_ += rows_.end - rows_.begin;
  }

  BatchRows rows_;
  uint64_t ordinal_;

 private:
  static RowSelection Limited(RowSelection selection) {
    if (selection.rows_left) selection.options.limit = *selection.rows_left;
    return selection;
  }

  const std::shared_ptr<uint64_t> rows_left_;
  RangeScan scan_;
};

}  // namespace cfile::tools
