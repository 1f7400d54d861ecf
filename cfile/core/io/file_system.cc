#include "cfile/core/io/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/escaping.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The status of the file at `path`, following symbolic links; nullopt if nothing is there.
absl::StatusOr<std::optional<struct stat>> Stat(const std::string& path) {
  struct stat found;
  if (fstatat(AT_FDCWD, path.c_str(), &found, 0) == 0) return found;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  return SystemError("stat", path, errno);
}

}  // namespace

absl::Status SystemError(std::string_view call, const std::string& path, int error) {
  const absl::Status status = absl::ErrnoToStatus(error, StrCat(call, " ", path));
  switch (status.code()) {
    case absl::StatusCode::kUnknown:  // for example an error of the disk; the bytes may be intact
    case absl::StatusCode::kAborted:  // means that nothing has been changed (Storage::Commit)
    case absl::StatusCode::kOutOfRange:     // means that a limit is exceeded
    case absl::StatusCode::kUnimplemented:  // means that a feature is unknown
      return absl::UnavailableError(status.message());
    default:
      return status;
  }
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool FileDescriptor::IsScarce() const {
  rlimit limit = {};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
         static_cast<rlim_t>(descriptor_) > limit.rlim_cur / 2;
}

absl::StatusOr<FileDescriptor> FileDescriptor::Open(const std::string& path, int flags) {
  int descriptor;
  do {
    descriptor = open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return SystemError("open", path, errno);
  return FileDescriptor(descriptor);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash == 0 ? 1 : slash);
}

absl::Status SyncFolder(const std::string& folder) {
  CFILE_ASSIGN_OR_RETURN(const FileDescriptor descriptor,
                         FileDescriptor::Open(folder, O_RDONLY | O_DIRECTORY));
  // EINVAL: the file system cannot sync folders, so there is nothing to wait for.
  if (fsync(descriptor.get()) != 0 && errno != EINVAL) return SystemError("fsync", folder, errno);
  return absl::OkStatus();
}

absl::Status CheckReplaceable(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const std::optional<struct stat> found, Stat(path));
  if (!found.has_value() || S_ISREG(found->st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(path, " is a ",
                                              S_ISDIR(found->st_mode)    ? "directory"
                                              : S_ISFIFO(found->st_mode) ? "FIFO"
                                              : S_ISSOCK(found->st_mode) ? "socket"
                                                                         : "device",
                                              ": a new file can only replace a file"));
}

absl::StatusOr<std::optional<FileIdentity>> IdentityOf(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const std::optional<struct stat> found, Stat(path));
  if (!found.has_value()) return std::nullopt;
  return FileIdentity{.device = found->st_dev,
                      .number = found->st_ino,
                      .size_bytes = static_cast<uint64_t>(found->st_size),
                      .changed_s = found->st_mtim.tv_sec,
                      .changed_ns = found->st_mtim.tv_nsec};
}

absl::StatusOr<std::string> RandomName(std::string_view prefix, std::string_view suffix) {
  char bytes[16];
  ssize_t size;
  do {
    size = getrandom(bytes, sizeof bytes, 0);
  } while (size < 0 && errno == EINTR);
  // A request this small is never answered in part.
  if (size != sizeof bytes) return SystemError("getrandom", "for a name", errno);
  return StrCat(prefix, absl::BytesToHexString({bytes, sizeof bytes}), suffix);
}

bool IsRandomName(std::string_view name, std::string_view prefix, std::string_view suffix) {
  constexpr size_t kDigits = 32;
  return name.size() == prefix.size() + kDigits + suffix.size() && name.starts_with(prefix) &&
         name.ends_with(suffix) &&
         name.substr(prefix.size(), kDigits).find_first_not_of("0123456789abcdef") == name.npos;
}

FileLock::~FileLock() {
  // If unlink fails, the file stays, and can be locked again.
  if (descriptor_.get() >= 0) unlink(path_.c_str());
}

absl::StatusOr<FileLock> FileLock::Acquire(std::string path) {
  while (true) {
    // NFS locks only files that are open for writing.
    CFILE_ASSIGN_OR_RETURN(FileDescriptor descriptor, FileDescriptor::Open(path, O_RDWR | O_CREAT));
    int result;
    do {
      result = flock(descriptor.get(), LOCK_EX);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
      const int error = errno;
      const absl::Status status = SystemError("flock", path, error);
      if (error != ENOLCK && error != EOPNOTSUPP && error != ENOSYS) return status;
      return absl::FailedPreconditionError(
          StrCat(status.message(),
                 ": without locks of files (flock), writers would lose each other's commits"));
    }
    // The previous holder of the lock may have removed the file, so that no other process can find
    // it.
    struct stat locked;
    if (fstat(descriptor.get(), &locked) != 0) return SystemError("fstat", path, errno);
    CFILE_ASSIGN_OR_RETURN(const std::optional<struct stat> found, Stat(path));
    if (found.has_value() && found->st_dev == locked.st_dev && found->st_ino == locked.st_ino) {
      // Allocates no memory, so it cannot fail and leave the file behind.
      return FileLock(std::move(path), std::move(descriptor));
    }
  }
}

}  // namespace cfile::internal
