#include "cfile/internal/file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "encodings/status.h"

namespace cfile::internal {

absl::Status SystemError(std::string_view call, const std::string& path, int error) {
  const absl::Status status =
      absl::ErrnoToStatus(error, absl::StrCat(std::string(call), " ", path));
  // An error of the disk, say: the bytes may well be whole.
  if (status.code() != absl::StatusCode::kUnknown) return status;
  return absl::UnavailableError(status.message());
}

FileDescriptor::~FileDescriptor() {
  if (descriptor_ >= 0) close(descriptor_);
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
  // EINVAL: a file system that has no such call for folders, and so nothing to wait for.
  if (fsync(descriptor.get()) != 0 && errno != EINVAL) return SystemError("fsync", folder, errno);
  return absl::OkStatus();
}

absl::StatusOr<FileDescriptor> LockFolder(const std::string& folder) {
  CFILE_ASSIGN_OR_RETURN(FileDescriptor descriptor,
                         FileDescriptor::Open(folder, O_RDONLY | O_DIRECTORY));
  int result;
  do {
    result = flock(descriptor.get(), LOCK_EX);
  } while (result != 0 && errno == EINTR);
  // EBADF: NFS locks only what is open for writing.
  if (result != 0 && errno != EBADF && errno != ENOLCK && errno != EOPNOTSUPP) {
    return SystemError("flock", folder, errno);
  }
  return descriptor;
}

}  // namespace cfile::internal
