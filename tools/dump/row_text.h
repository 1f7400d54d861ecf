// Rows of a file or a table as text, in the formats of `rows`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/parquet_options.h"
#include "cfile/status.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/progress.h"

namespace cfile::tools {

enum class RowFormat {
  kText,       // tabs between values (Form::kText of tools/dump/column_text.h)
  kHex,        // the same with Form::kHex
  kJson,       // an object with the ordinal and the values
  kFields,     // a line for each value, with the name of its column
  kCsv,        // tools/dump/line_text.h describes this format and the next
  kJsonLines,  // nested rows as in tools/records/json_printer.h
};

struct RowForm {
  RowFormat format = RowFormat::kText;  // nested rows are JSON Lines in place of kText and kFields
  char delimiter = ',';                 // of kCsv
  // The names of the columns come first in kText, kHex and kCsv, the row's number in kFields.
  bool header = true;
  // Of kText: the cells of a line on a terminal. Values are aligned, or printed as in kFields if
  // they do not fit.
  std::optional<size_t> width = {};
};

// The text of some rows, a part at a time. Only one thread at a time may use it.
class RowText {
 public:
  virtual ~RowText() = default;
  // Appends the text of some further rows to `out`; false if there are none. After an error, `out`
  // has only whole rows.
  virtual absl::StatusOr<bool> Append(std::string& out) = 0;
  // The ordinal of the next row, or of a row before it.
  virtual uint64_t ordinal() const = 0;
};

// Reads batches of the ranges for a text of their rows.
class ScannedRows : public RowText {
 public:
  ScannedRows(const Input& input, RowSelection selection, RowRanges ranges)
      : ordinal_(ranges.empty() ? 0 : ranges.front().begin),
        rows_left_(selection.rows_left),
        scan_(input, Limited(std::move(selection)), std::move(ranges)) {}
  uint64_t ordinal() const final { return ordinal_; }

 protected:
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

// Writes and clears the text of RowText::Append within a row. Null: there is no such function.
using FlushText = std::function<void(std::string&)>;
using OpenText =
    std::function<absl::StatusOr<std::unique_ptr<RowText>>(RowRanges ranges, FlushText flush)>;

// How the chosen rows become text.
struct RowPlan {
  std::string header;  // comes before the rows
  RowRanges ranges;    // have the chosen rows
  // The text of some of the ranges. May be called by several threads at once.
  OpenText open;
  // The text of a range depends on the rows before it.
  bool one_thread = false;
  // The columns of a table that the rows need; empty for a file.
  std::vector<std::string> columns = {};
};

// The columns of the batches of `selection`, and those that its condition tests.
std::vector<std::string> ColumnsToRead(const RowSelection& selection);

// `input` must outlive the plan. kInvalidArgument: the choice does not fit the input, or the format
// cannot hold nested columns. Other errors are those of ChooseRows.
absl::StatusOr<RowPlan> PlanRows(const Input& input, const CommonOptions& common,
                                 const RowChoice& choice, const RangeChoice& range,
                                 const RowForm& form);

// The plan for a file with levels, which is a leaf column of a nested table, or has Kudu's arrays:
// - One of Kudu's arrays is one line: a JSON array, or null.
// - In any other file, each entry is one line: the repetition level, the definition level and the
//   value of the entry. A "-" stands for a value that is missing. A JSON array is not possible,
//   because the levels alone do not say which entry is a null and which is an empty list.
// With kJson, each record is one line: an object with its ordinal, and with the array or the
// entries. A damaged record is not printed, except that the beginning of one of more than 1 MiB may
// be. kInvalidArgument: the user chose records in another way than by the first record and the
// number of records, or another format than kText, kHex and kJson. Other errors are those of
// LevelCursor.
absl::StatusOr<RowPlan> PlanEntries(const Reader& file, const CommonOptions& common,
                                    const RowChoice& choice, const RangeChoice& range,
                                    const RowForm& form);

// Rows that are left out because of damage. Thread-safe.
class LostRows {
 public:
  // `count`: how many of the rows are chosen.
  void Add(const OrdinalRange& rows, uint64_t count, std::string reason);
  // Warns about the rows, once for rows that follow each other for one reason. Returns how many are
  // chosen.
  uint64_t Report();

 private:
  struct Range {
    OrdinalRange rows;
    std::string reason;
  };
  std::mutex mutex_;
  std::vector<Range> ranges_;
  uint64_t count_ = 0;
};

// `plan` with another `open`, which goes on behind blocks with damaged values and behind parts that
// lack a file. `lost` gets the rows that are left out.
RowPlan SkippingDamage(const Input& input, RowPlan plan, LostRows& lost);

// Writes the text of the rows to `sink`, in order, also that before an error. Several threads make
// the text, each with memory for up to 16 MiB.
absl::Status WriteRows(const RowPlan& plan, size_t num_threads, Sink& sink, Progress& progress);

absl::Status AppendText(std::string_view text, Sink& sink);

// The rows for a file of Parquet.
struct ParquetRows {
  RowChoice choice;
  RangeChoice range;
  bool all = false;          // `choice` and `range` choose all rows
  LostRows* lost = nullptr;  // not null: damaged rows are left out
};

// Writes the rows as Parquet, and finishes the sink. Some of the rows are first copied to a table
// in TMPDIR or /tmp. Returns what --report prints. Only in builds with CFILE_WITH_PARQUET.
absl::StatusOr<std::string> WriteParquet(const Input& input, const ParquetRows& rows,
                                         const CommonOptions& common, ParquetExportOptions parquet,
                                         std::unique_ptr<Sink> sink, Progress& progress);

// If `place` ends in .gz or .zst, returns a sink that compresses what it gets, and writes it to
// `sink`; otherwise `sink` itself. kUnimplemented: this build lacks the codec.
absl::StatusOr<std::unique_ptr<Sink>> CompressedSink(const std::string& place,
                                                     std::unique_ptr<Sink> sink);

}  // namespace cfile::tools
