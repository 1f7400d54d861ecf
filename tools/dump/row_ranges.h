// The options that choose columns and rows, and the scan of the chosen rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/schema.h"
#include "cfile/table_scan.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

struct RowChoice {
  std::vector<std::string> columns = {};  // names of columns of a table; empty: all
  std::optional<std::string> where = {};  // in the grammar of cfile/filter.h
};

// A scan of the chosen rows.
struct RowSelection {
  TableScanOptions options;
  std::vector<ColumnSchema> columns;  // of the batches
  // With a limit: how many more rows may be returned. Copies of the selection share the number.
  std::shared_ptr<uint64_t> rows_left = {};

  absl::StatusOr<TableScan> NewScan(const Input& input) const;
};

// The column of a file is called "value". kInvalidArgument: there is no such column, a chosen
// column is nested, or the condition is wrong.
absl::StatusOr<RowSelection> SelectRows(const Input& input, const RowChoice& choice);

// The condition of --where; Filter() if there is none. kInvalidArgument: the condition is wrong.
absl::StatusOr<Filter> FilterOf(const RowChoice& choice, const Schema& schema);

// Adds --columns and --where, and returns --columns. An empty --where is an error of FilterOf.
Option& AddRowChoiceOptions(Command& command, RowChoice& choice);
void AddWhereOption(Command& command, RowChoice& choice);

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

void AddRangeOptions(Command& command, RangeChoice& choice);

// kInvalidArgument: the first row is beyond the end.
absl::Status CheckFirst(const CommonOptions& common, const RangeChoice& choice, uint64_t num_rows);

// Ranges of rows, in ascending order, without overlaps, none of them empty.
using RowRanges = std::vector<OrdinalRange>;
uint64_t RowsOf(const RowRanges& ranges);
// The rows of `ranges` that are in `rows`.
RowRanges Within(const RowRanges& ranges, const OrdinalRange& rows);

// The ranges that contain the chosen rows. The condition and the limit of `selection` tell the scan
// of the ranges which of their rows to return: the function sets the limit if there is a condition
// and `choice.count`, and removes the condition with `choice.sample`, because all rows of the
// ranges match. A merge rule counts as a condition here and below.
//
// Reads data blocks only if there is a condition together with --tail or --sample. Each row has the
// same probability to be in a sample; the same seed and the same rows give the same sample. A row
// of a sample takes about 50 bytes of memory. kInvalidArgument: the first row is beyond the end, or
// a key is wrong. kFailedPrecondition: a part has no value index, so it has no ranges of keys.
absl::StatusOr<RowRanges> ChooseRows(const Input& input, const CommonOptions& common,
                                     const RangeChoice& choice, RowSelection& selection);

// Some rows of a batch.
struct BatchRows {
  const TableBatch* batch = nullptr;  // null: there are no more rows
  size_t begin = 0;
  size_t end = 0;
};

// Reads the rows of ranges, and skips the data blocks that have none of them. Thread-compatible.
class RangeScan {
 public:
  // `input` must outlive the object. A batch of `selection` has the columns of `selection`.
  RangeScan(const Input& input, RowSelection selection, RowRanges ranges)
      : input_(input), selection_(std::move(selection)), ranges_(std::move(ranges)) {}

  // Returns the next rows, valid until the next call: at least one, unless there are no more.
  // Errors: those of TableScan::Next.
  absl::StatusOr<BatchRows> Next();

 private:
  // Begins the scan of the next ranges that one scan can read; false if there are no more.
  absl::StatusOr<bool> OpenNext();
  // True if, in each column, the rows `first` and `next` are in the same data block.
  absl::StatusOr<bool> InSameBlocks(uint64_t first, uint64_t next);
  // The next rows of batch_, from row_ on, that are in one range.
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
