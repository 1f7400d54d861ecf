// Finds out what the input of cfile-import is.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/import/import_options.h"

namespace cfile::tools {

enum class InputFormat : uint8_t { kCsv, kJson, kArrowIpc, kParquet };

// `source`: the input, decompressed. Arrow IPC and Parquet are recognised by their content. JSON
// has one of the names .jsonl, .ndjson and .json, or begins like a record or an array of records: {
// or [{ and then a " (with --schema also {, [ or nothing). All other input is CSV.
// kInvalidArgument: the input is a Feather file of version 1. kUnimplemented: the input is Arrow
// IPC or Parquet, which this build cannot read. Other errors are those of reading.
absl::StatusOr<InputFormat> FindInputFormat(const ImportOptions& options, const Source& source);

// True if a file with this name is JSON: one of the names above, perhaps with .gz or .zst after it.
bool HasJsonName(std::string_view path);

}  // namespace cfile::tools
