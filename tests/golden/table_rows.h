// What cfile reads from a table, as JSON. The golden tables in tests/golden/tables-* have this
// beside them: NAME.json for the table NAME. The second reader (tests/interop) compares its own
// values with it.
#pragma once

#include "cfile/table.h"
#include "nlohmann/json.hpp"

namespace cfile::golden {

// Returns {"parts": number of rows of each part, "columns": [{"name", "type", "nullable", "levels",
// "rows"}, ...], "keys": [...], "nulls_last": [...]}. "levels" is there for a column with levels.
// Rows have the form of minted_files.h. EXPECTs that every file of the table is valid.
nlohmann::json ReadAll(const TableReader& table);

}  // namespace cfile::golden
