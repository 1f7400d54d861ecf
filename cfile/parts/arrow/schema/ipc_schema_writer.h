// Writes a schema of Arrow IPC.
#pragma once

#include <string>

#include "cfile/parts/arrow/c_data.h"

namespace cfile::internal {

// Returns an encapsulated IPC message with the schema whose fields are the children of `root`.
// ReadIpcSchemaMessage returns the same fields and metadata. Returns "" for types
// that Parquet cannot hold: unions, intervals, and dictionaries of dictionaries.
std::string WriteIpcSchemaMessage(const ArrowField& root);

}  // namespace cfile::internal
