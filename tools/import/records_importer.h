// Imports JSON Lines into a table of records, for cfile-import.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/importer.h"
#include "tools/progress.h"

namespace cfile::tools {

// Imports options.input into the table options.output. If the schema is given, or if records are
// appended to a table, reads the input once (twice if the table has a value index and the new
// records do not ascend). Otherwise finds the schema of the first 4 MiB, then writes all records
// with it. If the schema of all records is another one, starts again: reads all records to find it,
// then all to write. Memory: as much as JsonLines and RecordWriter.
//
// kInvalidArgument: a record is not valid JSON or does not fit the schema
// ("FILE:LINE: FIELD: ..."), the schema is not valid ("FILE:LINE:COLUMN: ..."), or options are for
// CSV only or do not fit the file. kCancelled: Progress::Cancel was called. Other errors are those
// of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> ImportRecords(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
