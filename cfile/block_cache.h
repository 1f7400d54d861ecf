// A cache of data blocks, shared by all readers that are given the same BlockCache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "encodings/core/export.h"

namespace cfile {

namespace internal {
class CachedBlocks;
}  // namespace internal

// Keeps data blocks that a seek had to read or to decompress. They are verified and ready to
// decode, and their seek indexes are kept with them. When the cache is full, it evicts old blocks
// that were not used lately. Scans use cached blocks but add none, so a scan does not evict the
// blocks of seeks. Blocks that lie uncompressed in a mapped file are never cached, because they are
// in memory already.
//
// Thread-safe. Readers of any files may share one cache. An evicted block stays in memory as long
// as a cursor uses it. The cache is divided into at most 16 shards of at least 1 MiB each; a cache
// with a capacity below 1 MiB is one shard. Each shard has its own lock. A block larger than a
// shard is not cached.
class CFILE_EXPORT BlockCache {
 public:
  // `capacity_bytes`: approximately the largest total size of the cached blocks. With 0 the cache
  // keeps no blocks.
  explicit BlockCache(size_t capacity_bytes);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // The process's cache of kDefaultBytes for all readers whose options name no cache.
  static constexpr size_t kDefaultBytes = size_t{128} << 20;
  static const std::shared_ptr<BlockCache>& Default();

  // hits, misses and evictions count since the creation of the cache; blocks and size_bytes
  // describe the current contents.
  struct Counters {
    uint64_t hits = 0;       // lookups that found their block
    uint64_t misses = 0;     // lookups that did not find their block
    uint64_t evictions = 0;  // blocks that were removed to make room
    uint64_t blocks = 0;
    uint64_t size_bytes = 0;
  };
  Counters counters() const;

  // For the library's own use.
  internal::CachedBlocks& blocks() const { return *blocks_; }

 private:
  std::unique_ptr<internal::CachedBlocks> blocks_;
};

}  // namespace cfile
