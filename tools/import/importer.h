// Imports a CSV file into a table, for cfile-import.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"
#include "tools/input/input_file.h"
#include "tools/progress.h"

namespace cfile::tools {

// kAlreadyExists: something is at options.output. With --append: the errors of TableReader::Open.
// Reads no input, so that a wrong place is an error before the input was read.
absl::Status CheckOutput(const ImportOptions& options);

// Imports a CSV file, or several with the same columns (`parts`), into the table options.output.
// Precondition: `file` was opened with InputFileOptions::map.
//
// Reads the file in up to four passes: finds the types, the nulls and, with `skip_bad_rows`, the
// bad rows, unless `append` has the types from the table; checks the order of the rows, if
// `sorted_by` is set; sorts the keys, if the rows have another order; writes the rows. The first
// and the last pass use all threads.
//
// Memory for writing: one block for each column, and for each thread two pieces of 256 KiB of the
// file (a longer record makes a larger piece) and their values. Memory for sorting: `memory_bytes`.
// If the rows need more, they are sorted in runs (table_sorter.h).
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. If `names` is set, options name columns by these names and do not show what the first
// record is. Otherwise the first record is a row, with a warning, if each of its fields is a value
// of the type that the other rows have in this column, and at least one of these types is not
// string.
//
// kInvalidArgument: the input is not valid or a value does not fit its column ("FILE:LINE:COLUMN:
// ..."), or the options do not fit the file. kCancelled: Progress::Cancel was called. Other errors
// are those of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, const InputFile& file,
                                    const TextParts& parts, Progress& progress);

}  // namespace cfile::tools
