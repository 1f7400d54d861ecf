// Prints rows of a file or a table, for `values` and `at`.
#pragma once

#include <cstdint>

#include "tools/dump/dump.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// Prints the rows [ordinal, ordinal + count), as far as they exist, and returns the exit code. For
// a file, or for a table with --column: one value per line. For a table without --column: the names
// of the columns, then one line of tab-separated values per row. With --json: one object per line.
// With a condition: the first `count` of the rows from `ordinal` on that match it.
ExitCode PrintRows(const Input& input, const CommonOptions& common, RowChoice choice,
                   uint64_t ordinal, uint64_t count, Output& output);

}  // namespace cfile::tools
