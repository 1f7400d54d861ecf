// Finds out what the input of cfile-import is.
#pragma once

#include "absl/status/statusor.h"
#include "tools/import/importer.h"

namespace cfile::tools {

enum class InputFormat : uint8_t { kCsv, kJson, kArrowIpc, kParquet };

// Arrow IPC and Parquet are recognised by their content, and a directory holds Parquet files. JSON has one of the names .jsonl, .ndjson and .json, or a
// schema (--schema), or begins like a record or an array of records: { or [{ and then a ". All other
// input is CSV. kInvalidArgument: the input is a Feather file of version 1. kUnimplemented: the
// input is Arrow IPC or Parquet, which this build cannot read. Other errors are those of reading.
absl::StatusOr<InputFormat> FindInputFormat(const ImportOptions& options);

}  // namespace cfile::tools
