// Imports a CSV file into a table, for cfile-import.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"
#include "tools/input/input_file.h"
#include "tools/input/joined_files.h"
#include "tools/progress.h"

namespace cfile::tools {

// kAlreadyExists: something is at options.output. With --append: the errors of TableReader::Open.
// Reads no input, so that a wrong place is an error before the input was read.
absl::Status CheckOutput(const ImportOptions& options);

// Imports a CSV file, or several with the same columns (`parts`), into the table options.output. Precondition: `file` was opened with
// InputFileOptions::map.
//
// Reads the file in up to four passes:
// 1. Finds the types and the nulls. `append` needs no such pass.
// 2. Checks the order of the rows, if `sorted_by` is set.
// 3. Sorts the keys, if the rows have another order.
// 4. Writes the rows.
// The first and the last pass use all threads.
//
// Memory for writing: one block for each column. Each thread also needs memory for two pieces.
// A piece is 256 KiB of the file and the values of this text. A longer record makes a larger piece.
// Memory for sorting: `memory_bytes`. If the rows need more, they are sorted in runs.
// A run is a series of sorted rows in a temporary folder in the table's directory.
// At the end, the runs are merged (sorted_runs.h).
//
// `skip_bad_rows` is above 0: the first pass also finds the rows that are bad, and later passes skip
// them. Then `append` needs this pass, too.
//
// Header::kAuto: with `append`, or if an option names a column of the first record, this record is
// the header. If `names` is set, options name columns by these names and do not show what the first
// record is. Otherwise the first record is a row, with a warning, if two conditions hold:
// - Each field of the record is a value of the type that the other rows have in this column.
// - At least one of these types is not string.
// If a condition does not hold, the first record is the header.
//
// kInvalidArgument: the file is not valid CSV or a value does not fit its column
// ("FILE:LINE:COLUMN: ..."), or the options do not fit the file. kCancelled: Progress::Cancel was
// called. Other errors are those of reading and writing. An error leaves no files behind.
absl::StatusOr<ImportResult> Import(const ImportOptions& options, const InputFile& file,
                                    const TextParts& parts, Progress& progress);

}  // namespace cfile::tools
