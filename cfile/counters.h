// What readers of files and tables have read (Reader::counters, TableReader::counters).
#pragma once

#include <cstdint>

namespace cfile {

// What a reader has done since it was opened. A plain value. Threads that read meanwhile may be
// counted in some of the numbers only.
struct ReaderCounters {
  // The ranges that were read from the source, those of failed requests included, and their bytes.
  // The ranges that opening a file reads are included. 0 if the source is in memory (a mapped file).
  uint64_t source_requests = 0;
  uint64_t source_bytes = 0;
  // The data blocks that were read and verified (if not verified before), or used directly from the
  // source's memory; and the blocks that were found in the cache, or that another thread has read
  // for several threads. A cursor that uses a block counts it once until it goes to another one.
  uint64_t blocks_read = 0;
  uint64_t blocks_cached = 0;
  uint64_t index_nodes_read = 0;
  // Files that were opened: 1 for a Reader. If a table closes a file and opens it again, both count.
  uint64_t files_opened = 0;
  friend bool operator==(const ReaderCounters&, const ReaderCounters&) = default;
};

}  // namespace cfile
