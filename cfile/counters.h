// What readers of files and tables have read (Reader::counters, TableReader::counters).
#pragma once

#include <cstdint>

namespace cfile {

// What a reader has done since it was opened. A plain value. If other threads read while the
// numbers are collected, their reads may be counted in only some of the numbers.
struct ReaderCounters {
  // The number of ranges that were read from the source, and their bytes.
  // Failed requests count, too. The ranges that are read to open a file count, too.
  // 0 if the source is in memory (a mapped file).
  uint64_t source_requests = 0;
  uint64_t source_bytes = 0;
  // blocks_read: the data blocks that were read and verified (unless they were verified before),
  // or that were used directly in the source's memory.
  // blocks_cached: the data blocks that were found in the cache, or that another thread has read
  // for several threads. A cursor that stays in one block counts the block once.
  uint64_t blocks_read = 0;
  uint64_t blocks_cached = 0;
  uint64_t index_nodes_read = 0;
  // Files that were opened: 1 for a Reader.
  // A file that a table closes and opens again counts twice.
  uint64_t files_opened = 0;
  friend bool operator==(const ReaderCounters&, const ReaderCounters&) = default;
};

}  // namespace cfile
