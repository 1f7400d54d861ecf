// What a killed process leaves at the place of a new table.
#pragma once

#include <span>

#include "cfile/storage.h"

namespace cfile::internal {

// True if a writer of a new table has made files before a first table.cft, and no complete part.
// `files`: all files of the storage; those of other programs are ignored.
bool IsUnfinishedTable(std::span<const StorageEntry> files);

}  // namespace cfile::internal
