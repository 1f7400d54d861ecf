// Prints the records of a file with levels: the leaf column of a nested table, or Kudu's arrays.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "cfile/reader.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// Prints the chosen records of `file`. Kudu's arrays are printed as a JSON array for each record,
// or null. The levels of other files do not say what is a null and what is an empty list, so each
// entry is a line: its repetition level, its definition level, and its value, or - without a value.
// With --json, each record is an object with the ordinal and the array or the entries. The last
// records may still be in output.text afterwards.
// kInvalidArgument: the choice has more than the first record and the number of records, or
// `format` is not text or hex. Other errors: those of LevelCursor. Precondition: the file has
// levels.
absl::Status AppendLevelRows(const Reader& file, const CommonOptions& common,
                             const RowChoice& choice, const RangeChoice& range,
                             const std::string& format, Output& output);

}  // namespace cfile::tools
