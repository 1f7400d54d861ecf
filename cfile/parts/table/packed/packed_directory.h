// The directory of a packed file. cfile/packed_file.h reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cfile/core/format/stored_block.h"
#include "cfile/packed_file.h"

namespace cfile::internal {

// Returns where a CFile begins in a packed file if the CFile before it ends at `end`. The values of
// a mapped column are aligned in memory as in a file of its own, so they need not be copied.
inline uint64_t NextPackedOffset(uint64_t end) {
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

// Returns the end of a packed file: the directory of `columns`, its size and the magic.
std::string SerializePackedDirectory(std::span<const PackedColumn> columns);

}  // namespace cfile::internal
