// Keys of tables, and the keys and names of parts that the user writes on a command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/compound_key.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "tools/value_text.h"

namespace cfile::tools {

// ParseText (tools/value_text.h) for keys: the text of a NaN is kInvalidArgument.
template <typename T>
absl::StatusOr<T> ParseKey(const ColumnType& type, const std::string& text, std::string& scratch) {
  auto value = ParseText<T>(type, text, scratch);
  if (value.ok() && !IsKey(*value)) return absl::InvalidArgumentError("NaN cannot be a key");
  return value;
}

// Returns the compound key of the values `texts`, or, if these are fewer than `columns`, which are
// all key columns, the prefix that all keys with these values have. In a nullable column, the text
// null means a null, and "null" with quotes the string null. kInvalidArgument: there are more texts
// than columns, or ParseKey refuses a text.
absl::StatusOr<CompoundKey> ParseCompoundKey(const std::vector<KeyColumn>& columns,
                                             const std::vector<std::string>& texts);

// The columns by which the rows of a table are sorted: its key columns, or the first column with a
// value index. Empty: the rows have no order. Errors: those of TableReader::has_value_index.
absl::StatusOr<std::vector<size_t>> SortColumnsOf(const TableReader& table);

// Returns the number of the part that `text` names: its number, counted from 0, its name, or the
// beginning of its name. kInvalidArgument: there is no such part, or there are several.
absl::StatusOr<size_t> ChosenPart(const TableReader& table, const std::string& text);

}  // namespace cfile::tools
