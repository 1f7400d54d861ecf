// Converts the rows that cfile reads from a table to JSON.
// For each table NAME in tests/golden/tables-*, the file NAME.json has this JSON.
// The second reader in tests/interop compares its own values with this file.
#pragma once

#include <filesystem>

#include "nlohmann/json.hpp"

namespace cfile::golden {

// Returns {"parts": [...], "columns": [{"name", "type", "nullable", "levels", "rows"}, ...],
// "keys": [...], "nulls_last": [...]}.
// "parts" has the number of rows of each part. Only a column with levels has "levels".
// A table with a merge rule also has "counting": the numbers of the stored rows that count.
// A table with metadata also has "metadata": pairs of a key and a text.
// minted_files.h describes the form of the rows. EXPECTs that every file of the table is valid.
nlohmann::json ReadAll(const std::filesystem::path& path);

}  // namespace cfile::golden
