// Shared by the summaries of a file and of a table.
#pragma once

#include "tools/dump/dump.h"

namespace cfile::tools {

ExitCode SummarizeFile(const CommonOptions& common, const Reader& reader, Output& output);
ExitCode SummarizeTable(const CommonOptions& common, const TableReader& table, bool by_size,
                        Output& output);

}  // namespace cfile::tools
