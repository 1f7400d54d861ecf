// Prints rows of a file or a table, for `values` and `at`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// The help of --part of commands that print rows and need --column if --part is given.
inline constexpr const char* kPartOfColumn =
    "Only this part of the file of --column, counted from 0 (default: all); ordinals count from "
    "the beginning of the part";

// The values of --format.
inline constexpr const char* kRowFormats[] = {"text", "csv", "tsv", "jsonl", "hex"};

// Prints the chosen rows. The last rows may still be in output.text afterwards.
// The formats text and hex have one value per line for a file, and for a table with --column. For a
// table without --column, they have the names of the columns, then one line of tab-separated values
// per row. The other formats are those of `export`. With --json, each row is an object with the
// ordinal and the values. The function stops if the output cannot be written.
absl::Status AppendRows(const Input& input, const CommonOptions& common, RowChoice choice,
                        const RangeChoice& range, const std::string& format, Output& output);

}  // namespace cfile::tools
