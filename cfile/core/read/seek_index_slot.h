// A place for the seek index of a block: in the index node that has the block's entry, or next to
// the block's bytes in the cache.
#pragma once

#include <atomic>
#include <memory>

#include "encodings/core/block_codec.h"

namespace cfile::internal {

// Holds the seek index of one block. Can be filled once. Thread-safe.
class SeekIndexSlot {
 public:
  SeekIndexSlot() = default;
  ~SeekIndexSlot() { delete index_.load(std::memory_order_relaxed); }

  const encodings::SeekIndex* get() const { return index_.load(std::memory_order_acquire); }
  // Stores `index` unless another thread has stored one. Returns the stored index.
  const encodings::SeekIndex* Set(std::unique_ptr<const encodings::SeekIndex> index) {
    const encodings::SeekIndex* kept = nullptr;
    const encodings::SeekIndex* offered = index.get();
    if (!index_.compare_exchange_strong(kept, offered, std::memory_order_acq_rel)) return kept;
    (void)index.release();
    return offered;
  }

 private:
  std::atomic<const encodings::SeekIndex*> index_ = nullptr;
};

}  // namespace cfile::internal
