// Makes the values of a column that a part lacks, because the column is newer than the part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Makes a file in memory with `num_rows` equal rows. `value`: the value of the rows in memcmp form.
// nullopt: all rows are null; in a column with levels, no row has a value. This takes little memory
// and time, because most blocks are copies of one block. `name`: the name of the file, for
// messages. kDataLoss: `value` is not a value of the column's type.
absl::StatusOr<Reader> NewDefaultColumn(const ColumnSchema& column,
                                        const std::optional<std::string>& value, uint64_t num_rows,
                                        const std::string& name, const ReaderOptions& options);

}  // namespace cfile::internal
