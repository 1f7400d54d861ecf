// Prints rows of a file or a table, for `values` and `at`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/dump/dump.h"

namespace cfile::tools {

// Prints the rows [ordinal, ordinal + count), as far as they exist, and returns the exit code. For
// a file, or for a table with --column: one value per line. For a table without --column: the names
// of the columns, then one line of tab-separated values per row. With --json: one object per line.
// `columns`: names of columns of a table; empty: all columns. `where`: prints only rows that match
// it (tools/where.h), the first `count` of them from `ordinal` on.
ExitCode PrintRows(const Input& input, const CommonOptions& common,
                   const std::vector<std::string>& columns, uint64_t ordinal, uint64_t count,
                   const std::optional<std::string>& where, Output& output);

// Adds the option --columns to `command`. Its value is a list of names in the form of ParseNames
// (tools/where_parser.h). The names are appended to `names`. The option may be given several
// times.
CLI::Option* AddColumnsOption(CLI::App& command, std::vector<std::string>& names,
                              const std::string& help);

}  // namespace cfile::tools
