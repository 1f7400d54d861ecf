// The directory of a packed file. cfile/packed_file.h reads it.
#pragma once

#include <span>
#include <string>

#include "cfile/packed_file.h"

namespace cfile::internal {

// Returns the end of a packed file: the directory of `columns`, its size and the magic.
std::string SerializePackedDirectory(std::span<const PackedColumn> columns);

}  // namespace cfile::internal
