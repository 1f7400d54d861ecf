// Gives the library access to the inside of a TableScan.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/read/row_sink.h"
#include "cfile/internal/table/scan_source.h"
#include "cfile/reader.h"
#include "cfile/table_scan.h"

namespace cfile::internal {

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
