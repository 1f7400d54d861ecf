// The Sink of a file. The file has a temporary name until it is complete.
#include "cfile/io.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "cfile/core/io/file_system.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::FileDescriptor;
using internal::SystemError;

constexpr std::string_view kTemporarySuffix = ".cfile-tmp";
// All writes but the last one begin and end at multiples of this size in the file.
// Linux then needs less time, because it keeps such a write in a few large pages.
constexpr size_t kBufferBytes = 256 * 1024;

// Renames a file unless something is at `to` (errno is then EEXIST).
int RenameNew(const char* from, const char* to) {
#ifdef RENAME_NOREPLACE
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  // Network file systems have no such call, but hard links.
  if (errno != EINVAL && errno != ENOSYS) return -1;
#endif
  if (link(from, to) == 0) {
    unlink(from);  // if this fails, a temporary file stays
    return 0;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return -1;
  // There are no hard links either. Take the place with an empty file, and replace it.
  const int place = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (place < 0) return -1;
  close(place);
  const int result = rename(from, to);
  if (result != 0) unlink(to);
  return result;
}

class FileSink final : public Sink {
 public:
  FileSink(std::string path, ExistingFile existing, bool syncs_folder)
      : path_(std::move(path)),
        existing_(existing),
        syncs_folder_(syncs_folder),
        buffer_(new uint8_t[kBufferBytes]) {}

  ~FileSink() override {
    if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
  }

  // Creates the temporary file. Call first; may be called again after an error. Nothing is
  // allocated after the file exists, because a failed allocation could leave the file behind.
  absl::Status Open(std::string temporary_path) {
    CFILE_ASSIGN_OR_RETURN(descriptor_,
                           FileDescriptor::Open(temporary_path, O_WRONLY | O_CREAT | O_EXCL));
    temporary_path_ = std::move(temporary_path);
    is_brief_ = descriptor_.IsScarce();
    return is_brief_ ? Close() : absl::OkStatus();
  }

  const std::string& name() const override { return path_; }

  absl::Status Append(std::span<const uint8_t> bytes) override {
    if (buffered_ > 0 && bytes.size() >= kBufferBytes - buffered_) {
      const auto head = bytes.first(kBufferBytes - buffered_);
      bytes = bytes.subspan(head.size());
      AddToBuffer(head);
      CFILE_RETURN_IF_ERROR(Flush());
    }
    if (bytes.size() >= kBufferBytes) {
      const auto whole = bytes.first(bytes.size() / kBufferBytes * kBufferBytes);
      bytes = bytes.subspan(whole.size());
      CFILE_RETURN_IF_ERROR(Write(whole));
    }
    AddToBuffer(bytes);
    return absl::OkStatus();
  }

  absl::Status Finish() override {
    CFILE_RETURN_IF_ERROR(Flush());
    CFILE_RETURN_IF_ERROR(OpenAgain());
    if (fsync(descriptor_.get()) != 0) return SystemError("fsync", temporary_path_, errno);
    CFILE_RETURN_IF_ERROR(Close());
    const std::string folder = internal::FolderOf(path_);
    // Check again: a FIFO, for example, may have been created at the path meanwhile.
    CFILE_RETURN_IF_ERROR(internal::CheckReplaceable(path_));
    const int renamed = existing_ == ExistingFile::kReplaced
                            ? rename(temporary_path_.c_str(), path_.c_str())
                            : RenameNew(temporary_path_.c_str(), path_.c_str());
    if (renamed != 0) return SystemError("rename to", path_, errno);
    temporary_path_.clear();
    if (!syncs_folder_) return absl::OkStatus();
    const absl::Status synced = internal::SyncFolder(folder);
    return synced.ok() ? synced : absl::InternalError(synced.message());
  }

 private:
  void AddToBuffer(std::span<const uint8_t> bytes) {
    if (!bytes.empty()) std::memcpy(buffer_.get() + buffered_, bytes.data(), bytes.size());
    buffered_ += bytes.size();
  }

  absl::Status Flush() { return Write({buffer_.get(), std::exchange(buffered_, 0)}); }

  absl::Status OpenAgain() {
    if (!is_brief_) return absl::OkStatus();
    CFILE_ASSIGN_OR_RETURN(descriptor_, FileDescriptor::Open(temporary_path_, O_WRONLY | O_APPEND));
    return absl::OkStatus();
  }

  absl::Status Close() {
    // No retry after EINTR: Linux has closed the descriptor even then.
    if (close(descriptor_.release()) == 0 || errno == EINTR) return absl::OkStatus();
    return SystemError("close", temporary_path_, errno);
  }

  absl::Status Write(std::span<const uint8_t> bytes) {
    if (bytes.empty()) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(OpenAgain());
    while (!bytes.empty()) {
      const ssize_t count = write(descriptor_.get(), bytes.data(), bytes.size());
      if (count >= 0) {
        bytes = bytes.subspan(static_cast<size_t>(count));
      } else if (errno != EINTR) {
        return SystemError("write", temporary_path_, errno);
      }
    }
    return is_brief_ ? Close() : absl::OkStatus();
  }

  const std::string path_;
  const ExistingFile existing_;
  const bool syncs_folder_;
  std::string temporary_path_;  // path of the temporary file while it exists
  FileDescriptor descriptor_;
  bool is_brief_ = false;  // the file is open only while it is written
  const std::unique_ptr<uint8_t[]> buffer_;
  size_t buffered_ = 0;
};

absl::StatusOr<std::unique_ptr<Sink>> NewSink(const std::string& path, ExistingFile existing,
                                              bool syncs_folder) {
  static std::atomic<uint64_t> counter = 0;
  const std::string file_name = path.substr(path.rfind('/') + 1);
  if (file_name.empty()) {
    return absl::InvalidArgumentError(StrCat("\"", path, "\" is not the path of a file"));
  }
  CFILE_RETURN_IF_ERROR(internal::CheckReplaceable(path));
  // The name is cut, so that the temporary name stays within the file system's limit of 255 bytes.
  const std::string prefix =
      StrCat(internal::FolderOf(path), "/.", file_name.substr(0, 200), ".", getpid(), "-");
  auto sink = std::make_unique<FileSink>(path, existing, syncs_folder);
  while (true) {
    absl::Status status = sink->Open(StrCat(prefix, counter.fetch_add(1), kTemporarySuffix));
    if (status.ok()) return sink;
    // The name belongs to a killed process with the same process id: try the next name.
    if (!absl::IsAlreadyExists(status)) return status;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sink>> NewFileSink(const std::string& path, ExistingFile existing) {
  return NewSink(path, existing, /*syncs_folder=*/true);
}

absl::StatusOr<std::unique_ptr<Sink>> internal::NewUnsyncedFileSink(const std::string& path) {
  return NewSink(path, ExistingFile::kReplaced, /*syncs_folder=*/false);
}

std::string_view internal::FinalNameOf(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(kTemporarySuffix)) return "";
  name.remove_suffix(kTemporarySuffix.size());
  for (const char separator : {'-', '.'}) {
    const size_t end = name.find_last_not_of("0123456789");
    if (end == name.npos || end + 1 == name.size() || name[end] != separator) return "";
    name = name.substr(0, end);
  }
  return name.substr(std::min<size_t>(name.size(), 1));
}

bool IsTemporaryFileName(const std::string& name) { return !internal::FinalNameOf(name).empty(); }

}  // namespace cfile
