// Counts the memory and the reads of open files: of one file, or of all files of a table.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "cfile/core/io/buffered_ends.h"
#include "cfile/counters.h"

namespace cfile::internal {

class FileUsage;

// Adds up the memory and the counters of several files.
// A file counts until its last cursor is destroyed. Thread-safe.
class SharedUsage {
 public:
  // `max_bytes`: the limit for the memory of all files.
  explicit SharedUsage(size_t max_bytes) : max_bytes_(max_bytes) {}

  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }
  bool above_limit() const { return memory_bytes() > max_bytes_; }
  bool has_room(size_t bytes) const {
    const size_t taken = memory_bytes();
    return taken < max_bytes_ && bytes <= max_bytes_ - taken;
  }

  // Returns the sums over all files. Closed files are included.
  ReaderCounters counters() const;

 private:
  friend class FileUsage;

  const size_t max_bytes_;
  std::atomic<size_t> bytes_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::unordered_set<const FileUsage*> open_;
  ReaderCounters closed_;  // the sums of the files that are closed
};

// The memory and the counters of one open file, in a cache line of their own, because each read
// changes the counters. Thread-safe.
class alignas(64) FileUsage {
 public:
  // `source`: null if the file's source is in memory.
  // `shared`: all numbers are also added to this object. May be null.
  FileUsage(std::shared_ptr<const BufferedEnds> source, std::shared_ptr<SharedUsage> shared);
  FileUsage(const FileUsage&) = delete;
  FileUsage& operator=(const FileUsage&) = delete;
  ~FileUsage();

  void CountBlockRead() { blocks_read_.fetch_add(1, std::memory_order_relaxed); }
  void CountBlockCached() { blocks_cached_.fetch_add(1, std::memory_order_relaxed); }
  void CountIndexNode() { index_nodes_read_.fetch_add(1, std::memory_order_relaxed); }
  ReaderCounters counters() const;
  bool has_source() const { return source_ != nullptr; }

  // Counts memory that is kept until the file is closed.
  void AddMemory(size_t bytes);
  size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  // Returns whether the file may use `bytes` more bytes for something that it could do without,
  // such as a seek index.
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
