// Gives the library access to the open file of a Reader.
#pragma once

#include <memory>
#include <utility>

#include "cfile/core/read/file_reader.h"
#include "cfile/reader.h"

namespace cfile::internal {

class AnyScan;

class ReaderAccess {
 public:
  static const std::shared_ptr<FileReader>& File(const Reader& reader) { return reader.file_; }
  static Reader Make(std::shared_ptr<FileReader> file) { return Reader(std::move(file)); }

  // Returns the file of a cursor or of a scan.
  template <typename T>
  static const std::shared_ptr<FileReader>& File(const Cursor<T>& cursor) {
    return FileOf(cursor.impl_);
  }
  template <typename T>
  static const std::shared_ptr<FileReader>& File(const Scan<T>& scan) {
    return FileOf(*scan.impl_);
  }
  // Returns the rows from the cursor's position to the end of the cursor's range.
  template <typename T>
  static OrdinalRange RestOf(const Cursor<T>& cursor) {
    return RestOf(cursor.impl_);
  }
  // Returns whether the rows that the scan finds are nulls.
  template <typename T>
  static bool FindsNulls(const Scan<T>& scan) {
    return FindsNulls(*scan.impl_);
  }

 private:
  static const std::shared_ptr<FileReader>& FileOf(const UntypedCursor& cursor);
  static const std::shared_ptr<FileReader>& FileOf(const AnyScan& scan);
  static OrdinalRange RestOf(const UntypedCursor& cursor);
  static bool FindsNulls(const AnyScan& scan);
};

}  // namespace cfile::internal
