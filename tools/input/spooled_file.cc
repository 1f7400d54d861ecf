#include "tools/input/byte_stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

absl::Status FileError(std::string_view action, const std::string& directory) {
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             absl::StrCat(std::string(action), " a temporary file in ", directory,
                                          " (the variable TMPDIR sets another directory)"));
}

class SpooledSource final : public Source {
 public:
  // Creates an empty file. Owns the descriptor.
  static absl::StatusOr<std::shared_ptr<SpooledSource>> Create(const std::string& name,
                                                               const std::string& directory) {
    // mkostemp replaces the six letters X by a unique text.
    std::string path = absl::StrCat(directory, "/.cfile-import-", std::string(6, 'X'));
    const int descriptor = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) return FileError("create", directory);
    unlink(path.c_str());
    return std::shared_ptr<SpooledSource>(new SpooledSource(descriptor, name, directory));
  }
  ~SpooledSource() override {
    if (mapped_ != nullptr) munmap(mapped_, size_);
    close(descriptor_);
  }
  SpooledSource(const SpooledSource&) = delete;
  SpooledSource& operator=(const SpooledSource&) = delete;

  absl::Status Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return FileError("write", directory_);
      size_ += static_cast<size_t>(count);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return absl::OkStatus();
  }

  absl::Status Map() {
    if (size_ == 0) return absl::OkStatus();
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) return FileError("map", directory_);
    mapped_ = mapped;
    return absl::OkStatus();
  }

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return size_; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    while (!out.empty()) {
      const ssize_t count = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return FileError("read", directory_);
      if (count == 0)
        return absl::DataLossError(absl::StrCat(name_, ": the temporary file is cut"));
      offset += static_cast<uint64_t>(count);
      out = out.subspan(static_cast<size_t>(count));
    }
    return absl::OkStatus();
  }
  std::span<const uint8_t> InMemory() const override {
    return {static_cast<const uint8_t*>(mapped_), mapped_ == nullptr ? 0 : size_};
  }

 private:
  SpooledSource(int descriptor, std::string name, std::string directory)
      : descriptor_(descriptor), name_(std::move(name)), directory_(std::move(directory)) {}

  const int descriptor_;
  const std::string name_;
  const std::string directory_;
  size_t size_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Source>> Spool(ByteStream& stream, const std::string& name,
                                                    const SpoolOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto file, SpooledSource::Create(name, options.directory));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const std::string_view bytes, stream.Next());
    if (bytes.empty()) break;
    if (bytes.size() > options.max_bytes - file->size()) {
      return absl::OutOfRangeError(absl::StrCat(name, ": more than ", options.max_bytes,
                                                " bytes of text: raise --max-input-bytes"));
    }
    CFILE_RETURN_IF_ERROR(file->Append(bytes));
  }
  if (options.map) CFILE_RETURN_IF_ERROR(file->Map());
  return file;
}

}  // namespace cfile::tools
