// The open files of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "cfile/internal/read/file_usage.h"
#include "cfile/options.h"
#include "cfile/reader.h"

namespace cfile::internal {

// Returns `options` for the files of a table, with the limits that max_table_memory_bytes sets for
// the cache and for reading ahead.
ReaderOptions OptionsOfTable(ReaderOptions options);

// The most ranges that the columns of a scan should read in advance together, at least 1: 64, or as
// many as max_table_memory_bytes allows.
size_t MaxRangesOfScan(const ReaderOptions& options);

// Keeps files open: those that were used most recently, as long as there are not too many and
// their memory is within the limit. Thread-safe.
class OpenFiles {
 public:
  explicit OpenFiles(const ReaderOptions& options);

  // Returns the open file `number`; nullopt if it is not open.
  std::optional<Reader> Find(uint64_t number);
  // Keeps `reader`, an open file. If another thread has opened the same file, returns its reader
  // instead. Closes the files that were not used for the longest time if there are too many.
  Reader Keep(uint64_t number, Reader reader);

  // The usage of all files. The caller opens each file with it.
  const std::shared_ptr<SharedUsage>& usage() const { return usage_; }

 private:
  struct File {
    Reader reader;
    std::list<uint64_t>::iterator position;  // in used_
  };

  // Closes files while there are too many, but never the file that was used last.
  void CloseFiles();

  const size_t max_open_;
  const std::shared_ptr<SharedUsage> usage_;
  std::mutex mutex_;                          // guards the following
  std::unordered_map<uint64_t, File> files_;  // by number
  std::list<uint64_t> used_;  // the numbers of the open files; the one used last is first
};

}  // namespace cfile::internal
