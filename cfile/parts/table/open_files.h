// The open files of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "cfile/core/read/block_fetcher.h"
#include "cfile/core/read/file_usage.h"
#include "cfile/options.h"
#include "cfile/reader.h"

namespace cfile::internal {

// Returns the options for each file of a table with `options`, with the limits of the cache and of
// reading ahead that max_table_memory_bytes demands.
ReaderOptions OptionsOfTable(ReaderOptions options);

// Returns how many ranges all columns of a scan together should read in advance at most, and how
// many files a scan or a take should open in advance.
// The result is at least 1. It is 64, or less if max_table_memory_bytes allows less.
size_t MaxRangesOfScan(const ReaderOptions& options);

// Returns how one of the `num_columns` columns of a scan reads ahead. All columns together have
// about max_requests_in_flight requests under way, and keep as much memory as MaxRangesOfScan says,
// but each column has at least one request.
ReadAhead ReadAheadOfColumn(const ReaderOptions& options, size_t num_columns);

// Keeps the most recently used files open, and closes others if too many are open, or if they use
// more memory than the limit. Thread-safe.
class OpenFiles {
 public:
  explicit OpenFiles(const ReaderOptions& options);

  // Returns the open file `number`; nullopt if it is not open.
  std::optional<Reader> Find(uint64_t number);
  // Keeps `reader`, an open file, and returns it, or the reader of another thread that has opened
  // the same file before. If too many files are open, closes those that were not used for the
  // longest time.
  Reader Keep(uint64_t number, Reader reader);

  // The memory usage of all files together. The caller passes it on when it opens a file.
  const std::shared_ptr<SharedUsage>& usage() const { return usage_; }

 private:
  struct File {
    Reader reader;
    std::list<uint64_t>::iterator position;  // in used_
  };

  // Closes files while too many files are open. Never closes the file that was used last.
  void CloseFiles();

  const size_t max_open_;
  const std::shared_ptr<SharedUsage> usage_;
  std::mutex mutex_;                          // guards the following
  std::unordered_map<uint64_t, File> files_;  // by number
  std::list<uint64_t> used_;  // the numbers of the open files; the one used last is first
};

}  // namespace cfile::internal
