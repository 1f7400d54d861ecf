// Imports Arrow IPC files and streams, for cfile-import.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/importer.h"
#include "tools/progress.h"

namespace cfile::tools {

// Imports options.input, an Arrow IPC file or stream (cfile/arrow_ipc.h), into the table
// options.output. The types are those of ImportArrowSchema; a field whose type is null becomes a
// column of strings. If the rows must be sorted and have another order, copies the rows into a
// temporary table in the directory of the table, and sorts them from there (table_sorter.h).
//
// Memory: that of one record batch, which AppendArrow reads as a whole.
//
// kInvalidArgument: the input is damaged, a value does not fit its column, or options do not fit the
// input. kUnimplemented: no column can hold the type of a field, or this build cannot read Arrow
// IPC. kCancelled: Progress::Cancel was called. Other errors are those of reading and writing. An
// error leaves no files behind.
absl::StatusOr<ImportResult> ImportArrowIpc(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
