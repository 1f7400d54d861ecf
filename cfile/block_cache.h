// Blocks kept in memory between seeks, shared by the readers that are given the same cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cfile {

namespace internal {
class BlockTable;
}  // namespace internal

// Holds data blocks that a seek had to read or to decompress, verified and ready to decode, and
// what makes seeks in them fast, until others need the room: the one that was not used for longest
// goes first. Scans use what is there and add nothing, so that they do not empty it; blocks that
// lie uncompressed in a mapped file are never in it, they are in memory already.
//
// Any number of threads, and readers of any files, may use it at once; a block that leaves it stays
// in memory for as long as a cursor is in it. Divided into up to 16 shards of at least 1 MiB with a
// lock each. A block larger than a shard is not kept.
class BlockCache {
 public:
  // Holds up to about `capacity_bytes`; 0 keeps nothing.
  explicit BlockCache(size_t capacity_bytes);
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // What readers use that were given no other: one of this process, of kDefaultBytes.
  static constexpr size_t kDefaultBytes = size_t{128} << 20;
  static const std::shared_ptr<BlockCache>& Default();

  // Since its creation, and what it holds.
  struct Counters {
    uint64_t hits = 0;       // lookups that found their block
    uint64_t misses = 0;     // those that did not
    uint64_t evictions = 0;  // blocks that made room for others
    uint64_t blocks = 0;
    uint64_t size_bytes = 0;
  };
  Counters counters() const;

  // For the library's own use.
  internal::BlockTable& table() const { return *table_; }

 private:
  std::unique_ptr<internal::BlockTable> table_;
};

}  // namespace cfile
