// cfile-dump export --to parquet: blocks become pages without being encoded again, if possible.
#include "tools/dump/export.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "cfile/parquet.h"

namespace cfile::tools {

absl::Status ExportToParquet(const Input& input, const CommonOptions& common,
                             const ExportOptions& options, std::unique_ptr<Sink> sink,
                             Progress& progress) {
  if (options.choice.where.has_value()) {
    return absl::InvalidArgumentError("--where is not for parquet: the file gets all rows");
  }
  const ParquetExportOptions parquet{
      .columns = options.choice.columns,
      .progress = [&](uint64_t rows, uint64_t) { return progress.Update(rows, rows).ok(); }};
  if (input.table) return ExportParquet(*input.table, std::move(sink), parquet).status();
  if (!options.choice.columns.empty()) {
    return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
  }
  return ExportParquet(*input.file, std::move(sink), parquet).status();
}

}  // namespace cfile::tools
