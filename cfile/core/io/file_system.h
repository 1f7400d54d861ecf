// The operating system calls that Sources, Sinks and tables share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile {
class Sink;  // cfile/io.h
}  // namespace cfile

namespace cfile::internal {

// Returns an error with the message "CALL PATH: what the system says". `error`, a value of errno,
// determines the code: for example kNotFound, kPermissionDenied or kResourceExhausted, and
// kUnavailable if no other fits. Never kDataLoss, kAborted, kOutOfRange or kUnimplemented, which
// have another meaning in this library.
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

  // Calls open(2) and retries if a signal interrupts it. Adds close-on-exec to `flags`.
  static absl::StatusOr<FileDescriptor> Open(const std::string& path, int flags);

  // True if probably half of the descriptors that the process may have are in use. Do not keep this
  // one then: a table may have more columns than a process may have descriptors.
  bool IsScarce() const;

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

// The folder of the file at `path`; "." if `path` names no folder.
std::string FolderOf(const std::string& path);

// Makes changes of the entries of `folder` durable: created, renamed and removed files.
absl::Status SyncFolder(const std::string& folder);

// Like NewFileSink (cfile/io.h), but Finish does not sync the folder: after a crash, the file may
// be missing. The caller must call SyncFolder.
absl::StatusOr<std::unique_ptr<Sink>> NewUnsyncedFileSink(const std::string& path);

// kFailedPrecondition, naming `path`, if a new file at `path` would replace something other than a
// regular file: a folder, a FIFO, a socket, a device, or a symbolic link to one of these.
absl::Status CheckReplaceable(const std::string& path);

// Distinguishes a file from a later file with the same path: they compare equal only if their inode
// numbers, their sizes and the times of their last changes are the same.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t number = 0;
  uint64_t size_bytes = 0;
  int64_t changed_s = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// The identity of the file or the folder at `path`; nullopt if nothing is at `path`.
absl::StatusOr<std::optional<FileIdentity>> IdentityOf(const std::string& path);

// Returns a name: `prefix`, 128 random bits from the operating system as lower-case hexadecimal
// digits, and `suffix`.
absl::StatusOr<std::string> RandomName(std::string_view prefix = "", std::string_view suffix = "");
// True for names that RandomName may return.
bool IsRandomName(std::string_view name, std::string_view prefix = "",
                  std::string_view suffix = "");

// Returns the name that a temporary file of NewFileSink will get. "" if `name` is not the name of
// such a file. Only the first 200 bytes of long names are returned.
std::string_view FinalNameOf(std::string_view name);

// A lock on a file, which no other thread or process can lock until this object is destroyed or the
// process dies. Movable.
//
// Uses flock(2), which all Unix systems have, unlike the locks of fcntl(2) on open files. The lock
// belongs to the open file, so threads of one process exclude each other; a POSIX lock would end
// when any descriptor of the file is closed. Over NFS, Linux turns it into a lock that other
// machines respect. kFailedPrecondition: the file system has no such locks.
class FileLock {
 public:
  // Creates the file at `path` if there is none, and waits for its lock.
  static absl::StatusOr<FileLock> Acquire(std::string path);
  FileLock(FileLock&&) noexcept = default;
  // Removes the file, so that it exists only while it is locked, or after a crash.
  ~FileLock();

 private:
  FileLock(std::string path, FileDescriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  FileDescriptor descriptor_;  // without a descriptor after a move
};

}  // namespace cfile::internal
