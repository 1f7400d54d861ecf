// The first values of data blocks as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"

namespace cfile::tools {

// Returns one list for each of `regions`. The list of a data block has the texts of its first
// values, at most `max_values`. The text of a null is "null". In a file with levels, the list has
// the values of the first `max_values` records, at most `max_values` values. Long texts are cut and
// end with "...". A list is empty if the region is no data block or if the block cannot be read.
// If a list would bring the text of all lists above `max_bytes` bytes, this list and all later
// lists are empty.
std::vector<std::vector<std::string>> FirstValues(const Reader& reader,
                                                  std::span<const FileRegion> regions,
                                                  size_t max_values, size_t max_bytes);

}  // namespace cfile::tools
