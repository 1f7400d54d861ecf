// The summary that cfile-import prints at the end.
#pragma once

#include <string>

#include "tools/import/importer.h"

namespace cfile::tools {

// As text: some lines about the import, then a table with a line per column: its type, its nulls
// and its values in the first new rows, which are read from the table. `report`: also counts the
// pages of Parquet. `why`: the lines of the columns have encodings, sizes and reasons instead of
// values.
std::string SummaryText(const ImportOptions& options, const ImportResult& result, bool report,
                        bool why);

// The summary as one JSON object.
std::string SummaryJson(const ImportOptions& options, const ImportResult& result);

}  // namespace cfile::tools
