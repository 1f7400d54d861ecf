// What an open file uses and has read, and what several files, those of a table, use together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "cfile/counters.h"
#include "cfile/internal/io/buffered_ends.h"

namespace cfile::internal {

class FileUsage;

// Adds up what files use and have read. A file counts until its last cursor is destroyed.
// Thread-safe.
class SharedUsage {
 public:
  // `max_bytes`: the memory that the files should have at most.
  explicit SharedUsage(size_t max_bytes) : max_bytes_(max_bytes) {}

  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool above_limit() const { return memory_bytes() > max_bytes_; }
  bool has_room(size_t bytes) const {
    const size_t taken = memory_bytes();
    return taken < max_bytes_ && bytes <= max_bytes_ - taken;
  }

  // The sums over all files, those that are closed included.
  ReaderCounters counters() const;

 private:
  friend class FileUsage;

  const size_t max_bytes_;
  std::atomic<size_t> bytes_ = 0;
  mutable std::mutex mutex_;  // guards the following
  std::unordered_set<const FileUsage*> open_;
  ReaderCounters closed_;  // of the files that are closed
};

// Belongs to an open file. Each read changes the counters, so they do not share a cache line with
// what other threads read. Thread-safe.
class alignas(64) FileUsage {
 public:
  // `source`: null if the file's source is in memory. `shared`: where to add all numbers; may be
  // null.
  FileUsage(std::shared_ptr<const BufferedEnds> source, std::shared_ptr<SharedUsage> shared);
  FileUsage(const FileUsage&) = delete;
  FileUsage& operator=(const FileUsage&) = delete;
  ~FileUsage();

  void CountBlockRead() { blocks_read_.fetch_add(1, std::memory_order_relaxed); }
  void CountBlockCached() { blocks_cached_.fetch_add(1, std::memory_order_relaxed); }
  void CountIndexNode() { index_nodes_read_.fetch_add(1, std::memory_order_relaxed); }
  ReaderCounters counters() const;

  // Counts memory that is kept until the file is closed.
  void AddMemory(size_t bytes);
  size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  // Whether the file may take `bytes` more for what it can do without.
  bool has_room(size_t bytes) const { return shared_ == nullptr || shared_->has_room(bytes); }

 private:
  const std::shared_ptr<const BufferedEnds> source_;
  const std::shared_ptr<SharedUsage> shared_;
  std::atomic<size_t> memory_bytes_ = 0;
  std::atomic<uint64_t> blocks_read_ = 0;
  std::atomic<uint64_t> blocks_cached_ = 0;
  std::atomic<uint64_t> index_nodes_read_ = 0;
};

}  // namespace cfile::internal
