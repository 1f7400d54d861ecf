// The summary that cfile-import prints at the end.
#pragma once

#include <string>

#include "tools/import/importer.h"

namespace cfile::tools {

// As text: some lines about the import, then a table with a line per column. `report`: also counts
// the pages of Parquet.
std::string SummaryText(const ImportOptions& options, const ImportResult& result, bool report);

// The summary as one JSON object.
std::string SummaryJson(const ImportOptions& options, const ImportResult& result);

}  // namespace cfile::tools
