// The contents of a BlockCache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "cfile/block_cache.h"
#include "cfile/core/format/movable_block.h"
#include "cfile/core/read/seek_index_slot.h"
#include "cfile/file_info.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// A verified and uncompressed block that owns its memory. Immutable except for seek_index.
struct ResidentBlock {
  encodings::ByteWriter bytes;
  BlockHead head;  // the head of a movable block
  mutable SeekIndexSlot seek_index;
};

// A cache of blocks. Thread-safe. When a shard is full, it looks at its oldest block. If the block
// was used since the last look, it becomes the newest; otherwise it is evicted. This is the
// algorithm CLOCK.
class CachedBlocks {
 public:
  explicit CachedBlocks(size_t capacity_bytes)
      : num_shards_(std::clamp<size_t>(capacity_bytes / kShardBytes, 1, kMaxShards)),
        shard_capacity_bytes_(capacity_bytes / num_shards_) {}

  // Names a file. The key of a block in the cache contains this name.
  struct File {
    uint64_t high = 0;
    uint64_t low = 0;
    friend bool operator==(const File&, const File&) = default;
  };
  // A block of an open file.
  struct Key {
    File file;
    BlockPointer block;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.file.low, key.block.offset);
    }
  };

  // Returns the name of the file that has this identity (Source::identity): a hash of 128 bits, the
  // same in the whole process, so that a file that is opened again finds its blocks. An empty
  // identity gets a name that no other file has.
  static File FileOf(std::string_view identity);

  // Returns nullptr if the block is not cached.
  std::shared_ptr<const ResidentBlock> Find(const Key& key);
  // Find that does not count as a lookup or as a use of the block.
  std::shared_ptr<const ResidentBlock> Peek(const Key& key);
  // Stores `block` unless it is larger than a shard.
  void Insert(const Key& key, std::shared_ptr<const ResidentBlock> block);
  // Adds `size_bytes`, the size of a new seek index, to the size of the block of `key`, if this
  // block is still cached.
  void Grow(const Key& key, size_t size_bytes);

  BlockCache::Counters counters() const;

 private:
  static constexpr size_t kMaxShards = 16;
  static constexpr size_t kShardBytes = size_t{1} << 20;  // minimum size if there are several

  struct Entry {
    Key key;
    std::shared_ptr<const ResidentBlock> block;
    size_t size_bytes;
    bool used = false;      // since it was inserted, or since MakeRoom made it the newest
    Entry* next = nullptr;  // in the same bucket
  };
  // The entries are in a list, and also in a hash table: each bucket has a chain of entries. So
  // finding a block usually reads one bucket and one entry. A failed allocation changes no entry.
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;     // the newest first
    std::vector<Entry*> buckets;  // a power of two of them; nullptr: an empty bucket
    BlockCache::Counters counters;

    Entry*& Bucket(const Key& key) {
      return buckets[absl::HashOf(key) >> 16 & (buckets.size() - 1)];
    }
    // Returns nullptr if there is no entry of `key`.
    Entry* Find(const Key& key) {
      Entry* entry = buckets.empty() ? nullptr : Bucket(key);
      while (entry != nullptr && !(entry->key == key)) entry = entry->next;
      return entry;
    }
    void Link(Entry& entry) { entry.next = std::exchange(Bucket(entry.key), &entry); }
    void Rehash(size_t num_buckets);
    void RemoveLast();
  };

  Shard& ShardOf(const Key& key) { return shards_[absl::HashOf(key) % num_shards_]; }
  void MakeRoom(Shard& shard, size_t size_bytes) const;

  const size_t num_shards_;
  const size_t shard_capacity_bytes_;
  std::array<Shard, kMaxShards> shards_;
};

}  // namespace cfile::internal
