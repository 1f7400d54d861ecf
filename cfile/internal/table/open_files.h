// The open files of a table.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "cfile/options.h"
#include "cfile/reader.h"

namespace cfile::internal {

// Keeps a limited number of files open: those that were used most recently. Thread-safe.
class OpenFiles {
 public:
  // `num_files`: the files have the numbers 0 to num_files - 1.
  OpenFiles(size_t num_files, const ReaderOptions& options);

  // Returns the open file `number`; nullopt if it is not open.
  std::optional<Reader> Find(size_t number);
  // Keeps `reader`, an open file. If another thread has opened the same file, returns its reader
  // instead. Closes the file that was not used for the longest time if there are too many.
  Reader Keep(size_t number, Reader reader);

 private:
  struct File {
    std::optional<Reader> reader;          // nullopt: not open
    std::list<size_t>::iterator position;  // in used_, if open
  };

  const size_t max_open_;
  std::mutex mutex_;  // guards the following
  std::vector<File> files_;
  std::list<size_t> used_;  // the numbers of the open files; the one used last is first
};

}  // namespace cfile::internal
