// The storage of a local directory (cfile/storage.h).
#pragma once

#include <string>

#include "cfile/storage.h"

namespace cfile::internal {

// The file that is locked while the object at `path` is replaced: table.lock for table.cft.
std::string LockFilePath(const std::string& path);

// True for the storages that NewLocalStorage returns. Their name is the path of the directory.
bool IsLocal(const Storage& storage);

}  // namespace cfile::internal
