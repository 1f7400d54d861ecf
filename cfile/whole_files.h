// An addition to Storage (cfile/storage.h), for storages that read a small file with one request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cfile/io.h"
#include "encodings/core/export.h"

namespace cfile {

// A storage may also inherit this class, as those of cfile/http.h do. Then scans of tables, and
// reads of rows from many parts, call OpenWhole instead of Storage::Open for files that are not
// longer than ReaderOptions::read_ahead_bytes. Implementations must be thread-safe.
class CFILE_EXPORT WholeFiles {
 public:
  virtual ~WholeFiles() = default;

  // Opens a file, and begins to read all of it in the background. Returns at once, so errors come
  // from the first read of the source. `size_bytes`: the size that the file should have, at least
  // 1. If the file has another size, the reads return kDataLoss.
  // Returns null if the file cannot be read in this way. Then Storage::Open is called.
  virtual std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                                  uint64_t size_bytes) const = 0;
};

}  // namespace cfile
