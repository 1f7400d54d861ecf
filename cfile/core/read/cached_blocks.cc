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
  buckets = std::vector<Place>(num_buckets, entries.end());
  for (Place place = entries.begin(); place != entries.end(); ++place) Link(place);
}

void CachedBlocks::Shard::RemoveLast() {
  const Place last = std::prev(entries.end());
  Place* link = &Bucket(last->key);
  while (*link != last) link = &(*link)->next;
  *link = last->next;
  counters.size_bytes -= last->size_bytes;
  entries.pop_back();
}

std::shared_ptr<const ResidentBlock> CachedBlocks::Find(const Key& key) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Place found = shard.Find(key);
  if (found == shard.entries.end()) {
    ++shard.counters.misses;
    return nullptr;
  }
  ++shard.counters.hits;
  // A move also writes to the entry's neighbours in the list. To make few moves, an entry stays in
  // its place until the insertions since its last move are more than a quarter of the entries.
  if (shard.insertions - found->moved > shard.entries.size() / 4) {
    shard.entries.splice(shard.entries.begin(), shard.entries, found);
    found->moved = shard.insertions;
  }
  return found->block;
}

std::shared_ptr<const ResidentBlock> CachedBlocks::Peek(const Key& key) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Place found = shard.Find(key);
  return found == shard.entries.end() ? nullptr : found->block;
}

void CachedBlocks::Insert(const Key& key, std::shared_ptr<const ResidentBlock> block) {
  constexpr size_t kFewestBuckets = 64;
  const size_t size_bytes = kEntryBytes + block->bytes.capacity();
  if (size_bytes > shard_capacity_bytes_) return;
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  if (shard.Find(key) != shard.entries.end()) return;  // another thread stored the block
  const size_t buckets = shard.buckets.size();
  if (shard.entries.size() >= buckets) shard.Rehash(std::max(kFewestBuckets, 2 * buckets));
  shard.entries.push_front({.key = key,
                            .block = std::move(block),
                            .size_bytes = size_bytes,
                            .moved = ++shard.insertions});
  shard.Link(shard.entries.begin());
  shard.counters.size_bytes += size_bytes;
  MakeRoom(shard);
}

void CachedBlocks::Grow(const Key& key, size_t size_bytes) {
  Shard& shard = ShardOf(key);
  const std::lock_guard lock(shard.mutex);
  const Place found = shard.Find(key);
  if (found == shard.entries.end()) return;
  found->size_bytes += size_bytes;
  shard.counters.size_bytes += size_bytes;
  MakeRoom(shard);
}

// Evicts blocks until the shard is within its capacity. Precondition: the caller holds the shard's
// lock.
void CachedBlocks::MakeRoom(Shard& shard) const {
  while (shard.counters.size_bytes > shard_capacity_bytes_) {
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
