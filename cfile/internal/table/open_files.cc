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

OpenFiles::OpenFiles(size_t num_files, const ReaderOptions& options)
    : max_open_(MaxOpenFiles(options)), files_(num_files) {}

std::optional<Reader> OpenFiles::Find(size_t number) {
  const std::lock_guard lock(mutex_);
  const File& file = files_[number];
  if (file.reader) used_.splice(used_.begin(), used_, file.position);
  return file.reader;
}

Reader OpenFiles::Keep(size_t number, Reader reader) {
  std::optional<Reader> closed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  File& file = files_[number];
  if (file.reader) return *file.reader;
  used_.push_front(number);
  file = {.reader = std::move(reader), .position = used_.begin()};
  if (used_.size() > max_open_) {
    closed = std::exchange(files_[used_.back()].reader, std::nullopt);
    used_.pop_back();
  }
  return *file.reader;
}

}  // namespace cfile::internal
