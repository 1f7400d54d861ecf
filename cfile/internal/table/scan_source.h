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
  // Skips the chunk that holds `part`, if the chunk's bounds exclude all its rows.
  // A chunk describes many parts. Returns the next part after the skipped chunk.
  // If no chunk is skipped, returns `part`.
  // If `reverse`, goes back: `part` and the result are then the number of a part plus 1.
  // `excluded` returns true if bounds exclude rows.
  // Its arguments are a function that returns the bounds of a column, and the rows.
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
  // True if the scan returns the last rows first.
  static bool IsReverse(const TableScan& scan);
  // Returns the file of one column that contains the first row in the range of `scan`.
  // nullopt: the range is empty. Errors: those of TableReader::OpenColumn.
  static absl::StatusOr<std::optional<Reader>> FirstFile(const TableScan& scan, size_t column);
  // Gives the scan a sink for each of its columns. A sink is an object that receives rows.
  // From now on the scan adds the rows of each column to the column's sink.
  // `sinks`: for each column, a ValueSink of the column's C++ type.
  // The sinks must outlive the scan.
  static void SetSinks(TableScan& scan, std::vector<RowSink*> sinks);
  // Adds the next rows to the sinks. Returns the number of these rows, at most `max_rows`.
  // The number is 0 only at the end of the scan. Errors: those of TableScan::Next.
  // After an error, the sinks may have surplus rows. RowSink::Truncate removes these rows.
  // Preconditions: max_rows > 0; the caller has called SetSinks.
  static absl::StatusOr<size_t> AddRows(TableScan& scan, size_t max_rows);
};

}  // namespace cfile::internal
