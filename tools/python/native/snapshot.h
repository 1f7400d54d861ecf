// A table as it was at an earlier moment (read_snapshot of cfile/_native.pyi).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/storage.h"

namespace cfile_python {

// Reads the file that describes a table. kNotFound: there is no table.
absl::StatusOr<std::string> ReadSnapshot(const cfile::Storage& storage);

// Returns a storage with the files of `storage`, to open one table in it. `snapshot`: a result of
// ReadSnapshot. The first read of table.cft returns the snapshot. So the table has the parts of that
// moment, as long as CollectGarbage has not removed their files. Later reads return the present
// table.cft: if a file is missing, the reader finds out that its part was dropped. The storage is
// read-only.
std::shared_ptr<cfile::Storage> NewSnapshotStorage(std::shared_ptr<cfile::Storage> storage,
                                                   std::string snapshot);

}  // namespace cfile_python
