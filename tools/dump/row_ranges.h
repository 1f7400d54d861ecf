// The options that choose rows by their ordinals and keys, and the scan of the chosen rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // The rows before this row are not chosen. Counted from the first row of Input::rows.
  uint64_t ordinal = 0;
  bool must_exist = false;  // the row `ordinal` must exist
  // Of the rows that match the condition, only this number of rows is chosen:
  std::optional<uint64_t> count = {};   // the first rows
  std::optional<uint64_t> tail = {};    // the last rows
  std::optional<uint64_t> sample = {};  // rows that are chosen by chance
  uint64_t seed = 0;                    // the seed for `sample`
  bool skips_damage = false;            // rows that cannot be read do not count for `count`
  // Only rows whose key is at least `from` and less than `to`. Empty: no bound. For a compound key,
  // the values of its columns, or of its first columns; otherwise one value.
  std::vector<std::string> from = {};
  std::vector<std::string> to = {};
};

// Adds --row, --ordinal, --limit, --tail, --sample, --seed, --from and --to.
void AddRangeOptions(Command& command, RangeChoice& choice);

// kInvalidArgument: the first row is beyond the end.
absl::Status CheckFirst(const CommonOptions& common, const RangeChoice& choice, uint64_t num_rows);

// Ranges of rows, in ascending order, without overlaps. No range is empty.
using RowRanges = std::vector<OrdinalRange>;

// Returns the ranges that contain the chosen rows.
// `selection`: its condition and its limit tell the scan of the ranges which rows to return. The
// ranges may also contain rows that do not match the condition, so `selection` keeps the condition.
// If there is a condition and `choice.count` is set, the limit becomes this number. If
// `choice.sample` is set, all rows of the ranges match, so the function removes the condition.
//
// Reads data blocks only if there is a condition together with --tail or --sample. Each row has the
// same probability to be in a sample, and no row is in a sample twice. The same seed and the same
// rows give the same sample. The function needs about 50 bytes of memory for each row of a sample.
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

// Reads the rows of ranges. Skips the data blocks that have none of these rows. Thread-compatible.
class RangeScan {
 public:
  // `input` must outlive the object. A batch of `selection` has the columns of `selection`.
  RangeScan(const Input& input, RowSelection selection, RowRanges ranges)
      : input_(input), selection_(std::move(selection)), ranges_(std::move(ranges)) {}

  // Returns the next rows: at least one row, unless there are no more. The rows are valid until the
  // next call. The errors are those of TableScan::Next.
  absl::StatusOr<BatchRows> Next();

 private:
  // Begins the scan of the next ranges that one scan can read. Returns false if there are no more.
  absl::StatusOr<bool> OpenNext();
  // True if, in each column, the rows `first` and `next` are in the same data block.
  absl::StatusOr<bool> InSameBlocks(uint64_t first, uint64_t next);
  // Returns the next rows of batch_, from row_ on, that are in one range.
  BatchRows TakeRows();

  const Input& input_;
  RowSelection selection_;
  const RowRanges ranges_;
  size_t range_ = 0;     // the first range whose rows were not all returned
  size_t open_end_ = 0;  // the first range after the ranges that scan_ reads
  size_t part_ = 0;      // the part of the last call of InSameBlocks
  std::optional<TableScan> scan_;
  TableBatch batch_;
  size_t row_ = 0;  // the first row of batch_ that was not returned or skipped
};

}  // namespace cfile::tools
