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

  // Returns the file of a cursor or of a scan.
  template <typename T>
  static const std::shared_ptr<FileReader>& File(const Cursor<T>& cursor);
  template <typename T>
  static const std::shared_ptr<FileReader>& File(const Scan<T>& scan);
  // Returns the rows from the cursor's position to the end of the cursor's range.
  template <typename T>
  static OrdinalRange RestOf(const Cursor<T>& cursor);
  // Returns whether the rows that the scan finds are nulls.
  template <typename T>
  static bool FindsNulls(const Scan<T>& scan);
};

}  // namespace cfile::internal
