// The summary that cfile-import prints at the end.
#pragma once

#include "tools/document.h"
#include "tools/import/importer.h"

namespace cfile::tools {

// Text has some lines about the import, then a table with a line per column: its type, its nulls
// and its values in the first new rows, which are read from the table. `report`: also counts the
// pages of Parquet. `why`: the lines of the columns have encodings, sizes and reasons instead of
// values. JSON has all but the values.
Document Summary(const ImportOptions& options, const ImportResult& result, bool json, bool report,
                 bool why);

}  // namespace cfile::tools
