// Gives the library access to the open file of a Reader.
#pragma once

#include <memory>
#include <utility>

#include "cfile/internal/read/file_reader.h"
#include "cfile/reader.h"

namespace cfile::internal {

class ReaderAccess {
 public:
  static const std::shared_ptr<FileReader>& File(const Reader& reader) { return reader.file_; }
  static Reader Make(std::shared_ptr<FileReader> file) { return Reader(std::move(file)); }
};

}  // namespace cfile::internal
