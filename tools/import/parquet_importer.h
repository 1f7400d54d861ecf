// Imports Parquet files, for cfile-import.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/importer.h"
#include "tools/input/input_file.h"
#include "tools/progress.h"

namespace cfile::tools {

// Imports `file`, a Parquet file, into the table options.output. If it has no source, imports the
// Parquet files in the directory options.input (cfile/parquet.h). Pages become blocks without being
// encoded again, unless options ask for other blocks. If the rows must be sorted and have another
// order, first copies them into a temporary table in the directory of the table, and sorts them
// from there (table_sorter.h).
//
// kInvalidArgument: the input is damaged, a value does not fit its column, or options do not fit
// the input. kUnimplemented: the input needs something that this build does not have. kCancelled:
// Progress::Cancel was called. Other errors are those of reading and writing. An error leaves no
// files behind.
absl::StatusOr<ImportResult> ImportParquetFiles(const ImportOptions& options, const InputFile& file,
                                                Progress& progress);

}  // namespace cfile::tools
