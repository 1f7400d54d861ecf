// Implements Scan (cfile/scan.h) without the type of the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/core/read/file_reader.h"
#include "cfile/parts/scan/column_filter.h"
#include "cfile/parts/scan/predicate_matcher.h"
#include "cfile/scan.h"
#include "encodings/registry.h"

namespace cfile::internal {

// The functions and errors are those of Scan. A ColumnFilter, the same as in scans of tables, finds
// the rows; this class returns the values that the filter has decoded. Thread-compatible.
class ValueScan final : public AnyScan {
 public:
  explicit ValueScan(std::shared_ptr<const ValueMatcher> matcher)
      : filter_(std::move(matcher), /*negated=*/false) {}

  // Call it first. Errors: those of Reader::NewScan.
  absl::Status Begin(const std::shared_ptr<FileReader>& file, const OrdinalRange& range,
                     encodings::DecoderMaker* make_decoder);
  absl::StatusOr<AnyScanBatch> Next() override;
  const ScanCounters& counters() const override { return counters_; }
  const std::shared_ptr<FileReader>& file() const { return filter_.file(); }
  // Whether the rows that the scan finds are nulls.
  bool finds_nulls() const { return filter_.judge().matcher().form() == ValueMatcher::Form::kNull; }

 private:
  // Examines the next rows of the open block, at most `count`, and moves past them. Returns the
  // matching rows; possibly none.
  absl::StatusOr<AnyScanBatch> MatchRows(size_t count, bool all_match, bool by_codes);

  ColumnFilter filter_;
  OrdinalRange left_;  // the rows that were not examined yet
  JudgedRows judged_;  // the verdict for the first of these rows
  ScanCounters counters_;
  uint64_t counted_end_ = 0;  // the row after the block that was counted last
  uint8_t bits_[RowFilter::kMaxRows / 8];
  uint64_t ordinals_[RowFilter::kMaxRows];
  RawBuffer values_;
};

// Begins a scan of the rows of `range` that match. `matcher` is for the C++ type of the values.
// `make_decoder`: as for PrepareToRead. Errors: those of Reader::NewScan.
absl::StatusOr<std::unique_ptr<ValueScan>> NewValueScan(
    const std::shared_ptr<FileReader>& file, std::shared_ptr<const ValueMatcher> matcher,
    const OrdinalRange& range, encodings::DecoderMaker* make_decoder = &encodings::MakeAnyDecoder);

}  // namespace cfile::internal
