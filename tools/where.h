// Makes a filter from the text of `--where`.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/filter.h"
#include "cfile/schema.h"

namespace cfile::tools {

// Parses `where`, which has the grammar of tools/where_parser.h; values have the form of
// tools/value_text.h. kInvalidArgument, with the position in `where`: a syntax error, a column that
// `schema` does not have, or a condition that does not fit its column.
absl::StatusOr<Filter> FilterOfText(std::string_view where, const Schema& schema);

}  // namespace cfile::tools
