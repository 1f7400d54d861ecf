// The few calls of the operating system that Sources, Sinks and tables share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile::internal {

// "CALL PATH: what the system says", with a code that fits `error` (a value of errno): kNotFound,
// kPermissionDenied, kResourceExhausted, ...; kUnavailable where none does. Never kDataLoss.
absl::Status SystemError(std::string_view call, const std::string& path, int error);

// Owns an open file descriptor. Movable.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileDescriptor();

  // open(2), tried again when a signal interrupts it; close-on-exec is added to `flags`.
  static absl::StatusOr<FileDescriptor> Open(const std::string& path, int flags);

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

// The folder that the file at `path` lies in: "." if it names none.
std::string FolderOf(const std::string& path);

// Makes the entries of `folder` durable: files created, renamed and removed in it.
absl::Status SyncFolder(const std::string& folder);

// kFailedPrecondition, naming `path`: something is there that is no regular file (a folder, a FIFO,
// a device, or a symbolic link to one), which a new file must not replace.
absl::Status CheckReplaceable(const std::string& path);

// What tells a folder from another one that is put at its path: any of these differs, unless the
// second one has got the number of the first and was changed at the same moment.
struct FolderIdentity {
  uint64_t device = 0;
  uint64_t number = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FolderIdentity&, const FolderIdentity&) = default;
};
// The identity of the folder or the file at `path`; nullopt if there is none.
absl::StatusOr<std::optional<FolderIdentity>> IdentityOf(const std::string& path);

// 128 random bits of the system as 32 lower-case hexadecimal digits.
absl::StatusOr<std::string> RandomName();

// Waits until no other holder, in any process, has `folder` locked, and locks it until the
// descriptor is closed; the system does that for a process that dies. Some network file systems
// cannot lock a folder: there this does nothing.
absl::StatusOr<FileDescriptor> LockFolder(const std::string& folder);

}  // namespace cfile::internal
