// Rows of a CSV file in the order of a column.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/table.h"
#include "tools/import/csv_input.h"
#include "tools/import/progress.h"

namespace cfile::tools {

// The offsets of all rows in ascending order of `column`, equal ones in the order of the file;
// nullopt if that is the file's order already, which is found out without holding any of it.
// kInvalidArgument, with the line: a null, nan, or a text that is no value of the column. Leaves
// `input` anywhere.
absl::StatusOr<std::optional<std::vector<uint64_t>>> FindRowOrder(CsvInput& input, size_t column,
                                                                  const ColumnType& type,
                                                                  Progress& progress);

}  // namespace cfile::tools
