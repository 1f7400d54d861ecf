// Scans of a table: the rows that match a filter, with the values of several columns. Errors,
// lifetime and threads: cfile/CONCEPTS.md.
//
//   auto scan = table.NewScan({.columns = {{"carrier", "dep_delay"}},
//                              .where = And(Eq("origin", "JFK"), Gt("dep_delay", 60))});
//   if (!scan.ok()) return scan.status();
//   for (const auto& batch : scan->Batches()) {
//     if (!batch.ok()) return batch.status();
//     const std::span<const std::string_view> carriers = batch->column<std::string_view>(0).values;
//     const std::span<const double> delays = batch->column<double>(1).values;
//     ...
//   }
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/filter.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile {

struct TableScanOptions {
  // The columns to return, by name, in this order. The name of a group of a nested table stands for
  // all leaf columns below the group. nullopt: all columns. Empty: no columns; a scan then returns
  // only the ordinals.
  std::optional<std::vector<std::string>> columns = std::nullopt;

  // The scan returns the rows for which this filter is true. Its columns need not be in `columns`.
  Filter where = {};

  // Only these rows of the table. The range may end after the last row.
  OrdinalRange range = kAllRows;

  // The scan ends after this many rows.
  uint64_t limit = UINT64_MAX;

  // True: the last rows come first. The rows of one batch are in ascending order nevertheless; each
  // batch has the rows before those of the previous batch. A scan in this order takes as long as a
  // forward scan, except with levels: the levels before a batch in its block are decoded again.
  bool reverse = false;

  // If not null and set to true, in any thread, Next soon returns kCancelled. Must outlive the
  // scan.
  const std::atomic<bool>* cancelled = nullptr;
};

// What a scan has done for one condition of its filter so far.
struct ConditionCounters {
  std::string column;
  // Rows that this condition excluded without reading values. Rows that another condition excluded
  // earlier are not counted.
  uint64_t rows_excluded_by_bounds = 0;  // in table.cft
  uint64_t rows_excluded_by_statistics = 0;
  uint64_t rows_excluded_by_bloom_filter = 0;
  uint64_t rows_excluded_by_value_index = 0;
  // The number of data blocks that were read, and of rows whose values were compared. A block that
  // several conditions on one column need is read and counted once, for the first of them.
  uint64_t blocks_read = 0;
  uint64_t rows_compared = 0;
};

struct TableScanCounters {
  // One for each condition, in the order in which the filter names them.
  std::vector<ConditionCounters> conditions;
  // Data blocks that were read for each column of the batches.
  std::vector<uint64_t> blocks_read;
  uint64_t parts_skipped = 0;  // parts that the bounds in table.cft exclude
  uint64_t rows_returned = 0;
};

namespace internal {
class ColumnBatches;
class TableScanAccess;
}  // namespace internal

// Rows of a table, with values of several columns. A view, valid until the next call on the scan.
class CFILE_EXPORT TableBatch {
 public:
  TableBatch() = default;

  size_t num_rows() const { return num_rows_; }
  bool empty() const { return num_rows_ == 0; }
  // The ordinal of a row in the table.
  uint64_t ordinal(size_t row) const {
    CFILE_ASSERT(row < num_rows_);
    return first_ordinal_ + (ordinals_ == nullptr ? row : ordinals_[row]);
  }

  // The values of a column without levels: num_rows() values. `column` counts the columns in the
  // order of TableScan::columns(). The result's first_ordinal is not set. Preconditions: not
  // empty(); the column has no levels.
  template <typename T, typename = IfValueType<T>>
  Batch<T> column(size_t column) const;
  // The entries of a column with levels (ColumnSchema::has_levels): num_rows() records. The
  // result's first_record is not set. Preconditions as for column, but the column has levels.
  template <typename T, typename = IfValueType<T>>
  LevelBatch<T> levels(size_t column) const;

 private:
  friend class TableScan;

  uint64_t first_ordinal_ = 0;
  const uint64_t* ordinals_ = nullptr;  // one per row, from first_ordinal_; null: consecutive rows
  size_t num_rows_ = 0;
  const internal::ColumnBatches* columns_ = nullptr;
};

// A scan of a table; TableReader::NewScan begins one. Several scans may read one table at the same
// time, for example one for each range of TableReader::SplitScan.
//
// The scan evaluates the conditions of the filter one after another, the cheapest first. A
// condition reads a block only if some rows of the block have passed the earlier conditions, and
// if the bounds in table.cft, the statistics, the Bloom filters and the value indexes do not
// exclude all its rows. The scan reads the columns to return only at the rows that match. Memory:
// one block and one batch for each condition and for each column.
//
// If the table applies a merge rule (cfile/CONCEPTS.md), the scan returns the rows that count.
// Ranges and ordinals are still those of stored rows, so that ranges divide the work among threads.
// Before the first row of a part that overlaps with others, the scan merges the keys of all parts
// that overlap, unless another scan of this open table has. (If the filter allows only a range of
// keys, the scan merges only these.) The result takes one bit for each row of these parts.
// Conditions of the rule stand among the counters of the conditions.
//
// Each column is read by itself. If the source reads in the background
// (Source::ReadsInBackground), the scan reads all columns at the same time. From other sources with
// latency, it reads several blocks of one column at the same time, but waits for one column after
// another; to avoid this, scan the ranges of SplitScan in several threads.
class CFILE_EXPORT TableScan {
 public:
  TableScan(TableScan&&) noexcept;
  TableScan& operator=(TableScan&&) noexcept;
  ~TableScan();

  // The columns of the batches: positions in the table's schema().columns.
  const std::vector<size_t>& columns() const;

  // Returns the next rows that match: at least 1 unless the scan is at its end, at most 65,536,
  // all from one part. Rows that were found before an error are returned before the error.
  // kCancelled: see TableScanOptions.
  absl::StatusOr<TableBatch> Next();

  BatchRange<TableScan> Batches() { return {*this, 0}; }

  const TableScanCounters& counters() const;

 private:
  friend class TableReader;
  friend class internal::TableScanAccess;
  friend absl::StatusOr<TableScan> NewTableScan(const Reader& reader,
                                                const TableScanOptions& options);
  class CFILE_HIDDEN Impl;
  explicit TableScan(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Begins a scan of a single file, which is scanned like a table with one column, named "value".
CFILE_EXPORT absl::StatusOr<TableScan> NewTableScan(const Reader& reader,
                                                    const TableScanOptions& options);

}  // namespace cfile
