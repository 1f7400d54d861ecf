// Scans for the rows of a column that match a predicate. Reads as few blocks as possible. Errors,
// lifetime and threads: cfile/CONCEPTS.md.
//
//   auto scan = reader.NewScan<int32_t>(cfile::Predicate<int32_t>::Greater(40));
//   for (auto batch = scan->Next(); batch.ok() && !batch->empty(); batch = scan->Next()) {
//     ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "cfile/predicate.h"
#include "cfile/reader.h"

namespace cfile {

// What a scan has done so far. Each data block with rows in the scanned range is counted once, as
// read or as skipped. A skipped block is counted for the first reason that excluded it. Without a
// positional index, the scan also reads skipped blocks to find the blocks after them, and counts
// them as skipped.
struct ScanCounters {
  uint64_t blocks_read = 0;
  // If the statistics of the whole file exclude all blocks, the blocks are counted only if the file
  // has per-block statistics.
  uint64_t blocks_skipped_by_statistics = 0;
  // Counted only if the file has per-block statistics; otherwise 0.
  uint64_t blocks_skipped_by_value_index = 0;
  uint64_t blocks_skipped_by_bloom_filter = 0;
  // Blocks that were read but match as a whole, so that none of their values were compared.
  uint64_t blocks_all_match = 0;
  // Blocks that were read and in which only dictionary codes were compared. (The values of the
  // dictionary are compared once.)
  uint64_t blocks_by_codes = 0;
  uint64_t matches = 0;  // the number of matching rows
};

// Matching rows, in ascending order of their ordinals. A view, valid until the next call on the
// scan.
template <typename T>
struct ScanBatch {
  std::span<const uint64_t> ordinals = {};
  std::span<const T> values = {};  // one per ordinal; T{} if the predicate is IsNull

  size_t size() const { return ordinals.size(); }
  bool empty() const { return ordinals.empty(); }
};

namespace internal {
// Does the work of Scan.
struct AnyScanBatch {
  std::span<const uint64_t> ordinals;
  const void* values = nullptr;
};
class AnyScan {
 public:
  virtual ~AnyScan() = default;
  virtual absl::StatusOr<AnyScanBatch> Next() = 0;
  virtual const ScanCounters& counters() const = 0;
};
}  // namespace internal

// A scan of one column; Reader::NewScan begins one. Memory: one block.
//
// The statistics of the whole file or its Bloom filter may exclude all blocks, and the statistics
// of a block that block. A value index gives the first and the last row of the predicate's range.
// In the other blocks, the scan compares values or, if the block has a dictionary, codes. Without
// statistics and without a value index it reads the whole file.
template <typename T>
class Scan {
  static_assert(CheckValueType<T>());

 public:
  // Not for users: Reader::NewScan makes scans.
  explicit Scan(std::unique_ptr<internal::AnyScan> impl) : impl_(std::move(impl)) {}

  // Returns the next rows that match: at least 1 unless the scan is at its end, at most 4,096.
  // kDataLoss: also if the statistics, the index and the blocks contradict each other.
  absl::StatusOr<ScanBatch<T>> Next() {
    const absl::StatusOr<internal::AnyScanBatch> batch = impl_->Next();
    if (!batch.ok()) return batch.status();
    const size_t count = batch->ordinals.size();
    return ScanBatch<T>{batch->ordinals, {static_cast<const T*>(batch->values), count}};
  }

  BatchRange<Scan> Batches() { return {*this, 0}; }

  const ScanCounters& counters() const { return impl_->counters(); }

 private:
  friend class internal::ReaderAccess;

  std::unique_ptr<internal::AnyScan> impl_;
};

}  // namespace cfile
