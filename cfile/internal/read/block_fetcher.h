// Plans and makes the requests of a cursor for data blocks, if the source is not in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/internal/format/index_node.h"
#include "cfile/internal/format/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// How a cursor reaches a block.
enum class BlockAccess : uint8_t {
  kScan,  // in order: the blocks after this one will be read, too
  kSeek
};

// What a cursor knows about the blocks that it will read.
enum class BlockPlan : uint8_t {
  kInOrder,    // with kScan: the blocks after the current one; with kSeek: nothing
  kMaybeSome,  // with any access: perhaps the blocks that are wanted
  kSome        // with any access: all blocks that are wanted
};

// The row after the block of a leaf's entry. A guess if the entry is the leaf's last one, which does
// not say where its rows end: as many rows as the block before it has. Precondition: the leaf is in
// a positional index.
inline uint64_t LikelyEnd(const IndexNode& leaf, uint32_t entry) {
  if (entry + 1 < leaf.num_entries()) return leaf.ordinal(entry + 1);
  if (entry == 0) return UINT64_MAX;
  return 2 * leaf.ordinal(entry) - leaf.ordinal(entry - 1);
}

// Belongs to one cursor. Thread-compatible. Memory: the ranges of one call of Source::ReadMany, at
// most max_requests_in_flight * read_ahead_bytes, or one block if it is larger.
class BlockFetcher {
 public:
  // Whether the block of a leaf's entry will be read.
  using Wants = std::function<bool(const IndexNode& leaf, uint32_t entry)>;

  // Sets what the cursor will read from now on. `wants` may be called for entries after the one
  // that is passed to Prepare; empty: all blocks are wanted.
  void Expect(BlockPlan plan, Wants wants) {
    plan_ = plan;
    wants_ = std::move(wants);
  }
  void SetPlan(BlockPlan plan) { plan_ = plan; }
  // Sets a limit in addition to max_requests_in_flight.
  void SetMaxRequests(size_t max_requests) { max_requests_ = max_requests; }

  // Prepares a call of FetchBlock for the block of a leaf's entry. Reads this block together with
  // blocks that will be needed after it, unless `buffer` has it or one range is enough. Returns the
  // `read_end` to pass to FetchBlock. is_cached(pointer): true if a block need not be read.
  //
  // An error of a range is returned when a block of this range is needed. The next call for this
  // block reads it again.
  template <typename IsCached>
  absl::StatusOr<uint64_t> Prepare(const Source& source, const ReaderOptions& options,
                                   const IndexNode& leaf, uint32_t entry, BlockAccess access,
                                   const IsCached& is_cached, BlockBuffer& buffer) {
    const BlockPointer& pointer = leaf.entry_pointer(entry);
    if (Holds(buffer, pointer)) return pointer.end();
    CFILE_ASSIGN_OR_RETURN(const bool taken, TakeRange(pointer, buffer));
    if (taken) return pointer.end();
    const bool alone = plan_ == BlockPlan::kInOrder ? access == BlockAccess::kSeek
                                                    : wants_ && !wants_(leaf, entry);
    if (alone) {
      PlanFrom(pointer.end(), 2, options);
      return pointer.end();
    }
    Begin(source, options, pointer);
    for (uint32_t next = entry + 1; next < leaf.num_entries(); ++next) {
      const BlockPointer& block = leaf.entry_pointer(next);
      if ((wants_ && !wants_(leaf, next)) || is_cached(block)) continue;
      if (!Add(options, block)) break;
    }
    return ReadPlanned(source, buffer);
  }

  // True if `buffer` has the stored bytes of a block.
  static bool Holds(const BlockBuffer& buffer, const BlockPointer& pointer) {
    const uint64_t skipped = pointer.offset - buffer.stored_offset;  // may wrap around
    const uint64_t held = buffer.stored.size();
    return pointer.offset >= buffer.stored_offset && skipped <= held &&
           pointer.size <= held - skipped;
  }

 private:
  // Bytes of the source that were read in advance, or that are to be read.
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;  // equal to `begin`: the range is not in use
    encodings::ByteWriter bytes;
    absl::Status status;
  };

  // Moves the range that has the block into `buffer`. Returns false if there is none. Returns the
  // error of the range if it could not be read, and forgets all such ranges.
  absl::StatusOr<bool> TakeRange(const BlockPointer& pointer, BlockBuffer& buffer);
  // The next plan may have `width` ranges if it begins at `offset` or a little after it.
  void PlanFrom(uint64_t offset, size_t width, const ReaderOptions& options);
  // Begins a plan with a block.
  void Begin(const Source& source, const ReaderOptions& options, const BlockPointer& pointer);
  // Adds a block after the last one to the plan. Returns false if there is no room for it.
  bool Add(const ReaderOptions& options, const BlockPointer& block);
  void AddRange(const BlockPointer& block);
  // The end of the last planned range.
  uint64_t planned_end() const { return ranges_[num_planned_ - 1].end; }
  // Reads the planned ranges if there are several. Returns the result of Prepare.
  absl::StatusOr<uint64_t> ReadPlanned(const Source& source, BlockBuffer& buffer);

  BlockPlan plan_ = BlockPlan::kInOrder;
  Wants wants_;
  size_t max_requests_ = SIZE_MAX;
  // The first num_read_ were read. Or, during Prepare, the first num_planned_ are to be read.
  std::vector<Range> ranges_;
  size_t num_read_ = 0;
  size_t num_planned_ = 0;
  BlockPointer first_;  // of the plan
  uint64_t planned_bytes_ = 0;
  size_t width_ = 1;       // the most ranges of the plan
  size_t most_width_ = 1;  // of any plan
  // The next plan may have next_width_ ranges if it begins at one of these offsets.
  size_t next_width_ = 1;
  uint64_t next_begin_ = 0;
  uint64_t next_last_ = 0;
  std::vector<ReadRequest> requests_;
};

}  // namespace cfile::internal
