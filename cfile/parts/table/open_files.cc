#include "cfile/parts/table/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cfile/block_cache.h"

namespace cfile::internal {
namespace {

size_t MaxOpenFiles(const ReaderOptions& options) {
  if (options.max_open_files > 0) return options.max_open_files;
  // Linux allows 65,530 mappings for a process.
  if (options.access == ReaderOptions::Access::kMap) return 16'384;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<size_t>(limit.rlim_cur / 2, 1);
}

// Returns how many ranges fit into the share of the table's memory for data that is read ahead, at
// least 1.
size_t RangesInMemory(const ReaderOptions& options) {
  const size_t share = options.max_table_memory_bytes / 4;
  return std::max<size_t>(share / std::max<size_t>(options.read_ahead_bytes, 1), 1);
}

}  // namespace

ReaderOptions OptionsOfTable(ReaderOptions options) {
  const size_t quarter = options.max_table_memory_bytes / 4;
  options.read_ahead_bytes = std::min(options.read_ahead_bytes, quarter);
  options.max_requests_in_flight =
      std::min(options.max_requests_in_flight, RangesInMemory(options));
  if (options.block_cache == nullptr && quarter < BlockCache::kDefaultBytes)
    options.block_cache = std::make_shared<BlockCache>(quarter);
  return options;
}

size_t MaxRangesOfScan(const ReaderOptions& options) {
  constexpr size_t kMost = 64;
  return std::min(kMost, RangesInMemory(options));
}

ReadAhead ReadAheadOfColumn(const ReaderOptions& options, size_t num_columns) {
  // A request of this size takes much longer than the wait for its first byte.
  constexpr uint64_t kLongestRange = 4 << 20;
  num_columns = std::max<size_t>(num_columns, 1);
  const size_t ranges = std::max<size_t>(MaxRangesOfScan(options) / num_columns, 1);
  const size_t in_flight = (options.max_requests_in_flight + num_columns - 1) / num_columns;
  const size_t requests = std::clamp<size_t>(in_flight, 1, ranges);
  // One more range is in the buffer of the cursor.
  const uint64_t range_bytes = uint64_t{options.read_ahead_bytes} * ranges / (requests + 1);
  return {.max_requests = requests, .max_range_bytes = std::min(range_bytes, kLongestRange)};
}

OpenFiles::OpenFiles(const ReaderOptions& options)
    : max_open_(MaxOpenFiles(options)),
      usage_(std::make_shared<SharedUsage>(options.max_table_memory_bytes / 2)) {}

std::optional<Reader> OpenFiles::Find(uint64_t number) {
  std::optional<Reader> reader;
  {
    const std::lock_guard lock(mutex_);
    const auto file = files_.find(number);
    if (file == files_.end()) return std::nullopt;
    used_.splice(used_.begin(), used_, file->second.position);
    reader = file->second.reader;
  }
  // The memory of an open file grows while the file is read.
  if (usage_->above_limit()) CloseFiles();
  return reader;
}

Reader OpenFiles::Keep(uint64_t number, Reader reader) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(number);
    if (found != files_.end()) return found->second.reader;
    used_.push_front(number);
    files_.emplace(number, File{.reader = reader, .position = used_.begin()});
  }
  CloseFiles();
  return reader;
}

void OpenFiles::CloseFiles() {
  while (true) {
    std::optional<Reader> closed;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    const bool too_many = used_.size() > max_open_ || usage_->above_limit();
    if (!too_many || used_.size() <= 1) return;
    const auto oldest = files_.find(used_.back());
    closed = std::move(oldest->second.reader);
    files_.erase(oldest);
    used_.pop_back();
  }
}

}  // namespace cfile::internal
