// An index node with what a reader has found out about its entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cfile/core/format/index_node.h"
#include "cfile/core/read/seek_index_slot.h"

namespace cfile::internal {

// A node of the index of an open file, shared by all its cursors. Its entries do not change. An
// inner node also keeps the children that have been read; a leaf keeps, for each block, the seek
// index and whether the checksum was verified. Thread-safe.
class LoadedNode : public IndexNode {
 public:
  explicit LoadedNode(IndexNode node);
  ~LoadedNode();
  LoadedNode(const LoadedNode&) = delete;
  LoadedNode& operator=(const LoadedNode&) = delete;

  // The child that SetChild stored for entry i, or nullptr.
  const LoadedNode* child(uint32_t i) const { return children_[i].load(std::memory_order_acquire); }
  // Stores the child of entry i, unless another thread has stored one. Returns the stored child.
  const LoadedNode* SetChild(uint32_t i, std::unique_ptr<LoadedNode> child) const;

  // The place for the seek index of entry i's block.
  SeekIndexSlot& seek_index(uint32_t i) const { return seek_indexes_[i]; }

  // True if the checksum of entry i's whole block was verified before.
  bool verified(uint32_t i) const { return (Reads(i) & kVerified) != 0; }
  // True if the block was verified and is used in place, in the memory of the source.
  bool in_place(uint32_t i) const { return Reads(i) == kInPlace; }
  // Call this when the whole block was read and verified. Unless the block is used in place, the
  // count of CountPartRead begins again, because the cache may evict the block.
  void SetVerified(uint32_t i, bool in_place) const {
    SetReads(i, in_place ? kInPlace : kVerified);
  }
  // The first kMostPartReads reads of entry i's block may read a part of the block. Each of them
  // verifies its part again. The next read reads the whole block. Concurrent calls of
  // CountPartRead may count as one.
  bool MayReadPart(uint32_t i) const { return PartReads(Reads(i)) < kMostPartReads; }
  void CountPartRead(uint32_t i) const {
    const uint8_t reads = Reads(i);
    if (PartReads(reads) < kMostPartReads) SetReads(i, reads + 1);
  }
  // Makes MayReadPart return false for entry i until SetVerified is called.
  void StopPartReads(uint32_t i) const {
    const uint8_t reads = Reads(i);
    if (PartReads(reads) < kMostPartReads) SetReads(i, (reads & kVerified) | kMostPartReads);
  }

 private:
  // An element of reads_ counts the reads of parts of the entry's block. When the whole block was
  // verified, the element becomes kVerified, to which later reads of parts are added, or kInPlace.
  static constexpr uint8_t kMostPartReads = 8;
  static constexpr uint8_t kVerified = 128;
  static constexpr uint8_t kInPlace = 255;
  static int PartReads(uint8_t reads) { return reads & ~kVerified; }
  uint8_t Reads(uint32_t i) const { return reads_[i].load(std::memory_order_relaxed); }
  void SetReads(uint32_t i, int reads) const {
    reads_[i].store(static_cast<uint8_t>(reads), std::memory_order_relaxed);
  }

  // Of an inner node. The node owns its children.
  std::unique_ptr<std::atomic<const LoadedNode*>[]> children_;
  // Of a leaf.
  std::unique_ptr<std::atomic<uint8_t>[]> reads_;
  std::unique_ptr<SeekIndexSlot[]> seek_indexes_;
};

}  // namespace cfile::internal
