// The values of a column that a part lacks, because the column is newer than the part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Makes a file in memory with `num_rows` rows, all of them equal to a value in memcmp form; nullopt:
// all of them null, or, in a column with levels, without any value. Equal rows take little memory
// and time, because the file has copies of one small block.
// `name`: of the file, for messages. kDataLoss: the value is not one of the column's type.
absl::StatusOr<Reader> NewDefaultColumn(const ColumnSchema& column,
                                        const std::optional<std::string>& value, uint64_t num_rows,
                                        const std::string& name, const ReaderOptions& options);

}  // namespace cfile::internal
