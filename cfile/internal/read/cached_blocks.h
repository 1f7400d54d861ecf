// The contents of a BlockCache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/hash/hash.h"
#include "cfile/block_cache.h"
#include "cfile/internal/format/movable_block.h"
#include "cfile/internal/format/seek_index_slot.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// A verified and uncompressed block that owns its memory. Immutable except for seek_index.
struct ResidentBlock {
  encodings::ByteWriter bytes;
  BlockHead head;  // of a movable block
  mutable SeekIndexSlot seek_index;
};

// A cache of blocks. Each shard evicts its least recently used blocks first. Thread-safe.
class CachedBlocks {
 public:
  explicit CachedBlocks(size_t capacity_bytes)
      : num_shards_(std::clamp<size_t>(capacity_bytes / kShardBytes, 1, kMaxShards)),
        shard_capacity_bytes_(capacity_bytes / num_shards_) {}

  // A block of an open file.
  struct Key {
    uint64_t file;  // a result of FileNumber
    uint64_t offset;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.file, key.offset);
    }
  };

  // Returns the number of a file for its blocks' keys. Equal identities get the same number, so
  // that a file that is opened again finds its blocks. An empty or very long identity, or one that
  // was forgotten because kMaxFiles others came after it, gets a number that no other file of the
  // process has.
  uint64_t FileNumber(const std::string& identity);
  static constexpr size_t kMaxFiles = 4096;
  static constexpr size_t kMaxIdentityBytes = 1280;

  // Returns nullptr if the block is not cached.
  std::shared_ptr<const ResidentBlock> Find(const Key& key);
  // Does the same, but does not count as a lookup or as a use of the block.
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
  };
  struct Shard {
    mutable std::mutex mutex;
    std::list<Entry> entries;  // the most recently used first
    // by_key is not an Abseil table, because a failed allocation destroys the contents of such a
    // table.
    std::unordered_map<Key, std::list<Entry>::iterator, absl::Hash<Key>> by_key;
    BlockCache::Counters counters;
  };

  Shard& ShardOf(const Key& key) { return shards_[absl::HashOf(key) % num_shards_]; }
  void MakeRoom(Shard& shard) const;

  const size_t num_shards_;
  const size_t shard_capacity_bytes_;
  std::array<Shard, kMaxShards> shards_;

  struct KnownFile {
    std::string identity;
    uint64_t number;
  };
  std::mutex files_mutex_;      // guards files_ and by_identity_
  std::list<KnownFile> files_;  // the most recently opened first
  // The keys are views of the identities in files_.
  std::unordered_map<std::string_view, std::list<KnownFile>::iterator> by_identity_;
};

}  // namespace cfile::internal
