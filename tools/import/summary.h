// What cfile-import says when it is done.
#pragma once

#include <string>

#include "tools/import/importer.h"

namespace cfile::tools {

// For people: a line or two, then a table with a line per column.
std::string SummaryText(const ImportOptions& options, const ImportResult& result);

// The same as one JSON object.
std::string SummaryJson(const ImportOptions& options, const ImportResult& result);

}  // namespace cfile::tools
