// Golden files and their manifest. tests/golden/mint.cc writes such a folder and shares this header
// with the tests, which write each file again from the manifest and compare the bytes.
//
// A folder of golden files holds NAME.cfile, NAME/ (tables) and manifest.jsonl.gz: one JSON object
// per line.
//
//   {"library": "cfile 0.1.0"}                           the program that wrote the folder
//   {"rows": "int32 nulls", "values": [1, null, ...]}    rows that several files hold
//   {"file": NAME, "type": "int32", "encoding": "rle", ..., "rows": "int32 nulls"}
//   {"table": NAME, "columns": [...], "parts": [[rows of each column], ...]}
//
// Values: integers as numbers, 128-bit integers as strings, bool as 0 or 1, float and double as the
// integer with the same bits, all others in hexadecimal. A row of a file with levels is a list of
// [repetition level, definition level, value or null].
//
// Files of Kudu have one more key, "origin": what Kudu's tools say about the file (its blocks, the
// requested encoding, ...), in their words. The rows of a file of Bloom filters are the keys in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/types.h"
#include "nlohmann/json.hpp"
#include "tests/cfile/column_testing.h"
#include "tests/cfile/level_testing.h"

namespace cfile::golden {

using nlohmann::json;
using testing_support::Column;
using testing_support::Leaf;

inline constexpr char kManifest[] = "manifest.jsonl.gz";

// The rows of a column or of a leaf as JSON, and the inverse. For each type of
// CFILE_FOR_EACH_VALUE_TYPE.
template <typename T>
json RowsOf(const Column<T>& column);
template <typename T>
json RowsOf(const Leaf<T>& leaf);
template <typename T>
Column<T> ColumnOf(const json& rows);
template <typename T>
Leaf<T> LeafOf(const json& rows, const LevelLimits& limits);

// A column: the type, how it is written, and the name of its rows.
struct Description {
  ColumnType type;
  WriterOptions options;
  std::optional<LevelLimits> levels;
  std::string rows;
};

json ToJson(const Description& column);

Description DescriptionOf(const json& from);

// True if this build can write the column.
bool CanWrite(const Description& column);

// Returns the bytes of a file with these rows.
std::vector<uint8_t> WriteFile(const Description& column, const json& rows);

using NamedRows = std::map<std::string, json>;

// The schema of a table of the manifest.
Schema SchemaOf(const json& table);

// Writes a table. Its parts get names that do not change from run to run.
absl::Status WriteTable(const std::string& directory, const json& table, const NamedRows& rows);

struct Manifest {
  std::string library;
  NamedRows rows;
  std::vector<json> files;
  std::vector<json> tables;
};

Manifest ReadManifest(const std::filesystem::path& folder);

void WriteManifest(const std::filesystem::path& folder, const Manifest& manifest);

// The version of this library, as files name it.
std::string LibraryVersion();

}  // namespace cfile::golden
