// Decides which data blocks a cursor of a source that is not in memory reads in advance, and makes
// the requests. A plan is the ranges of bytes that one call of Source::ReadMany will read; its
// width is their number. If the source reads in the background, all ranges of a plan are begun at
// once. Each time the cursor takes a range, further ranges are begun, so that the plan keeps its
// width.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cfile/batch.h"
#include "cfile/core/format/stored_block.h"
#include "cfile/core/read/loaded_node.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// How a cursor reaches a block.
enum class BlockAccess : uint8_t {
  kScan,  // the cursor reads block after block in the fetcher's direction
  kSeek,
  // Like kSeek, but the cursor reads only a few rows of the block, after a call of
  // BlockWalk::CheckRows.
  kFewRows
};

// What a cursor knows about the blocks that it will read.
enum class BlockPlan : uint8_t {
  kInOrder,    // kScan: the cursor will read the next blocks; kSeek: nothing is known
  kMaybeSome,  // the cursor may read the blocks that `wants` names (BlockFetcher::Expect)
  kSome        // the cursor will read all blocks that `wants` names
};

// Returns the row after the block of a leaf's entry. The last entry of a leaf does not say where
// its rows end: the result is then a guess, that the block has as many rows as the block before it.
// Precondition: the leaf is in a positional index.
inline uint64_t LikelyEnd(const LoadedNode& leaf, uint32_t entry) {
  if (entry + 1 < leaf.num_entries()) return leaf.ordinal(entry + 1);
  if (entry == 0) return UINT64_MAX;
  return 2 * leaf.ordinal(entry) - leaf.ordinal(entry - 1);
}

// True if one of `rows` is likely in the block of a leaf's entry. `rows` are in ascending order.
// The lowest `shift` bits of an element are not part of the row's number.
inline bool HasRowOf(std::span<const uint64_t> rows, int shift, const LoadedNode& leaf,
                     uint32_t entry) {
  const auto found = std::lower_bound(rows.begin(), rows.end(), leaf.ordinal(entry) << shift);
  return found != rows.end() && *found >> shift < LikelyEnd(leaf, entry);
}

inline bool HasRowOf(const OrdinalRange& rows, const LoadedNode& leaf, uint32_t entry) {
  return leaf.ordinal(entry) < rows.end && LikelyEnd(leaf, entry) > rows.begin;
}

// How much a cursor may read in advance, in addition to the limits of ReaderOptions.
struct ReadAhead {
  size_t max_requests = SIZE_MAX;  // at the same time
  // Ranges grow from ReaderOptions::read_ahead_bytes to this many bytes if the source has latency
  // and max_requests requests are under way. Smaller values than read_ahead_bytes have no effect.
  uint64_t max_range_bytes = 0;
};

// Belongs to one cursor. Thread-compatible. Memory: the ranges of one call of Source::ReadMany,
// which have at most max_requests_in_flight * read_ahead_bytes bytes together, or what ReadAhead
// allows, or one block if it is larger. The buffer of the cursor also has one range or one block.
class BlockFetcher {
 public:
  // Returns whether the block of a leaf's entry will be read.
  using Wants = std::function<bool(const LoadedNode& leaf, uint32_t entry)>;

  // Sets what the cursor will read from now on, in ascending order. `wants`: the blocks that are
  // wanted; if it is empty, all. It may be called for all entries of the leaf that is passed to
  // Prepare. `perhaps`: blocks that may be wanted later. They are read like blocks in order, as
  // long as all blocks turn out to be wanted.
  void Expect(BlockPlan plan, Wants wants, Wants perhaps = nullptr) {
    SetBackward(false);
    plan_ = plan;
    wants_ = std::move(wants);
    perhaps_ = std::move(perhaps);
  }
  void SetPlan(BlockPlan plan) { plan_ = plan; }
  // `backward`: the cursor will read the blocks in descending order.
  void SetBackward(bool backward) {
    if (backward != backward_) next_width_ = 1;
    backward_ = backward;
  }
  bool backward() const { return backward_; }
  void SetReadAhead(const ReadAhead& limits) { limits_ = limits; }

  // Reads the block of a leaf's entry, and blocks that will be needed after it, into `buffer`,
  // before a call of FetchBlock. Does nothing if `buffer` has the block, or if FetchBlock should
  // read the block alone. is_cached(pointer) returns true if a block need not be read. If several
  // blocks could not be read together, FetchBlock reads the wanted block alone, so an error counts
  // only if this block itself cannot be read.
  template <typename IsCached>
  void Prepare(const Source& source, const ReaderOptions& options, const LoadedNode& leaf,
               uint32_t entry, BlockAccess access, const IsCached& is_cached, BlockBuffer& buffer) {
    const BlockPointer& pointer = leaf.entry_pointer(entry);
    if (buffer.Holds(pointer)) return;
    if (std::optional<Range> range = TakeRange(pointer)) {
      if (range->pending != nullptr) {
        GrowRanges(options);
        AddBlocks(options, leaf, entry, is_cached);
        BeginReads(source);
      }
      return Use(*std::move(range), pointer, buffer);
    }
    if (IsAlone(leaf, entry, access)) return PlanAfter(pointer, 2, options);
    Begin(source, options, pointer);
    AddBlocks(options, leaf, entry, is_cached);
    ReadPlanned(source, pointer, buffer);
  }

  // Begins to read what Prepare would read, and does not wait. Precondition: the source reads in
  // the background.
  template <typename IsCached>
  void BeginToPrepare(const Source& source, const ReaderOptions& options, const LoadedNode& leaf,
                      uint32_t entry, BlockAccess access, const IsCached& is_cached,
                      const BlockBuffer& buffer) {
    const BlockPointer& pointer = leaf.entry_pointer(entry);
    if (buffer.Holds(pointer) || FindRange(pointer) != ranges_.end()) return;
    if (IsAlone(leaf, entry, access) || TooLarge(options, pointer)) return;
    Begin(source, options, pointer);
    AddBlocks(options, leaf, entry, is_cached);
    BeginReads(source);
  }

  // True if the cursor will read each of the next kBlocksInRow blocks of the leaf after `entry`, or
  // of as many as there are, at least one. For such cursors, the operating system's own read-ahead
  // fetches mapped blocks faster than requests for single blocks.
  bool ReadsOn(const LoadedNode& leaf, uint32_t entry) const {
    constexpr uint32_t kBlocksInRow = 8;
    if (plan_ != BlockPlan::kSome) return false;
    const uint32_t end = std::min(leaf.num_entries(), entry + 1 + kBlocksInRow);
    for (uint32_t next = entry + 1; next < end; ++next) {
      if (wants_ && !wants_(leaf, next)) return false;
    }
    return end > entry + 1;
  }

  // True if the last plan has all blocks of its leaf that the cursor will read.
  bool has_all_planned() const { return has_all_planned_; }

 private:
  // A range of bytes of the source that was read in advance, or will be.
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
    encodings::ByteWriter bytes;
    bool filled = false;
    // Fills `bytes`; null if nothing does. Declared after `bytes`, so that it is destroyed first.
    std::unique_ptr<PendingRead> pending;
  };

  // True if FetchBlock returns an error for the block before it reads the block.
  static bool TooLarge(const ReaderOptions& options, const BlockPointer& block);
  // True if FetchBlock should read the block alone.
  bool IsAlone(const LoadedNode& leaf, uint32_t entry, BlockAccess access) const {
    return plan_ == BlockPlan::kInOrder ? access == BlockAccess::kSeek
                                        : wants_ && !wants_(leaf, entry);
  }
  // Adds blocks after the block of a leaf's entry to the plan, until the plan has its width.
  template <typename IsCached>
  void AddBlocks(const ReaderOptions& options, const LoadedNode& leaf, uint32_t entry,
                 const IsCached& is_cached) {
    has_all_planned_ = false;
    for (uint32_t next = entry; backward_ ? next-- > 0 : ++next < leaf.num_entries();) {
      const BlockPointer& block = leaf.entry_pointer(next);
      if (backward_ ? block.end() > plan_end_ : block.offset < plan_end_) continue;
      const bool wanted = !wants_ || wants_(leaf, next);
      if (!wanted && !(perhaps_ && follows_ && perhaps_(leaf, next))) {
        // The cursor may need this block after all: a plan that begins with it continues this plan.
        if (perhaps_ && LessFar(block)) next_last_ = Front(block);
        continue;
      }
      if (is_cached(block)) continue;
      if (!Add(options, block, wanted)) return;
    }
    has_all_planned_ = true;
  }
  // Returns the range that contains the block, or ranges_.end().
  std::vector<Range>::iterator FindRange(const BlockPointer& pointer);
  // Removes the range that contains the block from the plan, and returns the range; nullopt if
  // there is none. If the source reads in the background, also removes the ranges before this
  // range.
  std::optional<Range> TakeRange(const BlockPointer& pointer);
  // Moves the bytes of a range with the block at `pointer` into `buffer`, if they could be read.
  void Use(Range range, const BlockPointer& pointer, BlockBuffer& buffer);
  // Returns the offset at which a plan begins if `block` is its first block.
  uint64_t Front(const BlockPointer& block) const { return backward_ ? block.end() : block.offset; }
  // Returns the offset at which a plan ends if `block` is its last block.
  uint64_t Back(const BlockPointer& block) const { return backward_ ? block.offset : block.end(); }
  // True if a block is between the last block of the plan and next_last_.
  bool LessFar(const BlockPointer& block) const {
    return backward_ ? Front(block) > next_last_ : Front(block) < next_last_;
  }
  // Says that the next plan may have `width` ranges, if it begins where `block` ends, or a little
  // after that place in the plan's direction.
  void PlanAfter(const BlockPointer& block, size_t width, const ReaderOptions& options);
  // Doubles the size of ranges, if there are as many of them as possible.
  void GrowRanges(const ReaderOptions& options);
  // Begins a plan whose first block is at `pointer`.
  void Begin(const Source& source, const ReaderOptions& options, const BlockPointer& pointer);
  // Adds a block to the last range of the plan. Returns false if the range cannot have it.
  bool Extend(const BlockPointer& block);
  // Adds a block at the end of the plan. Returns false if the plan has no room for it.
  bool Add(const ReaderOptions& options, const BlockPointer& block, bool wanted);
  void AddRange(const BlockPointer& block);
  // Begins to read the planned ranges in the background.
  void BeginReads(const Source& source);
  // Reads the planned ranges. The first range has the block at `pointer`.
  void ReadPlanned(const Source& source, const BlockPointer& pointer, BlockBuffer& buffer);
  // Call if a range with the block at `pointer` could not be read.
  void RangeFailed(const BlockPointer& pointer);

  BlockPlan plan_ = BlockPlan::kInOrder;
  Wants wants_;
  Wants perhaps_;
  bool backward_ = false;
  ReadAhead limits_;
  // The ranges in the order in which the cursor needs them: ranges that were read, ranges that are
  // being read in the background, and during Prepare the plan.
  std::vector<Range> ranges_;
  uint64_t plan_end_ = 0;  // where the plan ends: Back of its last block
  bool has_all_planned_ = false;
  BlockPointer first_;  // the first block of the plan
  uint64_t planned_bytes_ = 0;
  bool follows_ = false;      // the plan begins where the previous plan ended
  size_t growing_width_ = 1;  // the greatest width of a plan of blocks in order
  size_t width_ = 1;          // the greatest width of this plan
  size_t most_width_ = 1;     // the greatest width of any plan
  // A limit for the size of a range: at first read_ahead_bytes, small after a range could not be
  // read, and doubled by GrowRanges.
  uint64_t most_range_bytes_ = UINT64_MAX;
  uint64_t longest_range_bytes_ = 0;  // most_range_bytes_ does not grow beyond this number
  // The next plan may have next_width_ ranges if it begins between next_begin_ and next_last_.
  // If backward_ is true, next_begin_ is the greater offset of the two.
  size_t next_width_ = 1;
  uint64_t next_begin_ = 0;
  uint64_t next_last_ = 0;
  std::vector<ReadRequest> requests_;
};

}  // namespace cfile::internal
