// cfile_filter and cfile_scan: filters, and scans of files and tables.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/c.h"
#include "cfile/filter.h"
#include "cfile/parts/c/value.h"
#include "cfile/table_scan.h"
#include "cfile/types.h"

struct cfile_filter {
  cfile::Filter filter;
};

struct cfile_scan {
  struct Column {
    cfile::PhysicalType type;
    bool has_levels = false;
    cfile::internal::Copies<cfile_bytes> copies = {};
  };
  std::atomic<bool> cancelled = false;
  std::optional<cfile::TableScan> scan;
  std::vector<Column> columns;
  cfile::TableBatch batch;
  bool broken = false;  // see CallOn
};

namespace cfile::internal {

// If `options` is null, the result selects all rows and columns.
// kInvalidArgument, kUnimplemented: a field has a value that the library does not accept.
absl::StatusOr<TableScanOptions> OptionsOf(const cfile_scan_options* options);

// Makes a filter. Errors: those of FilterOfText.
absl::Status ParseFilter(const char* text, const Schema& schema, cfile_filter** filter);

// Begins a scan with `begin`, which calls NewScan or NewTableScan. `schema`: the columns of the
// table, or the column of the file.
absl::Status NewAnyScan(const cfile_scan_options* options, const std::vector<ColumnSchema>& schema,
                        absl::FunctionRef<absl::StatusOr<TableScan>(const TableScanOptions&)> begin,
                        cfile_scan** scan);

}  // namespace cfile::internal
