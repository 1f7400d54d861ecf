// The open files of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "cfile/options.h"
#include "cfile/reader.h"

namespace cfile::internal {

// Keeps a limited number of files open: those that were used most recently. Thread-safe.
class OpenFiles {
 public:
  explicit OpenFiles(const ReaderOptions& options);

  // Returns the open file `number`; nullopt if it is not open.
  std::optional<Reader> Find(uint64_t number);
  // Keeps `reader`, an open file. If another thread has opened the same file, returns its reader
  // instead. Closes the file that was not used for the longest time if there are too many.
  Reader Keep(uint64_t number, Reader reader);

 private:
  struct File {
    Reader reader;
    std::list<uint64_t>::iterator position;  // in used_
  };

  const size_t max_open_;
  std::mutex mutex_;                          // guards the following
  std::unordered_map<uint64_t, File> files_;  // by number
  std::list<uint64_t> used_;  // the numbers of the open files; the one used last is first
};

}  // namespace cfile::internal
