// Rows of a file or a table, as `values`, `at` and `find` print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/dump/dump.h"

namespace cfile::tools {

// Rows [ordinal, ordinal + count), as far as there are any. A file: a value a line. A table: the
// names of the columns, then a line of tab-separated values a row; with --column as a file. With
// --json an object a line.
// `columns`: names of columns of a table, empty = all. `where`: only rows that match it
// (tools/dump/where.h), the first `count` of them.
ExitCode PrintRows(const Input& input, const CommonOptions& common,
                   const std::vector<std::string>& columns, uint64_t ordinal, uint64_t count,
                   const std::optional<std::string>& where, Output& output);

// Adds --columns, a list as ParseNames of tools/dump/where_parser.h reads it, to `command`. The
// option may come several times.
CLI::Option* AddColumnsOption(CLI::App& command, std::vector<std::string>& names,
                              const std::string& help);

uint64_t NumRows(const Input& input);

}  // namespace cfile::tools
