// Parses keys that the user writes on a command line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/compound_key.h"
#include "cfile/types.h"
#include "tools/value_text.h"

namespace cfile::tools {

// Parses `text` as in ParseText (tools/value_text.h). kInvalidArgument also for NaN, which cannot be
// a key.
template <typename T>
absl::StatusOr<T> ParseKey(const ColumnType& type, const std::string& text, std::string& scratch) {
  auto value = ParseText<T>(type, text, scratch);
  if (value.ok() && !IsKey(*value)) return absl::InvalidArgumentError("NaN cannot be a key");
  return value;
}

// Returns the compound key, or the prefix of one, that has the values `texts`. `columns`: all key
// columns. In a nullable column, null is a null, and "null", with quotes, is the string null.
// kInvalidArgument: there are more texts than columns, or as ParseKey.
absl::StatusOr<CompoundKey> ParseCompoundKey(const std::vector<KeyColumn>& columns,
                                             const std::vector<std::string>& texts);

}  // namespace cfile::tools
