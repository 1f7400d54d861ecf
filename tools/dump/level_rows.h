// Prints the records of a file with levels. Such a file is a leaf column of a nested table, or has
// Kudu's arrays.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "cfile/reader.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"

namespace cfile::tools {

// Prints the chosen records of `file`. Precondition: the file has levels.
// - One of Kudu's arrays is one line: a JSON array, or null.
// - In any other file, each entry is one line: the repetition level, the definition level and the
//   value of the entry. A "-" stands for a value that is missing. The function cannot print a JSON
//   array here, because the levels alone do not say which entry is a null and which is an empty
//   list.
// With --json, each record is one line: an object with the ordinal of the record, and with the
// array or the entries.
// The function may leave the last records in output.text. The caller prints them. A damaged record
// is not printed, except that the beginning of a damaged record of more than 1 MiB may be printed.
// kInvalidArgument: the user chose records in another way than by the first record and the number
// of records, or `format` is not text or hex. Other errors are those of LevelCursor.
absl::Status AppendLevelRows(const Reader& file, const CommonOptions& common,
                             const RowChoice& choice, const RangeChoice& range,
                             const std::string& format, Output& output);

}  // namespace cfile::tools
