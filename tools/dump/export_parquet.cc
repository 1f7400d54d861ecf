// cfile-dump export --to parquet: blocks become pages without being encoded again, if possible.
#include "tools/dump/export.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cfile/parquet.h"
#include "cfile/status.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

absl::Status ExportToParquet(const Input& input, const CommonOptions& /*common*/,
                             const ExportOptions& options, std::unique_ptr<Sink> sink,
                             Progress& progress) {
  if (options.choice.where.has_value()) {
    return absl::InvalidArgumentError("--where is not for parquet: the file gets all rows");
  }
  if (!input.table && !options.choice.columns.empty()) {
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  }
  ParquetExportOptions parquet = options.parquet;
  parquet.columns = options.choice.columns;
  parquet.progress = [&](uint64_t rows, uint64_t) { return progress.Update(0, rows).ok(); };
  CFILE_ASSIGN_OR_RETURN(const ParquetReport report,
                         input.table ? ExportParquet(*input.table, std::move(sink), parquet)
                                     : ExportParquet(*input.file, std::move(sink), parquet));
  if (options.report == nullptr) return absl::OkStatus();
  *options.report = absl::StrCat(
      WithCommas(report.rows), report.rows == 1 ? " row in " : " rows in ",
      Plural(report.row_groups, "row group"), ", ", WithCommas(report.bytes_in), " -> ",
      WithCommas(report.bytes_out), " bytes\n",
      PagesText(report.copied_pages, report.recompressed_pages, report.recoded_pages), "\n");
  return absl::OkStatus();
}

}  // namespace cfile::tools
