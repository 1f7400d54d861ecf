// Plans and makes the requests of a cursor for data blocks, if the source is not in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cfile/batch.h"
#include "cfile/internal/format/index_node.h"
#include "cfile/internal/format/stored_block.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// How a cursor reaches a block.
enum class BlockAccess : uint8_t {
  kScan,  // in the fetcher's direction: the blocks after this one will be read, too
  kSeek
};

// What a cursor knows about the blocks that it will read.
enum class BlockPlan : uint8_t {
  kInOrder,    // with kScan: the next blocks in the fetcher's direction; with kSeek: nothing
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

// True if one of `rows` is likely in the block of a leaf's entry. `rows` ascend; a row is the number
// in the bits above the lowest `shift` ones.
inline bool HasRowOf(std::span<const uint64_t> rows, int shift, const IndexNode& leaf,
                     uint32_t entry) {
  const auto found = std::lower_bound(rows.begin(), rows.end(), leaf.ordinal(entry) << shift);
  return found != rows.end() && *found >> shift < LikelyEnd(leaf, entry);
}

// The same for consecutive rows.
inline bool HasRowOf(const OrdinalRange& rows, const IndexNode& leaf, uint32_t entry) {
  return leaf.ordinal(entry) < rows.end && LikelyEnd(leaf, entry) > rows.begin;
}

// Belongs to one cursor. Thread-compatible. Memory: the ranges of one call of Source::ReadMany, at
// most max_requests_in_flight * read_ahead_bytes, or one block if it is larger. The buffer of the
// cursor has one range, or one block, in addition.
class BlockFetcher {
 public:
  // Whether the block of a leaf's entry will be read.
  using Wants = std::function<bool(const IndexNode& leaf, uint32_t entry)>;

  // Sets what the cursor will read from now on, in ascending order. `wants` may be called for other
  // entries of the leaf that is passed to Prepare; empty: all blocks are wanted. `perhaps`: blocks
  // that are not wanted so far, but may be later. They are read like blocks in order, as long as all
  // blocks turn out to be wanted.
  void Expect(BlockPlan plan, Wants wants, Wants perhaps = nullptr) {
    SetBackward(false);
    plan_ = plan;
    wants_ = std::move(wants);
    perhaps_ = std::move(perhaps);
  }
  void SetPlan(BlockPlan plan) { plan_ = plan; }
  // Sets the direction: whether the cursor will read the blocks in descending order.
  void SetBackward(bool backward) {
    if (backward != backward_) next_width_ = 1;
    backward_ = backward;
  }
  bool backward() const { return backward_; }
  // Sets a limit in addition to max_requests_in_flight.
  void SetMaxRequests(size_t max_requests) { max_requests_ = max_requests; }

  // Prepares a call of FetchBlock for the block of a leaf's entry. Reads this block into `buffer`
  // together with blocks that will be needed after it, unless `buffer` has it or FetchBlock should
  // read it alone. is_cached(pointer): true if a block need not be read.
  //
  // If several blocks could not be read together, FetchBlock reads the wanted block alone: only the
  // error of this block counts.
  template <typename IsCached>
  void Prepare(const Source& source, const ReaderOptions& options, const IndexNode& leaf,
               uint32_t entry, BlockAccess access, const IsCached& is_cached, BlockBuffer& buffer) {
    const BlockPointer& pointer = leaf.entry_pointer(entry);
    if (buffer.Holds(pointer) || TakeRange(pointer, buffer)) return;
    const bool alone = plan_ == BlockPlan::kInOrder ? access == BlockAccess::kSeek
                                                    : wants_ && !wants_(leaf, entry);
    if (alone) return PlanAfter(pointer, 2, options);
    Begin(source, options, pointer);
    for (uint32_t next = entry; backward_ ? next-- > 0 : ++next < leaf.num_entries();) {
      const BlockPointer& block = leaf.entry_pointer(next);
      const bool wanted = !wants_ || wants_(leaf, next);
      if (!wanted && !(perhaps_ && follows_ && perhaps_(leaf, next))) {
        // If this block is wanted after all, the plan that begins with it follows this one.
        if (perhaps_ && LessFar(block)) next_last_ = Front(block);
        continue;
      }
      if (is_cached(block)) continue;
      if (!Add(options, block, wanted)) break;
    }
    ReadPlanned(source, pointer, buffer);
  }

 private:
  // Bytes of the source that were read in advance, or that are to be read.
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;  // equal to `begin`: the range is not in use
    encodings::ByteWriter bytes;
    bool filled = false;
  };

  // If a range has the block, moves the range into `buffer` and returns true. Forgets the range and
  // returns true, too, if it could not be read.
  bool TakeRange(const BlockPointer& pointer, BlockBuffer& buffer);
  // Where a plan that begins with a block begins, and where it ends if the block is its last one.
  uint64_t Front(const BlockPointer& block) const { return backward_ ? block.end() : block.offset; }
  uint64_t Back(const BlockPointer& block) const { return backward_ ? block.offset : block.end(); }
  // True if a block is between the last block of the plan and next_last_.
  bool LessFar(const BlockPointer& block) const {
    return backward_ ? Front(block) > next_last_ : Front(block) < next_last_;
  }
  // The next plan may have `width` ranges if it begins where `block` ends, or a little after it.
  void PlanAfter(const BlockPointer& block, size_t width, const ReaderOptions& options);
  // Begins a plan with a block.
  void Begin(const Source& source, const ReaderOptions& options, const BlockPointer& pointer);
  // Adds a block to the plan, which is after the last one in the direction of the plan. Returns false if there is no room for it.
  bool Add(const ReaderOptions& options, const BlockPointer& block, bool wanted);
  void AddRange(const BlockPointer& block);
  // Reads the planned ranges. The first one has the block at `pointer`.
  void ReadPlanned(const Source& source, const BlockPointer& pointer, BlockBuffer& buffer);
  // Call when a range with the block at `pointer` could not be read.
  void RangeFailed(const BlockPointer& pointer);

  BlockPlan plan_ = BlockPlan::kInOrder;
  Wants wants_;
  Wants perhaps_;
  bool backward_ = false;
  size_t max_requests_ = SIZE_MAX;
  std::vector<Range> ranges_;  // those that were read, or during Prepare those to be read
  BlockPointer first_;         // of the plan
  uint64_t planned_bytes_ = 0;
  bool follows_ = false;      // the plan begins where the one before it ended
  size_t growing_width_ = 1;  // the most ranges of a plan of blocks in order
  size_t width_ = 1;          // the most ranges of the plan
  size_t most_width_ = 1;     // of any plan
  // A limit of a range's size in addition to read_ahead_bytes. It is small after a range could not
  // be read, and doubles with each plan.
  uint64_t most_range_bytes_ = UINT64_MAX;
  // The next plan may have next_width_ ranges if it begins at one of the offsets from next_begin_ to
  // next_last_. In a plan backward, next_begin_ is the greater one.
  size_t next_width_ = 1;
  uint64_t next_begin_ = 0;
  uint64_t next_last_ = 0;
  std::vector<ReadRequest> requests_;
};

}  // namespace cfile::internal
