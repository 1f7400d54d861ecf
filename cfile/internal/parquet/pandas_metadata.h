// Two texts in the key-value metadata, both JSON: how pandas describes the columns and the index of
// a table, and which categories columns have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace cfile::internal {

// The pair "pandas". "columns" is a list of objects, which have the name of their column under
// "field_name". "index_columns" has the names of the columns that are the index, or an object that
// describes a RangeIndex: the rows have the labels "start", "start" + "step" and so on.
//
// Returns the description without the columns for which `has_column` is false, and without a
// RangeIndex of another number of rows than `num_rows`. pandas then numbers the rows from 0.
// nullopt: the rows have another order or come from several tables, so no RangeIndex is right.
// Columns for which `has_order` is false have no ordered categories.
// All other bytes stay as they are. Returns "" if the text is not such a description.
std::string DescribeForPandas(std::string_view description, std::optional<uint64_t> num_rows,
                              absl::FunctionRef<bool(std::string_view name)> has_column,
                              absl::FunctionRef<bool(std::string_view name)> has_order);

// The categories of each column that has some, in their order: all values that the column may have.
// They are different texts in UTF-8.
using Categories = std::map<std::string, std::vector<std::string>, std::less<>>;

// True if `values` can be categories: they are different, and UTF-8.
bool AreCategories(const std::vector<std::string>& values);

// The key of the pair with the categories of a table. Its text is an object with a list of strings
// for each column. The Python package adds columns whose categories are no texts: they have a
// string instead of a list (tools/python/cfile/restoring.py).
inline constexpr std::string_view kCategories = "ARROW:categories";

// Returns the columns of a text that have categories which are texts. Skips what is wrong.
Categories ParseCategories(std::string_view text);

std::string WriteCategories(const Categories& categories);

}  // namespace cfile::internal
