// Imports JSON Lines, or a JSON array, into a table of records, for cfile-import.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cfile/record_schema.h"
#include "tools/import/importer.h"
#include "tools/progress.h"

namespace cfile::tools {

// Reads the file options.schema_path: a schema in the notation of cfile/record_schema.h. Takes the
// lines of a merge rule (tools/merge_rule.h) into the options. kInvalidArgument: it has no schema.
absl::StatusOr<RecordSchema> ReadSchema(ImportOptions& options);

// Imports `file` into the table options.output. If the schema is given, or if records are appended
// to a table, reads the input once. Otherwise finds the schema of the first 4 MiB, and writes all
// records with it; if the schema of all records is another one, starts again with that one. If the
// records must be sorted, writes them to a temporary table first (table_sorter.h). Errors: those of
// Import (importer.h).
absl::StatusOr<ImportResult> ImportRecords(ImportOptions options, const InputFile& file,
                                           Progress& progress);

}  // namespace cfile::tools
