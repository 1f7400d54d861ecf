// The text with which pandas describes the columns and the index of a table: JSON, in the pair
// "pandas" of the key-value metadata. "columns" is a list of objects, which have the name of their
// column under "field_name". "index_columns" has the names of the columns that are the index, or an
// object that describes a RangeIndex: the rows have the labels "start", "start" + "step" and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace cfile::internal {

// Returns the description without the columns for which `has_column` is false, and without a
// RangeIndex of another number of rows than `num_rows`. pandas then numbers the rows from 0.
// nullopt: the rows have another order or come from several tables, so no RangeIndex is right.
// All other bytes stay as they are. Returns "" if the text is not such a description.
std::string DescribeForPandas(std::string_view description, std::optional<uint64_t> num_rows,
                              absl::FunctionRef<bool(std::string_view name)> has_column);

}  // namespace cfile::internal
