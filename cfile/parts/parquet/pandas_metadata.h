// Two pairs of the key-value metadata with texts in JSON: pandas' description of the columns and
// the index of a table, and the categories of columns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace cfile::internal {

// Changes the text of the pair "pandas" for other columns and rows. The text is an object with two
// members. "columns" is a list with an object for each column; "field_name" in this object is the
// name of the column. "index_columns" is a list of the names of the columns that form the index.
// Instead of a name, an object may describe a RangeIndex: then the labels of the rows are "start",
// "start" + "step" and so on.
//
// Removes the columns for which `has_column` is false. Removes a RangeIndex if it has not
// `num_rows` rows; pandas then numbers the rows from 0. `num_rows` is nullopt, which removes any
// RangeIndex, if the rows have another order than before, or come from several tables. If
// `has_order` is false for a column, its categories lose their order. All other bytes stay as they
// are. Returns "" if the text is not such a description.
std::string DescribeForPandas(std::string_view description, std::optional<uint64_t> num_rows,
                              absl::FunctionRef<bool(std::string_view name)> has_column,
                              absl::FunctionRef<bool(std::string_view name)> has_order);

// The categories of columns, by the name of the column: all values that a column may have, in the
// order of the categories. Columns without categories are not in the map. AreCategories is true for
// the values.
using Categories = std::map<std::string, std::vector<std::string>, std::less<>>;

// True if `values` can be categories: no two of them are equal, and all of them are UTF-8.
bool AreCategories(const std::vector<std::string>& values);

// The key of the pair with the categories of a table. Its text is an object with a list of strings
// for each column with categories. If the categories are not strings, the Python package writes a
// string instead of the list (tools/python/cfile/restoring.py).
inline constexpr std::string_view kCategories = "ARROW:categories";

// Returns the categories in the text of the pair. Skips a column if its categories are not strings,
// or if AreCategories is false for it. Returns none if the text is not such an object.
Categories ParseCategories(std::string_view text);

// Returns the text of the pair with `categories`.
std::string WriteCategories(const Categories& categories);

}  // namespace cfile::internal
