// What cfile-import does with JSON Lines: a table of records.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/importer.h"
#include "tools/import/progress.h"

namespace cfile::tools {

// Reads options.input once if the schema is given or the table's. Else it finds the schema from the
// first 4 MiB and writes all records with it; where they have another one, it begins again, reads
// all to find that, and all to write. Memory: what JsonLines and RecordWriter take.
//
// kInvalidArgument: a record is no JSON or does not go with the schema ("FILE:LINE: FIELD: ..."),
// the schema is none ("FILE:LINE:COLUMN: ..."), or options are for CSV only or do not go with the
// file. kCancelled: Progress::Cancel. Other errors are those of reading and writing. After an error
// nothing is left behind.
absl::StatusOr<ImportResult> ImportRecords(const ImportOptions& options, Progress& progress);

}  // namespace cfile::tools
