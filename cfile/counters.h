// What readers of files and tables have read (Reader::counters, TableReader::counters).
#pragma once

#include <cstdint>

namespace cfile {

// What a reader has done since it was opened. A copy that does not change later.
// If another thread reads while the numbers are collected, some numbers may count its read,
// and other numbers may not.
struct ReaderCounters {
  // The number of ranges that were read from the source, and the number of bytes in the ranges.
  // Failed requests count, too. The ranges that are read to open a file count, too.
  // Both numbers are 0 if the source is in memory, for example a mapped file.
  uint64_t source_requests = 0;
  uint64_t source_bytes = 0;
  // blocks_read: the number of data blocks that were read, or used directly in the source's memory.
  // A block is verified at the first use.
  // blocks_cached: the number of data blocks that were found in the cache, or that another thread
  // has read for several threads. A cursor that stays in one block counts the block once.
  uint64_t blocks_read = 0;
  uint64_t blocks_cached = 0;
  uint64_t index_nodes_read = 0;
  // Files that were opened: 1 for a Reader.
  // A file that a table closes and opens again counts twice.
  uint64_t files_opened = 0;
  friend bool operator==(const ReaderCounters&, const ReaderCounters&) = default;
};

}  // namespace cfile
