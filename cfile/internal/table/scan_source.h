// What a scan of several columns reads: a table, or a file as a table with one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cfile/internal/manifest/manifest.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"

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
  // Skips a chunk of many parts that the bounds of the chunk exclude. Returns `part` if it is not
  // in such a chunk, otherwise the next part after the chunk. If `reverse`, goes back: `part` and the
  // result are then the number of a part plus 1. `excluded` says whether bounds exclude rows.
  // It is called with a function that returns the bounds of a column, and with the rows.
  // Precondition: part < num_parts(), or, if `reverse`, 0 < part <= num_parts().
  using BoundsOfColumn = absl::FunctionRef<BlockStatistics(size_t column)>;
  using Excludes = absl::FunctionRef<bool(BoundsOfColumn bounds_of, const OrdinalRange& rows)>;
  virtual absl::StatusOr<size_t> PassOver(size_t part, bool reverse, Excludes excluded) const = 0;

  // What is known about the values of a part's column without opening its file.
  virtual BlockStatistics Bounds(const ManifestPart& part, size_t column) const = 0;
  // Errors as TableReader::OpenColumn.
  virtual absl::StatusOr<Reader> OpenColumn(const ManifestPart& part, size_t column) const = 0;
};

// Gives the library access to the inside of a TableScan (cfile/table_scan.h).
class TableScanAccess {
 public:
  static const ScanSource& Source(const TableScan& scan);
  // Whether the last rows come first.
  static bool IsReverse(const TableScan& scan);
  // The file of the first row of the range of `scan`, for one of its columns; nullopt if the range
  // is empty. Errors as TableReader::OpenColumn.
  static absl::StatusOr<std::optional<Reader>> FirstFile(const TableScan& scan, size_t column);
  // From now on the scan adds the rows of each of its columns to a sink. `sinks`: one for each
  // column, a ValueSink of the column's C++ type; must outlive the scan.
  static void SetSinks(TableScan& scan, std::vector<RowSink*> sinks);
  // Adds the next rows to the sinks. Returns how many: at least 1 unless the scan is at its end, at
  // most `max_rows`. Errors as TableScan::Next; the sinks may then have rows that Truncate removes.
  // Preconditions: max_rows > 0; the caller has called SetSinks.
  static absl::StatusOr<size_t> AddRows(TableScan& scan, size_t max_rows);
};

}  // namespace cfile::internal
