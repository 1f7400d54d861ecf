// Reports what is read from files: for progress, and to explain what a search reads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cfile/io.h"
#include "cfile/storage.h"

namespace cfile::tools {

// A range of a file that was read, successfully or not.
struct ObservedRead {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  std::chrono::nanoseconds time{};  // from the call to its return
};

// Called after each read. `path`: the path of the file in its table, as TableReader::part_file
// returns it; "" for a file that is opened alone. All reads of one call of Source::ReadMany have
// the time of this call. The function must be thread-safe if several threads read.
using ReadObserver = std::function<void(const std::string& path, const ObservedRead& read)>;

// Return a source or a storage with the same bytes, which reports each read to `observer`. The
// source does not read in the background, so that the time of each read is known. The storage
// reports only reads of files that Open and OpenMany have opened.
std::shared_ptr<const Source> ObserveSource(std::shared_ptr<const Source> source,
                                            ReadObserver observer);
std::shared_ptr<Storage> ObserveStorage(std::shared_ptr<Storage> storage, ReadObserver observer);

}  // namespace cfile::tools
