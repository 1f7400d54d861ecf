// The storage of a local directory (cfile/storage.h).
#pragma once

#include <string>

namespace cfile::internal {

// The file that is locked while the object at `path` is replaced: table.lock for table.cft.
std::string LockFilePath(const std::string& path);

}  // namespace cfile::internal
