// An interface for storages (cfile/storage.h) that can read a small file with one request.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cfile/io.h"
#include "encodings/core/export.h"

namespace cfile {

// A class that inherits Storage may also inherit this class; the storages of cfile/http.h do. Then
// scans of tables, and reads of rows from many parts, call OpenWhole instead of Storage::Open for
// files of at most ReaderOptions::read_ahead_bytes bytes. Implementations must be thread-safe.
class CFILE_EXPORT WholeFiles {
 public:
  virtual ~WholeFiles() = default;

  // Opens a file, begins to read the whole file in the background, and returns at once; errors are
  // returned by the reads of the source. `size_bytes`: the expected size of the file, at least 1;
  // if the file has another size, the reads return kDataLoss. Returns null if the file cannot be
  // read in this way; then Storage::Open is called.
  virtual std::shared_ptr<const Source> OpenWhole(const std::string& path,
                                                  uint64_t size_bytes) const = 0;
};

}  // namespace cfile
