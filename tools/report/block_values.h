// The first values of data blocks as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cfile/inspect.h"
#include "cfile/reader.h"

namespace cfile::tools {

// Returns one list for each of `regions`: the texts of the first values of a data block, at most
// `max_values`. A null is the word null. In a file with levels: the values of the first records, at
// most `max_values` records and values. Long texts are cut and end with "...". After `max_bytes`
// bytes of text, all further lists are empty. So are the lists of other regions, and of blocks that
// cannot be read.
std::vector<std::vector<std::string>> FirstValues(const Reader& reader,
                                                  std::span<const FileRegion> regions,
                                                  size_t max_values, size_t max_bytes);

}  // namespace cfile::tools
