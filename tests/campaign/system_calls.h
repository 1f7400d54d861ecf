// The calls of the operating system by which files are written and read, as this program makes
// them: each can be made to fail, and what they did is written down. The definitions here go before
// those of the C library in the program that includes this header, in one source file only.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/campaign/fault_mode.h"

namespace cfile::testing_support {

// One thread at a time.
class SystemCalls {
 public:
  static SystemCalls& Get() {
    static SystemCalls calls;
    return calls;
  }

  // The `number`-th call from now on fails with `error` (a value of errno), for so long. kShort: it
  // is done by half if it reads or writes. EINTR: if it is one that signals interrupt; once, as it
  // is tried again until it succeeds. Only calls for paths that begin with `directory`.
  static constexpr int kShort = -1;
  void Arm(const std::string& directory, int64_t number, int error, FaultMode mode) {
    directory_ = directory;
    left_ = number;
    error_ = error;
    mode_ = mode;
    failed_.clear();
  }
  void Disarm() { directory_.clear(); }
  // The calls that failed, in order, as messages name them: "write", "rename to", ...
  const std::vector<std::string>& failed() const { return failed_; }

  // What the calls did, in order, while recording.
  struct Event {
    enum Kind { kMakeFolder, kCreate, kWrite, kSync, kRename } kind;
    std::string path;
    std::string text;  // bytes written, or the new name
  };
  void Record(const std::string& directory) {
    directory_ = directory;
    left_ = 0;
    events_.clear();
    recording_ = true;
  }
  std::vector<Event> StopRecording() {
    recording_ = false;
    directory_.clear();
    return std::move(events_);
  }

  // For the calls below.
  bool Watched(const std::string& path) const {
    return !directory_.empty() && path.compare(0, directory_.size(), directory_) == 0;
  }
  const std::string& PathOf(int descriptor) const {
    static const std::string none;
    const auto found = paths_.find(descriptor);
    return found == paths_.end() ? none : found->second;
  }
  // The path of `name` in the folder that is open as `folder`. The system knows it: closedir closes
  // unseen.
  static std::string PathAt(int folder, const char* name) {
    if (folder == AT_FDCWD) return name;
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(folder);
    const ssize_t size = readlink(link.c_str(), path, sizeof path);
    return std::string(path, size < 0 ? 0 : static_cast<size_t>(size)) + "/" + name;
  }
  void Opened(int descriptor, const std::string& path) { paths_[descriptor] = Plain(path); }
  void Closed(int descriptor) { paths_.erase(descriptor); }
  // 0, or how this call has to fail.
  int Fails(const char* name, const std::string& path, bool may_be_short = false,
            bool may_be_interrupted = true) {
    if (!Watched(path) || (error_ == kShort && !may_be_short)) return 0;
    if ((error_ == EINTR && !may_be_interrupted) || left_ <= 0 || --left_ > 0) return 0;
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
  // Without "..", and without slashes at the end or one after the other: as events name a path.
  static std::string Plain(const std::string& path) {
    std::string plain = std::filesystem::path(path).lexically_normal();
    while (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    return plain;
  }

 private:
  std::string directory_;
  int64_t left_ = 0;  // calls up to the one that fails, itself counted
  int error_ = 0;
  FaultMode mode_ = FaultMode::kOnce;
  std::vector<std::string> failed_;
  bool recording_ = false;
  std::vector<Event> events_;
  std::map<int, std::string> paths_;  // of open descriptors of watched files
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
  // The descriptor is closed all the same, as Linux does it.
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
  // The disk is not waited for, which takes most of the time and which no test could tell.
  const int result = fcntl(descriptor, F_GETFD) < 0 ? -1 : 0;
  if (result == 0) calls.Did(SystemCalls::Event::kSync, path);
  return result;
}

// There is a struct of that name too.
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
  if (descriptor >= 0) {  // else it is memory, perhaps for what the next line needs
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
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

// Of std::filesystem, which looks into folders and removes them.
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
  if (const int error = SystemCalls::Get().Fails("unlinkat", SystemCalls::PathAt(folder, name),
                                                 /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  return static_cast<int>(syscall(SYS_unlinkat, folder, name, flags));
}

int remove(const char* path) noexcept {
  using cfile::testing_support::SystemCalls;
  if (const int error = SystemCalls::Get().Fails("remove", path, /*may_be_short=*/false,
                                                 /*may_be_interrupted=*/false)) {
    return cfile::testing_support::FailWith(error);
  }
  const auto result = static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
  if (result == 0 || errno != EISDIR) return result;
  return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
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

// Of what may be replaced, and of folders that may have been.
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
