#include "cfile/core/read/cached_blocks.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL  // so programs need no library xxhash
#include "xxhash.h"

namespace cfile {
namespace internal {
namespace {

// Approximate memory of an entry in addition to the block's bytes.
constexpr size_t kEntryBytes = 256;

std::atomic<uint64_t> next_file_without_identity = 0;

// A random number that nobody outside the process knows, so that nobody can make two identities
// with the same hash.
uint64_t HashSeed() {
  static const uint64_t seed = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  return seed;
}

}  // namespace

CachedBlocks::File CachedBlocks::FileOf(std::string_view identity) {
  if (identity.empty())
    return {0, next_file_without_identity.fetch_add(1, std::memory_order_relaxed)};
  const XXH128_hash_t hash = XXH3_128bits_withSeed(identity.data(), identity.size(), HashSeed());
  return {hash.high64, hash.low64};
}

void CachedBlocks::Shard::Rehash(size_t num_buckets) {
  buckets = std::vector<Entry*>(num_buckets);
  for (Entry& entry : entries) Link(entry);
}

void CachedBlocks::Shard::RemoveLast() {
  const Entry& last = entries.back();
  Entry** link = &Bucket(last.key);
  while (*link != &last) link = &(*link)->next;
  *link = last.next;
  counters.size_bytes -= last.size_bytes;
  entries.pop_back();
}

std::shared_ptr<const ResidentBlock> CachedBlocks::Find(const Key& key) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  Entry* found = shard.Find(key);
  if (found == nullptr) {
    ++shard.counters.misses;
    return nullptr;
  }
  ++shard.counters.hits;
  found->used = true;
  return found->block;
}

std::shared_ptr<const ResidentBlock> CachedBlocks::Peek(const Key& key) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Entry* found = shard.Find(key);
  return found == nullptr ? nullptr : found->block;
}

void CachedBlocks::Insert(const Key& key, std::shared_ptr<const ResidentBlock> block) {
  constexpr size_t kFewestBuckets = 64;
  const size_t size_bytes = kEntryBytes + block->bytes.capacity();
  if (size_bytes > shard_capacity_bytes_) return;
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  if (shard.Find(key) != nullptr) return;  // another thread stored the block
  const size_t buckets = shard.buckets.size();
  if (shard.entries.size() >= buckets) shard.Rehash(std::max(kFewestBuckets, 2 * buckets));
  MakeRoom(shard, size_bytes);
  shard.entries.push_front({.key = key, .block = std::move(block), .size_bytes = size_bytes});
  shard.Link(shard.entries.front());
  shard.counters.size_bytes += size_bytes;
}

void CachedBlocks::Grow(const Key& key, size_t size_bytes) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  Entry* found = shard.Find(key);
  if (found == nullptr) return;
  found->size_bytes += size_bytes;
  shard.counters.size_bytes += size_bytes;
  MakeRoom(shard, 0);
}

// Evicts blocks until the shard has room for `size_bytes` more.
// Preconditions: the caller holds the shard's lock; size_bytes <= shard_capacity_bytes_.
void CachedBlocks::MakeRoom(Shard& shard, size_t size_bytes) const {
  while (shard.counters.size_bytes + size_bytes > shard_capacity_bytes_) {
    if (std::exchange(shard.entries.back().used, false)) {
      shard.entries.splice(shard.entries.begin(), shard.entries, std::prev(shard.entries.end()));
      continue;
    }
    shard.RemoveLast();
    ++shard.counters.evictions;
  }
}

BlockCache::Counters CachedBlocks::counters() const {
  BlockCache::Counters sum;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum.hits += shard.counters.hits;
    sum.misses += shard.counters.misses;
    sum.evictions += shard.counters.evictions;
    sum.blocks += shard.entries.size();
    sum.size_bytes += shard.counters.size_bytes;
  }
  return sum;
}

}  // namespace internal

BlockCache::BlockCache(size_t capacity_bytes)
    : blocks_(std::make_unique<internal::CachedBlocks>(capacity_bytes)) {}
BlockCache::~BlockCache() = default;

const std::shared_ptr<BlockCache>& BlockCache::Default() {
  // The cache is never destroyed, because readers may outlive other static objects.
  static const auto* cache =
      new std::shared_ptr<BlockCache>(std::make_shared<BlockCache>(kDefaultBytes));
  return *cache;
}

BlockCache::Counters BlockCache::counters() const { return blocks_->counters(); }

}  // namespace cfile
