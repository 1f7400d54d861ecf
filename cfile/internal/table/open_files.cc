#include "cfile/internal/table/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cfile::internal {
namespace {

size_t MaxOpenFiles(const ReaderOptions& options) {
  if (options.max_open_files > 0) return options.max_open_files;
  if (options.access == ReaderOptions::Access::kMap) return SIZE_MAX;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::max<size_t>(limit.rlim_cur / 2, 1);
}

}  // namespace

OpenFiles::OpenFiles(const ReaderOptions& options) : max_open_(MaxOpenFiles(options)) {}

std::optional<Reader> OpenFiles::Find(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(number);
  if (file == files_.end()) return std::nullopt;
  used_.splice(used_.begin(), used_, file->second.position);
  return file->second.reader;
}

Reader OpenFiles::Keep(uint64_t number, Reader reader) {
  std::optional<Reader> closed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(number);
  if (found != files_.end()) return found->second.reader;
  used_.push_front(number);
  files_.emplace(number, File{.reader = reader, .position = used_.begin()});
  if (used_.size() > max_open_) {
    const auto oldest = files_.find(used_.back());
    closed = std::move(oldest->second.reader);
    files_.erase(oldest);
    used_.pop_back();
  }
  return reader;
}

}  // namespace cfile::internal
