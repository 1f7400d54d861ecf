// Small files of every kind, used as seeds.
#pragma once

#include <vector>

#include "tests/fuzz/target.h"

namespace cfile::fuzz {

// Returns small files with several blocks and index nodes, one or more for each encoding and type.
// Some are nullable or sorted, some have levels; each codec is used in turn. Also returns the
// golden files.
std::vector<Bytes> SeedFiles();

}  // namespace cfile::fuzz
