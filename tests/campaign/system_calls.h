// The system calls by which this program writes and reads files. Each call can be made to fail, and
// the effects of calls can be recorded. The functions defined here replace functions of the C
// library. Include this header in only one source file of a program.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/campaign/fault_mode.h"

namespace cfile::testing_support {

// State of the replaced functions. Not thread-safe.
class SystemCalls {
 public:
  static SystemCalls& Get() {
    static SystemCalls calls;
    return calls;
  }

  // Makes the `number`-th call from now on fail with `error`, a value of errno; with kFromThenOn,
  // also all later calls. Counts only calls with paths that begin with `directory`. If `error` is
  // kShort, counts only reads and writes, and lets them transfer half of the bytes. If `error` is
  // EINTR, counts only calls that signals can interrupt; use kOnce, because the library repeats
  // such a call until it succeeds. If `error` is kKill, the call kills this process.
  static constexpr int kShort = -1;
  static constexpr int kKill = -2;
  void Arm(const std::string& directory, int64_t number, int error, FaultMode mode) {
    directory_ = directory;
    left_ = number;
    error_ = error;
    mode_ = mode;
    failed_.clear();
  }
  void Disarm() { directory_.clear(); }
  // Returns the calls that failed, in order, by their names in error messages: "write", "rename
  // to", ...
  const std::vector<std::string>& failed() const { return failed_; }

  // An effect of a call. StopRecording returns the effects since Record, in order.
  struct Event {
    enum Kind { kMakeFolder, kCreate, kWrite, kTruncate, kSync, kRename, kRemove } kind;
    std::string path;
    std::string text;  // the written bytes, the new size, or the new name
  };
  void Record(const std::string& directory) {
    directory_ = directory;
    left_ = 0;
    events_.clear();
    recording_ = true;
  }
  size_t num_events() const { return events_.size(); }
  std::vector<Event> StopRecording() {
    recording_ = false;
    directory_.clear();
    return std::move(events_);
  }

  // The C functions below this class call the following functions.
  bool Watched(const std::string& path) const {
    return !directory_.empty() && path.compare(0, directory_.size(), directory_) == 0;
  }
  const std::string& PathOf(int descriptor) const {
    static const std::string none;
    const auto found = paths_.find(descriptor);
    return found == paths_.end() ? none : found->second;
  }
  // Returns the path of `name` in the open folder `folder`. Asks the system, because closedir
  // closes descriptors without a call of our close, so that paths_ may be stale.
  static std::string PathAt(int folder, const char* name) {
    if (folder == AT_FDCWD) return name;
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(folder);
    const ssize_t size = readlink(link.c_str(), path, sizeof path);
    return std::string(path, size < 0 ? 0 : static_cast<size_t>(size)) + "/" + name;
  }
  void Opened(int descriptor, const std::string& path) { paths_[descriptor] = Plain(path); }
  void Closed(int descriptor) { paths_.erase(descriptor); }
  // Returns 0, or the error with which this call must fail.
  int Fails(const char* name, const std::string& path, bool may_be_short = false,
            bool may_be_interrupted = true) {
    if (!Watched(path) || (error_ == kShort && !may_be_short)) return 0;
    if ((error_ == EINTR && !may_be_interrupted) || left_ <= 0 || --left_ > 0) return 0;
    if (error_ == kKill) std::raise(SIGKILL);
    if (mode_ == FaultMode::kFromThenOn) left_ = 1;
    failed_.emplace_back(name);
    return error_;
  }
  void Did(Event::Kind kind, const std::string& path, std::string text = {}) {
    if (recording_ && Watched(path)) {
      events_.push_back(
          {kind, Plain(path), kind == Event::kRename ? Plain(text) : std::move(text)});
    }
  }
  // Returns the path as events give it: without "..", repeated slashes and slashes at the end.
  static std::string Plain(const std::string& path) {
    std::string plain = std::filesystem::path(path).lexically_normal();
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return plain;
  }

 private:
  std::string directory_;
  int64_t left_ = 0;  // the number of calls until one fails, including this one
  int error_ = 0;
  FaultMode mode_ = FaultMode::kOnce;
  std::vector<std::string> failed_;
  bool recording_ = false;
  std::vector<Event> events_;
  std::map<int, std::string> paths_;  // paths of watched files, by descriptor
};

inline int FailWith(int error) {
  errno = error;
  return -1;
}

}  // namespace cfile::testing_support

extern "C" {

int open(const char* path, int flags, ...) {
  using cfile::testing_support::SystemCalls;
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  SystemCalls& calls = SystemCalls::Get();
  if (!calls.Watched(path)) {
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  }
  if (const int error = calls.Fails("open", path)) {
    return cfile::testing_support::FailWith(error);
  }
  const int result = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (result >= 0) {
    calls.Opened(result, path);
    if ((flags & O_CREAT) != 0) calls.Did(SystemCalls::Event::kCreate, path);
  }
  return result;
}

int close(int descriptor) {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  const std::string path = calls.PathOf(descriptor);
  calls.Closed(descriptor);
  const int result = static_cast<int>(syscall(SYS_close, descriptor));
  // The descriptor is closed even if close fails, as in Linux.
  if (const int error = calls.Fails("close", path)) {
    return cfile::testing_support::FailWith(error);
  }
  return result;
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  const std::string& path = calls.PathOf(descriptor);
  if (const int error = calls.Fails("write", path, /*may_be_short=*/size > 1)) {
    if (error != SystemCalls::kShort) return cfile::testing_support::FailWith(error);
    size /= 2;
  }
  const ssize_t count = syscall(SYS_write, descriptor, bytes, size);
  if (count > 0) {
    calls.Did(SystemCalls::Event::kWrite, path,
              std::string(static_cast<const char*>(bytes), static_cast<size_t>(count)));
  }
  return count;
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("pread", calls.PathOf(descriptor), size > 1)) {
    if (error != SystemCalls::kShort) return cfile::testing_support::FailWith(error);
    size /= 2;
  }
  return syscall(SYS_pread64, descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  const std::string& path = calls.PathOf(descriptor);
  if (const int error = calls.Fails("fsync", path)) return cfile::testing_support::FailWith(error);
  // Does not wait for the disk. Waiting would take most of the test's time, and no test could
  // notice a difference.
  const int result = fcntl(descriptor, F_GETFD) < 0 ? -1 : 0;
  if (result == 0) calls.Did(SystemCalls::Event::kSync, path);
  return result;
}

int ftruncate(int descriptor, off_t size) noexcept {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("ftruncate", calls.PathOf(descriptor))) {
    return cfile::testing_support::FailWith(error);
  }
  const auto result = static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
  if (result == 0) {
    calls.Did(SystemCalls::Event::kTruncate, calls.PathOf(descriptor), std::to_string(size));
  }
  return result;
}

// A struct of the C library has the same name as this function.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
int flock(int descriptor, int operation) {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("flock", calls.PathOf(descriptor))) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_flock, descriptor, operation));
}
#pragma GCC diagnostic pop

int rename(const char* from, const char* to) noexcept {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("rename to", to)) {
    return cfile::testing_support::FailWith(error);
  }
  const int result = static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
  if (result == 0) calls.Did(SystemCalls::Event::kRename, from, to);
  return result;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("rename to", SystemCalls::PathAt(to_folder, to))) {
    return cfile::testing_support::FailWith(error);
  }
  const auto result =
      static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  if (result == 0) {
    calls.Did(SystemCalls::Event::kRename, SystemCalls::PathAt(from_folder, from),
              SystemCalls::PathAt(to_folder, to));
  }
  return result;
}

int fstat(int descriptor, struct stat* status) noexcept {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("fstat", calls.PathOf(descriptor), /*may_be_short=*/false,
                                    /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_fstat, descriptor, status));
}

void* mmap(void* begin, size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  using cfile::testing_support::SystemCalls;
  if (descriptor >= 0) {  // otherwise the mapping is memory, perhaps for the next line itself
    SystemCalls& calls = SystemCalls::Get();
    if (const int error = calls.Fails("mmap", calls.PathOf(descriptor), /*may_be_short=*/false,
                                      /*may_be_interrupted=*/false)) {
      cfile::testing_support::FailWith(error);
      return MAP_FAILED;
    }
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, begin, size, protection, flags, descriptor, offset));
}

int unlink(const char* path) noexcept {
  using cfile::testing_support::SystemCalls;
  if (const int error = SystemCalls::Get().Fails("unlink", path, /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  const auto result = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (result == 0) SystemCalls::Get().Did(SystemCalls::Event::kRemove, path);
  return result;
}

// std::filesystem calls openat to list and to remove folders.
int openat(int folder, const char* name, int flags, ...) {
  using cfile::testing_support::SystemCalls;
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (const int error = SystemCalls::Get().Fails(
          "read directory", SystemCalls::PathAt(folder, name), /*may_be_short=*/false,
          /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_openat, folder, name, flags, mode));
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  using cfile::testing_support::SystemCalls;
  const std::string path = SystemCalls::PathAt(folder, name);
  if (const int error = SystemCalls::Get().Fails("unlinkat", path, /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  const auto result = static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
  if (result == 0) SystemCalls::Get().Did(SystemCalls::Event::kRemove, path);
  return result;
}

int remove(const char* path) noexcept {
  using cfile::testing_support::SystemCalls;
  if (const int error = SystemCalls::Get().Fails("remove", path, /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  auto result = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (result != 0 && errno == EISDIR) {
    result = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
  }
  if (result == 0) SystemCalls::Get().Did(SystemCalls::Event::kRemove, path);
  return result;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
int stat(const char* path, struct stat* status) noexcept {
  using cfile::testing_support::SystemCalls;
  if (const int error = SystemCalls::Get().Fails("read directory", path, /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}
#pragma GCC diagnostic pop

// The library calls stat for files that may be replaced, and for folders that may have been
// replaced.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
int fstatat(int folder, const char* name, struct stat* status, int flags) noexcept {
  using cfile::testing_support::SystemCalls;
  if (const int error =
          SystemCalls::Get().Fails("stat", SystemCalls::PathAt(folder, name),
                                   /*may_be_short=*/false, /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_newfstatat, folder, name, status, flags));
}
#pragma GCC diagnostic pop

int mkdir(const char* path, mode_t mode) noexcept {
  using cfile::testing_support::SystemCalls;
  SystemCalls& calls = SystemCalls::Get();
  if (const int error = calls.Fails("mkdir", path)) return cfile::testing_support::FailWith(error);
  const int result = static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
  if (result == 0) calls.Did(SystemCalls::Event::kMakeFolder, path);
  return result;
}

}  // extern "C"
