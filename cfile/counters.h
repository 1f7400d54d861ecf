// What readers of files and tables have read (Reader::counters, TableReader::counters).
#pragma once

#include <cstdint>

namespace cfile {

// What a reader has done since it was opened. A copy that does not change later. If another thread
// reads while the numbers are collected, some of them may count its read.
struct ReaderCounters {
  // Ranges that were read from the source, and their bytes. Failed requests and the requests to
  // open a file count, too, but not the directory of a packed part that is read by itself. Both are
  // 0 if the source is in memory, for example a mapped file.
  uint64_t source_requests = 0;
  uint64_t source_bytes = 0;
  // blocks_read: data blocks that were read, or used directly in the source's memory, where a block
  // is verified at the first use. blocks_cached: data blocks that were found in the cache, or that
  // another thread has read for several threads. A cursor that stays in one block counts it once.
  uint64_t blocks_read = 0;
  uint64_t blocks_cached = 0;
  uint64_t index_nodes_read = 0;
  // 1 for a Reader. In a table: the files that were opened; of a packed part, the packed file and
  // each of its columns that was opened. A file that a table closes and opens again counts twice.
  uint64_t files_opened = 0;
  friend bool operator==(const ReaderCounters&, const ReaderCounters&) = default;
};

}  // namespace cfile
