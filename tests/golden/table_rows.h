// Converts the rows that cfile reads from a table to JSON.
// For each table NAME in tests/golden/tables-*, the file NAME.json has this JSON.
// The second reader in tests/interop compares its own values with this file.
#pragma once

#include "cfile/table.h"
#include "nlohmann/json.hpp"

namespace cfile::golden {

// Returns {"parts": [...], "columns": [{"name", "type", "nullable", "levels", "rows"}, ...],
// "keys": [...], "nulls_last": [...]}.
// "parts" has the number of rows of each part. Only a column with levels has "levels".
// With a merge rule, mint_tables.cc adds "counting": the numbers of the rows that count.
// minted_files.h describes the form of the rows. EXPECTs that every file of the table is valid.
nlohmann::json ReadAll(const TableReader& table);

}  // namespace cfile::golden
