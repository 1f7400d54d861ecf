// What a killed process leaves at the place of a new table.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cfile/storage.h"

namespace cfile::internal {

// The folders of parts and the folders for temporary files. The value has the paths of the
// temporary files in the folder of a part.
using UnfinishedTable = std::map<std::string, std::vector<std::string>>;

// Returns the folders that a killed writer left before a first table.cft. `files`: all files of the
// storage; those of other programs are ignored.
// nullopt: there are no such folders; or there was a table, or there is a complete part.
std::optional<UnfinishedTable> FindUnfinishedTable(std::span<const StorageEntry> files);

// Removes the folders that FindUnfinishedTable finds in a local storage. Removes nothing and
// returns false if there are none, if there is something else, or if a process uses the folders.
bool RemoveUnfinishedTable(Storage& storage, std::span<const StorageEntry> files);

}  // namespace cfile::internal
