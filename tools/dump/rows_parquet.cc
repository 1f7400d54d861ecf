// cfile-dump rows --format parquet: blocks become pages without being encoded again, if possible.
#include "tools/dump/rows.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parquet.h"
#include "cfile/status.h"

namespace cfile::tools {

absl::StatusOr<std::string> WriteParquet(const Input& input,
                                         const std::vector<std::string>& columns,
                                         ParquetExportOptions parquet, std::unique_ptr<Sink> sink,
                                         Progress& progress) {
  if (!input.table && !columns.empty()) {
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  }
  parquet.columns = columns;
  parquet.progress = [&](uint64_t rows, uint64_t) { return progress.Update(0, rows).ok(); };
  CFILE_ASSIGN_OR_RETURN(const ParquetReport report,
                         input.table ? ExportParquet(*input.table, std::move(sink), parquet)
                                     : ExportParquet(*input.file, std::move(sink), parquet));
  return absl::StrCat(
      WithCommas(report.rows), report.rows == 1 ? " row in " : " rows in ",
      Plural(report.row_groups, "row group"), ", ", WithCommas(report.bytes_in), " -> ",
      WithCommas(report.bytes_out), " bytes\n",
      PagesText(report.copied_pages, report.recompressed_pages, report.recoded_pages), "\n");
}

}  // namespace cfile::tools
