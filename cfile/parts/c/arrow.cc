// Exports of the C interface: rows of files and tables as Arrow streams.
#include "cfile/arrow.h"

#include <cstdint>
#include <utility>

#include "cfile/parts/c/call.h"
#include "cfile/parts/c/file.h"
#include "cfile/parts/c/scan.h"
#include "cfile/parts/c/table.h"
#include "cfile/table_scan.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

absl::StatusOr<ArrowExportOptions> ExportOptionsOf(const cfile_arrow_options* options) {
  ArrowExportOptions result;
  cfile_arrow_options given;
  CFILE_RETURN_IF_ERROR(ReadStruct(options, given));
  if (given.reserved != 0) return absl::UnimplementedError("`reserved` is not 0");
  result.string_views = given.string_views != 0;
  result.dictionaries = given.no_dictionaries == 0;
  result.column_only = given.column_only != 0;
  if (given.max_batch_rows != 0) result.max_batch_rows = given.max_batch_rows;
  return result;
}

// True if the scan has no options besides its range.
bool SelectsOnlyARange(const TableScanOptions& scan) {
  return !scan.columns && scan.where.empty() && scan.limit == UINT64_MAX && !scan.reverse;
}

}  // namespace
}  // namespace cfile::internal

using namespace cfile::internal;  // NOLINT(google-build-using-namespace)

cfile_code cfile_file_export_arrow(const cfile_file* file, const cfile_scan_options* scan,
                                   const cfile_arrow_options* options, ArrowArrayStream* stream) {
  if (stream != nullptr) stream->release = nullptr;
  return Call({file, stream}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto export_options, ExportOptionsOf(options));
    CFILE_ASSIGN_OR_RETURN(const auto scan_options, OptionsOf(scan));
    if (SelectsOnlyARange(scan_options))
      return cfile::ExportArrowStream(file->reader, scan_options.range, export_options, stream);
    if (export_options.column_only) {
      return absl::InvalidArgumentError(
          "column_only together with a filter, columns, a limit or `reverse`");
    }
    CFILE_ASSIGN_OR_RETURN(auto rows, cfile::NewTableScan(file->reader, scan_options));
    return cfile::ExportArrowStream(std::move(rows), export_options, stream);
  });
}

cfile_code cfile_table_export_arrow(const cfile_table* table, const cfile_scan_options* scan,
                                    const cfile_arrow_options* options, ArrowArrayStream* stream) {
  if (stream != nullptr) stream->release = nullptr;
  return Call({table, stream}, [&]() -> absl::Status {
    CFILE_ASSIGN_OR_RETURN(const auto export_options, ExportOptionsOf(options));
    if (export_options.column_only)
      return absl::InvalidArgumentError("column_only is set, but only a file has one column");
    CFILE_ASSIGN_OR_RETURN(const auto scan_options, OptionsOf(scan));
    return cfile::ExportArrowStream(table->reader, scan_options, export_options, stream);
  });
}
