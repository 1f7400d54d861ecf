// Source, and the Sources of files: mapped, or read with pread.
#include "cfile/io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cfile/core/io/file_system.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile {
namespace {

using internal::FileDescriptor;
using internal::SystemError;

struct OpenFile {
  FileDescriptor descriptor;
  uint64_t size;
  dev_t device;
  ino_t inode;
  std::string identity;
};

// Implements Source::identity for a file with this status.
std::string IdentityOf(const struct stat& status) {
  // The system's clock of file times has a step of some milliseconds, and some file systems store
  // whole seconds.
  constexpr int64_t kSettledSeconds = 2;
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return {};
  const timespec& changed = status.st_ctim;
  const bool settled = now.tv_sec - changed.tv_sec > kSettledSeconds;
  if (!settled) return {};
  return StrCat("file:", status.st_dev, ":", status.st_ino, ":", status.st_size, ":",
                changed.tv_sec, ".", changed.tv_nsec);
}

absl::StatusOr<OpenFile> OpenRegularFile(const std::string& path) {
  // O_NONBLOCK: open does not wait for a named pipe, which is rejected below. The flag has no
  // effect on regular files.
  CFILE_ASSIGN_OR_RETURN(FileDescriptor descriptor,
                         FileDescriptor::Open(path, O_RDONLY | O_NONBLOCK));
  struct stat status;
  if (fstat(descriptor.get(), &status) != 0) return SystemError("fstat", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return absl::FailedPreconditionError(
        StrCat(path, ": expected a file, found ",
               S_ISDIR(status.st_mode) ? "a directory" : "something that is not a regular file"));
  }
  return OpenFile{std::move(descriptor), static_cast<uint64_t>(status.st_size), status.st_dev,
                  status.st_ino, IdentityOf(status)};
}

class MappedSource final : public Source {
 public:
  explicit MappedSource(std::string path) : path_(std::move(path)) {}
  ~MappedSource() override {
    if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  }

  // Call once, before all other functions.
  absl::Status Map(const OpenFile& file) {
    identity_ = file.identity;
    if (file.size == 0) return absl::OkStatus();  // mmap refuses a length of 0
    void* begin = mmap(nullptr, file.size, PROT_READ, MAP_SHARED, file.descriptor.get(), 0);
    if (begin == MAP_FAILED) return SystemError("mmap", path_, errno);
    bytes_ = {static_cast<const uint8_t*>(begin), file.size};
    return absl::OkStatus();
  }

  const std::string& name() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  std::string identity() const override { return identity_; }
  std::span<const uint8_t> InMemory() const override { return bytes_; }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    CFILE_ASSERT(offset <= size() && out.size() <= size() - offset);
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return absl::OkStatus();
  }

  // Asks the system to fetch the pages of the bytes, all with one request. Without this call, the
  // first access to one of these pages also reads the pages around it: 128 KiB or more. The system
  // skips pages that are in the page cache. Errors are ignored, since they only cost time.
  void WillRead(uint64_t offset, uint64_t size) const override {
    static const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = offset - offset % page_bytes;
    (void)madvise(const_cast<uint8_t*>(bytes_.data()) + begin, offset - begin + size,
                  MADV_WILLNEED);
  }

 private:
  const std::string path_;
  std::string identity_;
  std::span<const uint8_t> bytes_;
};

class PreadSource final : public Source {
 public:
  PreadSource(std::string path, OpenFile file)
      : path_(std::move(path)), is_brief_(file.descriptor.IsScarce()), file_(std::move(file)) {
    if (is_brief_) close(file_.descriptor.release());
  }

  const std::string& name() const override { return path_; }
  uint64_t size() const override { return file_.size; }
  std::string identity() const override { return file_.identity; }
  // The operating system reads ahead by itself.
  bool HasLatency() const override { return false; }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    CFILE_ASSERT(offset <= size() && out.size() <= size() - offset);
    if (!is_brief_) return Read(file_, offset, out);
    CFILE_ASSIGN_OR_RETURN(const OpenFile again, OpenRegularFile(path_));
    if (again.device != file_.device || again.inode != file_.inode) {
      return absl::AbortedError(StrCat(path_, ": the file was replaced after it was opened"));
    }
    return Read(again, offset, out);
  }

 private:
  absl::Status Read(const OpenFile& file, uint64_t offset, std::span<uint8_t> out) const {
    while (!out.empty()) {
      const ssize_t count =
          pread(file.descriptor.get(), out.data(), out.size(), static_cast<off_t>(offset));
      if (count > 0) {
        out = out.subspan(static_cast<size_t>(count));
        offset += static_cast<size_t>(count);
      } else if (count == 0) {
        return DataLoss(path_, ": had ", file_.size,
                        " bytes when it was opened, now ends before byte ", offset + out.size());
      } else if (errno != EINTR) {
        return SystemError("pread", path_, errno);
      }
    }
    return absl::OkStatus();
  }

  const std::string path_;
  const bool is_brief_;  // the file is open only while it is read
  OpenFile file_;
};

}  // namespace

void Source::ReadMany(std::span<ReadRequest> requests) const {
  for (ReadRequest& request : requests) request.status = ReadAt(request.offset, request.out);
}

std::unique_ptr<PendingRead> Source::BeginRead(uint64_t, std::span<uint8_t>) const {
  CFILE_ASSERT(false && "ReadsInBackground() is false");
  return nullptr;
}

absl::StatusOr<std::shared_ptr<const Source>> OpenMappedSource(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const OpenFile file, OpenRegularFile(path));
  auto source = std::make_shared<MappedSource>(path);
  CFILE_RETURN_IF_ERROR(source->Map(file));
  return source;
}

absl::StatusOr<std::shared_ptr<const Source>> OpenPreadSource(const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(OpenFile file, OpenRegularFile(path));
  return std::make_shared<PreadSource>(path, std::move(file));
}

}  // namespace cfile
