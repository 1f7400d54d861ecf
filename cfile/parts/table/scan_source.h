// What a scan of several columns reads: a table, or a file as a table with one column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/core/read/reader_access.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parts/table/manifest/manifest.h"
#include "cfile/parts/table/merge/applied_rule.h"
#include "cfile/parts/table/open_files.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"
#include "encodings/core/status.h"

namespace cfile {
class TableScan;
}  // namespace cfile

namespace cfile::internal {

class RowSink;

// Thread-safe.
class ScanSource {
 public:
  virtual ~ScanSource() = default;

  virtual const std::string& name() const = 0;  // for messages
  virtual const Schema& schema() const = 0;
  virtual const ReaderOptions& options() const = 0;
  virtual uint64_t num_rows() const = 0;
  virtual size_t num_parts() const = 0;

  // Reads a chunk of the table if the part is in one. Precondition: part < num_parts().
  virtual absl::StatusOr<ManifestPart> Part(size_t part) const = 0;
  // The part that contains row `ordinal`. Precondition: ordinal < num_rows().
  virtual absl::StatusOr<ManifestPart> PartOfRow(uint64_t ordinal) const = 0;
  // Skips the chunk that describes `part`, if its bounds exclude all its rows. Returns the next
  // part after the skipped chunk, or `part`. If `reverse`, goes back: `part` and the result are
  // then the number of a part plus 1. `excluded` returns true if bounds exclude rows. Its arguments
  // are a function that returns the bounds of a column, and the rows. Precondition: part <
  // num_parts(), or, if `reverse`, 0 < part <= num_parts().
  using BoundsOfColumn = absl::FunctionRef<BlockStatistics(size_t column)>;
  using Excludes = absl::FunctionRef<bool(BoundsOfColumn bounds_of, const OrdinalRange& rows)>;
  virtual absl::StatusOr<size_t> PassOver(size_t part, bool reverse, Excludes excluded) const = 0;

  // What is known about the values of a part's column without opening its file.
  virtual BlockStatistics Bounds(const ManifestPart& part, size_t column) const = 0;
  // Errors as TableReader::OpenColumn.
  virtual absl::StatusOr<Reader> OpenColumn(const ManifestPart& part, size_t column) const = 0;

  // The merge rule that scans must apply. null: scans return all rows.
  virtual const AppliedRule* rule() const { return nullptr; }

  // True if OpenTogether opens many files in about the time of one.
  virtual bool opens_at_once() const { return false; }
  // Opens several files at the same time, so that later calls of OpenColumn find them open, and
  // return their errors. Does not wait for small files, but only begins to read them. The caller
  // keeps the result until OpenColumn has opened these files. Precondition: opens_at_once().
  struct PartColumn {
    ManifestPart part;
    size_t column = 0;
  };
  using BegunFiles = std::vector<std::shared_ptr<const Source>>;
  virtual BegunFiles OpenTogether(std::span<const PartColumn> /*files*/) const { return {}; }
};

// kFailedPrecondition if readers apply a merge rule, so that rows have no numbers. `what`: what
// needs the numbers.
inline absl::Status CheckRowNumbers(const ScanSource& source, std::string_view what) {
  if (source.rule() == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(encodings::StrCat(
      source.name(), ": ", what,
      " needs the numbers of rows, but the table has a merge rule. Use a scan, a lookup or a merge "
      "cursor, or open the table with ReaderOptions::stored_rows"));
}

// Opens the files of some rows together, if the storage can do this. Errors are left to the
// reading. `ordinals`: rows of the table, in any order. The caller keeps the result while it reads.
inline ScanSource::BegunFiles OpenFilesOfRows(const ScanSource& source,
                                              const std::vector<size_t>& columns,
                                              std::vector<uint64_t> ordinals) {
  if (!source.opens_at_once()) return {};
  std::sort(ordinals.begin(), ordinals.end());
  std::vector<ScanSource::PartColumn> files;
  const size_t most = MaxRangesOfScan(source.options());
  for (auto row = ordinals.begin(); row != ordinals.end() && files.size() < most;) {
    const auto part = source.PartOfRow(*row);
    if (!part.ok()) break;
    for (const size_t column : columns) files.push_back({*part, column});
    row = std::lower_bound(row, ordinals.end(), part->first_ordinal + part->part->num_rows);
  }
  return source.OpenTogether(files);
}

// Opens the files of one column ahead, several together, for a caller that reads part after part.
// Errors are left to the reading. Thread-compatible.
class FilesAhead {
 public:
  // `rows`: rows of the table in ascending order, at least one of each part that the caller reads.
  // They must stay valid as long as this object.
  FilesAhead(const ScanSource& source, size_t column, std::span<const uint64_t> rows)
      : source_(source), column_(column), rows_(rows), most_(MaxRangesOfScan(source.options())) {}

  // Call before each part is opened.
  void EnterPart() {
    if (!source_.opens_at_once()) return;
    if (parts_ahead_ > 0) --parts_ahead_;
    if (parts_ahead_ > most_ / 2 || next_ == rows_.size()) return;
    std::vector<ScanSource::PartColumn> files;
    while (next_ < rows_.size() && parts_ahead_ + files.size() < most_) {
      const auto part = source_.PartOfRow(rows_[next_]);
      if (!part.ok()) return;
      files.push_back({*part, column_});
      const uint64_t end = part->first_ordinal + part->part->num_rows;
      const auto next = std::lower_bound(rows_.begin(), rows_.end(), end);
      next_ = static_cast<size_t>(next - rows_.begin());
    }
    parts_ahead_ += files.size();
    begun_.push_back(source_.OpenTogether(files));
    if (begun_.size() > 3) begun_.pop_front();  // the caller has read these parts
  }

 private:
  const ScanSource& source_;
  const size_t column_;
  const std::span<const uint64_t> rows_;
  const size_t most_;       // the greatest parts_ahead_
  size_t next_ = 0;         // the first of rows_ whose part was not opened
  size_t parts_ahead_ = 0;  // the number of parts that were opened and not entered
  std::deque<ScanSource::BegunFiles> begun_;
};

// A file as a table with one column.
class FileAsTable final : public ScanSource {
 public:
  explicit FileAsTable(const Reader& reader)
      : reader_(reader),
        schema_{.columns = {{.name = "value",
                             .type = reader.type(),
                             .nullable = reader.info().nullable,
                             .levels = reader.info().has_levels() ? reader.info().levels
                                                                  : LevelLimits()}}} {}

  const std::string& name() const override { return ReaderAccess::File(reader_)->source().name(); }
  const Schema& schema() const override { return schema_; }
  const ReaderOptions& options() const override { return ReaderAccess::File(reader_)->options(); }
  uint64_t num_rows() const override { return reader_.num_rows(); }
  size_t num_parts() const override { return 1; }
  absl::StatusOr<ManifestPart> Part(size_t) const override { return ManifestPart{.part = part_}; }
  absl::StatusOr<ManifestPart> PartOfRow(uint64_t) const override { return Part(0); }
  absl::StatusOr<size_t> PassOver(size_t part, bool, Excludes) const override { return part; }
  BlockStatistics Bounds(const ManifestPart&, size_t) const override {
    // Nothing is known: there may be nulls and values.
    return {.present_count = reader_.num_rows(), .null_count = reader_.num_rows()};
  }
  absl::StatusOr<Reader> OpenColumn(const ManifestPart&, size_t) const override { return reader_; }

 private:
  const Reader reader_;
  const Schema schema_;
  const std::shared_ptr<const TablePart> part_ =
      std::make_shared<TablePart>(TablePart{.num_rows = reader_.num_rows()});
};

// Gives the library access to the inside of a TableScan (cfile/table_scan.h).
class TableScanAccess {
 public:
  static const ScanSource& Source(const TableScan& scan);
  // True if the scan returns the last rows first.
  static bool IsReverse(const TableScan& scan);
  // Returns the file of one column that contains the first row in the range of `scan`; nullopt: the
  // range is empty. Errors: those of TableReader::OpenColumn.
  static absl::StatusOr<std::optional<Reader>> FirstFile(const TableScan& scan, size_t column);
  // From now on the scan adds the rows of each column to the column's sink. `sinks`: one for each
  // column, of its C++ type. They must outlive the scan.
  static void SetSinks(TableScan& scan, std::vector<RowSink*> sinks);
  // Adds the next rows to the sinks. Returns their number, at most `max_rows`, and 0 only at the
  // end of the scan. Errors: those of TableScan::Next. After an error, the sinks may have surplus
  // rows, which RowSink::Truncate removes. Preconditions: max_rows > 0; the caller has called
  // SetSinks.
  static absl::StatusOr<size_t> AddRows(TableScan& scan, size_t max_rows);
};

}  // namespace cfile::internal
