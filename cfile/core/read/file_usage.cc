#include "cfile/core/read/file_usage.h"

#include <utility>

namespace cfile::internal {
namespace {

void AddTo(ReaderCounters& sum, const ReaderCounters& counters) {
  sum.source_requests += counters.source_requests;
  sum.source_bytes += counters.source_bytes;
  sum.blocks_read += counters.blocks_read;
  sum.blocks_cached += counters.blocks_cached;
  sum.index_nodes_read += counters.index_nodes_read;
  sum.files_opened += counters.files_opened;
}

}  // namespace

ReaderCounters SharedUsage::counters() const {
  const std::lock_guard lock(mutex_);
  ReaderCounters sum = closed_;
  for (const FileUsage* const file : open_) AddTo(sum, file->counters());
  return sum;
}

FileUsage::FileUsage(std::shared_ptr<const BufferedEnds> source,
                     std::shared_ptr<SharedUsage> shared)
    : source_(std::move(source)), shared_(std::move(shared)) {
  if (shared_ != nullptr) {
    const std::lock_guard lock(shared_->mutex_);
    shared_->open_.insert(this);
  }
  if (source_ != nullptr) AddMemory(source_->memory_usage_bytes());
}

FileUsage::~FileUsage() {
  if (shared_ == nullptr) return;
  shared_->bytes_.fetch_sub(memory_bytes(), std::memory_order_relaxed);
  const std::lock_guard lock(shared_->mutex_);
  shared_->open_.erase(this);
  AddTo(shared_->closed_, counters());
}

ReaderCounters FileUsage::counters() const {
  return {.source_requests = source_ != nullptr ? source_->requests() : 0,
          .source_bytes = source_ != nullptr ? source_->bytes_read() : 0,
          .blocks_read = blocks_read_.load(std::memory_order_relaxed),
          .blocks_cached = blocks_cached_.load(std::memory_order_relaxed),
          .index_nodes_read = index_nodes_read_.load(std::memory_order_relaxed),
          .files_opened = 1};
}

void FileUsage::AddMemory(size_t bytes) {
  memory_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (shared_ != nullptr) shared_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace cfile::internal
