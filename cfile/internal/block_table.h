// The contents of a BlockCache.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "absl/hash/hash.h"
#include "cfile/block_cache.h"
#include "encodings/block_codec.h"
#include "encodings/bytes.h"

namespace cfile::internal {

// A place for the seek index of one block, filled at most once. Thread-safe.
class SeekIndexSlot {
 public:
  SeekIndexSlot() = default;
  ~SeekIndexSlot() { delete index_.load(std::memory_order_relaxed); }

  const encodings::SeekIndex* get() const { return index_.load(std::memory_order_acquire); }
  // Keeps `index` unless another thread was first; returns the one that is kept.
  const encodings::SeekIndex* Set(std::unique_ptr<const encodings::SeekIndex> index);

 private:
  std::atomic<const encodings::SeekIndex*> index_ = nullptr;
};

// A block in memory of its own: verified and uncompressed. Immutable but for the slot.
struct ResidentBlock {
  encodings::ByteWriter bytes;
  mutable SeekIndexSlot seek_index;
};

// Least recently used blocks leave first, in each shard. Thread-safe.
class BlockTable {
 public:
  explicit BlockTable(size_t capacity_bytes)
      : num_shards_(std::clamp<size_t>(capacity_bytes / kShardBytes, 1, kMaxShards)),
        shard_capacity_bytes_(capacity_bytes / num_shards_) {}

  // A block of an open file.
  struct Key {
    uint64_t file;  // a number that no other open file of the process has
    uint64_t offset;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.file, key.offset);
    }
  };

  // nullptr: it is not there.
  std::shared_ptr<const ResidentBlock> Find(const Key& key);
  // Keeps `block`, if it is no larger than a shard.
  void Insert(const Key& key, std::shared_ptr<const ResidentBlock> block);
  // `key`'s block, if it is still there, has grown by this much (its seek index).
  void Grow(const Key& key, size_t size_bytes);

  BlockCache::Counters counters() const;

 private:
  static constexpr size_t kMaxShards = 16;
  static constexpr size_t kShardBytes = size_t{1} << 20;  // the least, if there are several

  struct Entry {
    Key key;
    std::shared_ptr<const ResidentBlock> block;
    size_t size_bytes;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;  // the most recently used first
    // Not one of Abseil's tables: they are destroyed by an allocation that fails.
    std::unordered_map<Key, std::list<Entry>::iterator, absl::Hash<Key>> by_key;
    BlockCache::Counters counters;
  };

  Shard& ShardOf(const Key& key) { return shards_[absl::HashOf(key) % num_shards_]; }
  void MakeRoom(Shard& shard) const;

  const size_t num_shards_;
  const size_t shard_capacity_bytes_;
  std::array<Shard, kMaxShards> shards_;
};

}  // namespace cfile::internal
