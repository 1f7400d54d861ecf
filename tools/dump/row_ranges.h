// The options that choose rows by their ordinals and keys, for `values`, `records` and `at`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/table_scan.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// What the user chose. At most one of `count`, `tail` and `sample` is set.
struct RangeChoice {
  uint64_t ordinal = 0;                 // the first row
  std::optional<uint64_t> count = {};   // the first rows that match the condition
  std::optional<uint64_t> tail = {};    // the last rows that match it
  std::optional<uint64_t> sample = {};  // as many of the rows that match it, chosen by chance
  uint64_t seed = 0;                    // of the sample
  // Rows whose key is at least `from` and less than `to`; empty: no bound. The values of a compound
  // key, or of its first columns; otherwise one value.
  std::vector<std::string> from = {};
  std::vector<std::string> to = {};
};

// Adds --ordinal, --count, --head, --tail, --sample, --seed, --from and --to.
void AddRangeOptions(CLI::App& command, RangeChoice& choice);

// Ranges of rows, in ascending order, without overlaps. None is empty.
using RowRanges = std::vector<OrdinalRange>;

// Returns the ranges with the chosen rows.
// `selection`: its condition is obeyed. If rows of the ranges still have to be tested or counted,
// the function leaves the condition and sets `limit` of the selection's options. Otherwise it
// removes the condition.
//
// Reads data blocks only if there is a condition together with --tail or --sample. A sample is
// uniform, without replacement, and the same for the same seed and rows. Memory: 50 bytes for each
// row of a sample.
// kInvalidArgument: the first row is beyond the end, or a key is wrong. kFailedPrecondition: a part
// has no value index, so it has no ranges of keys.
absl::StatusOr<RowRanges> ChooseRows(const Input& input, const CommonOptions& common,
                                     const RangeChoice& choice, RowSelection& selection);

// Some rows of a batch.
struct BatchRows {
  const TableBatch* batch = nullptr;  // null: there are no more rows
  size_t begin = 0;
  size_t end = 0;
};

// Reads the rows of ranges. Skips each data block that holds none of the rows. Thread-compatible.
class RangeScan {
 public:
  // `input` must outlive the object. A batch of `selection` has the columns of `selection`.
  RangeScan(const Input& input, RowSelection selection, RowRanges ranges)
      : input_(input), selection_(std::move(selection)), ranges_(std::move(ranges)) {}

  // Returns the next rows: at least one unless there are no more. Valid until the next call. Errors
  // as TableScan::Next.
  absl::StatusOr<BatchRows> Next();

 private:
  // Begins the scan of the next ranges that one scan can read. False: there are no more.
  absl::StatusOr<bool> OpenNext();
  // True if the data block of row `first` has row `next`, too, in each column.
  absl::StatusOr<bool> InSameBlocks(uint64_t first, uint64_t next);
  // The rows of batch_ from row_ on that lie in one range.
  BatchRows TakeRows();

  const Input& input_;
  RowSelection selection_;
  const RowRanges ranges_;
  size_t range_ = 0;      // the first range whose rows were not all returned
  size_t open_end_ = 0;   // the first range after those of scan_
  size_t part_ = 0;       // the part that InSameBlocks used
  std::optional<TableScan> scan_;
  TableBatch batch_;
  size_t row_ = 0;  // the first row of batch_ that was not returned or skipped
};

}  // namespace cfile::tools
