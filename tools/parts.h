// Parts of a table that the user names.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/table.h"

namespace cfile::tools {

// Returns the number of the part that `text` names: its number, counted from 0, its name, or the
// beginning of its name. kInvalidArgument: there is no such part, or there are several.
absl::StatusOr<size_t> ChosenPart(const TableReader& table, const std::string& text);

}  // namespace cfile::tools
