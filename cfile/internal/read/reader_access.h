// Gives the library access to the open file of a Reader.
#pragma once

#include <memory>

#include "cfile/internal/read/file_reader.h"
#include "cfile/reader.h"

namespace cfile::internal {

class ReaderAccess {
 public:
  static const std::shared_ptr<FileReader>& File(const Reader& reader) { return reader.file_; }
};

}  // namespace cfile::internal
