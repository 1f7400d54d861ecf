// Scans for the rows of a column that match a predicate, reading as few blocks as possible.
//
//   auto scan = cfile::Scan<int32_t>::Open(reader, cfile::Predicate<int32_t>::Greater(40));
//   for (auto batch = scan->Next(); batch.ok() && !batch->empty(); batch = scan->Next()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/predicate.h"
#include "cfile/reader.h"

namespace cfile {

struct ScanOptions {
  // The rows [first_ordinal, end_ordinal) only, as far as there are any.
  uint64_t first_ordinal = 0;
  uint64_t end_ordinal = UINT64_MAX;
};

// What a scan has done so far. The data blocks that hold rows of the range asked for are each
// counted once: as read, or as skipped, by what first ruled them out.
struct ScanCounters {
  uint64_t blocks_read = 0;
  uint64_t blocks_skipped_by_statistics = 0;
  // These two rule out many blocks at once, as the statistics of the file may. Such are counted if
  // the file has statistics of blocks, and as 0 if not.
  uint64_t blocks_skipped_by_value_index = 0;
  uint64_t blocks_skipped_by_bloom_filter = 0;
  // Of those read: known to match as a whole, so that no value was compared; and told by the codes
  // of a dictionary, whose values were compared once.
  uint64_t blocks_all_match = 0;
  uint64_t blocks_by_codes = 0;
  uint64_t matches = 0;  // rows
};

// Some rows that match, in ascending order.
template <typename T>
struct ScanBatch {
  std::span<const uint64_t> ordinals = {};
  std::span<const T> values = {};  // one for each; T{} where the predicate is IsNull

  size_t size() const { return ordinals.size(); }
  bool empty() const { return ordinals.empty(); }
};

// A scan, at its beginning. One thread at a time; many may read one file at once. It keeps the file
// open, and one block in memory.
//
// A sorted column is entered and left by its value index. Otherwise blocks are skipped by the
// file's statistics, all of them by its Bloom filter; the rest is read and compared, on codes where
// it is encoded with a dictionary. Files without statistics are read whole.
template <typename T>
class Scan {
 public:
  // Errors as Reader::NewCursor. kInvalidArgument too: int96 is asked for its order.
  // kDataLoss too: the statistics are damaged. (Statistics that are larger than ReaderOptions allow
  // are ignored.)
  static absl::StatusOr<Scan> Open(const Reader& reader, const Predicate<T>& predicate,
                                   const ScanOptions& options = {});
  Scan(Scan&&) noexcept;
  Scan& operator=(Scan&&) noexcept;
  ~Scan();

  // The next rows that match: at least 1 unless the scan is at its end, at most 65,536. The batch
  // is valid until the next call. kDataLoss: damage (names file, block offset, what was expected
  // and found), also where statistics, index and blocks contradict each other. kOutOfRange: a block
  // or an index is above a limit of ReaderOptions. After an error the next call continues with the
  // rows that the error kept back, or returns the error again.
  absl::StatusOr<ScanBatch<T>> Next();

  const ScanCounters& counters() const;

 private:
  class Impl;
  explicit Scan(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
