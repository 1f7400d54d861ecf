// Prints rows of a file or a table, for `values` and `at`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// The values of --format. With --json: an object with the ordinal and the values for each row.
inline constexpr const char* kRowFormats[] = {"text", "csv", "tsv", "jsonl", "hex"};

// Prints the chosen rows; the last of them may still be in output.text afterwards. With the format
// text or hex, prints for a file, or for a table with --column: one value per line; for a table
// without --column: the names of the columns, then one line of tab-separated values per row. The
// other formats are those of `export`. Stops if the output cannot be written.
absl::Status AppendRows(const Input& input, const CommonOptions& common, RowChoice choice,
                        const RangeChoice& range, const std::string& format, Output& output);

}  // namespace cfile::tools
