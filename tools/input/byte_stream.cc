#include "tools/input/byte_stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "absl/strings/str_cat.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr int kMillisecondsBetweenChecks = 1000;

class DescriptorStream final : public ByteStream {
 public:
  DescriptorStream(int descriptor, std::string name, ReadCheck check)
      : descriptor_(descriptor),
        name_(std::move(name)),
        check_(std::move(check)),
        buffer_(kReadBytes, '\0') {}
  ~DescriptorStream() override { close(descriptor_); }
  DescriptorStream(const DescriptorStream&) = delete;
  DescriptorStream& operator=(const DescriptorStream&) = delete;

  absl::StatusOr<std::string_view> Next() override {
    while (true) {
      CFILE_RETURN_IF_ERROR(check_(bytes_read_));
      // A signal whose handler restarts system calls would not end a read that waits.
      pollfd waited = {.fd = descriptor_, .events = POLLIN, .revents = 0};
      ssize_t count = poll(&waited, 1, kMillisecondsBetweenChecks);
      if (count == 0) continue;
      if (count > 0) count = read(descriptor_, buffer_.data(), buffer_.size());
      if (count >= 0) {
        bytes_read_ += static_cast<size_t>(count);
        return std::string_view(buffer_.data(), static_cast<size_t>(count));
      }
      if (errno == EINTR || errno == EAGAIN) continue;
      const int error = errno;
      return absl::ErrnoToStatus(error, absl::StrCat("read ", name_));
    }
  }

 private:
  const int descriptor_;
  const std::string name_;
  const ReadCheck check_;
  std::string buffer_;
  uint64_t bytes_read_ = 0;
};

class SourceStream final : public ByteStream {
 public:
  SourceStream(std::shared_ptr<const Source> source, ReadCheck check)
      : source_(std::move(source)), check_(std::move(check)) {}

  absl::StatusOr<std::string_view> Next() override {
    CFILE_RETURN_IF_ERROR(check_(offset_));
    constexpr uint64_t kPieceBytes = 4 << 20;
    piece_.resize(std::min(kPieceBytes, source_->size() - offset_));
    if (piece_.empty()) return std::string_view();
    CFILE_RETURN_IF_ERROR(
        source_->ReadAt(offset_, {reinterpret_cast<uint8_t*>(piece_.data()), piece_.size()}));
    offset_ += piece_.size();
    return std::string_view(piece_);
  }

 private:
  const std::shared_ptr<const Source> source_;
  const ReadCheck check_;
  uint64_t offset_ = 0;
  std::string piece_;
};

absl::Status FileError(std::string_view action, const std::string& directory) {
  const int error = errno;
  return absl::ErrnoToStatus(error,
                             absl::StrCat(std::string(action), " a temporary file in ", directory,
                                          " (the variable TMPDIR sets another directory)"));
}

class SpooledSource final : public Source {
 public:
  // Creates an empty file. Owns the descriptor of the file.
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

std::unique_ptr<ByteStream> NewDescriptorStream(int descriptor, std::string name, ReadCheck check) {
  return std::make_unique<DescriptorStream>(descriptor, std::move(name), std::move(check));
}

absl::StatusOr<std::unique_ptr<HeadedStream>> HeadedStream::Create(
    std::unique_ptr<ByteStream> stream, size_t min_head_bytes) {
  std::unique_ptr<HeadedStream> headed(new HeadedStream);
  headed->stream_ = std::move(stream);
  while (headed->head_.size() < min_head_bytes && !headed->ended_) {
    CFILE_ASSIGN_OR_RETURN(const std::string_view bytes, headed->stream_->Next());
    headed->head_ += bytes;
    headed->ended_ = bytes.empty();
  }
  return headed;
}

absl::StatusOr<std::string_view> HeadedStream::Next() {
  if (!std::exchange(head_was_read_, true) && !head_.empty()) return head_;
  if (ended_) return std::string_view();
  return stream_->Next();
}

std::unique_ptr<ByteStream> NewSourceStream(std::shared_ptr<const Source> source, ReadCheck check) {
  return std::make_unique<SourceStream>(std::move(source), std::move(check));
}

absl::StatusOr<std::shared_ptr<const Source>> Spool(ByteStream& stream, const std::string& name,
                                                    const SpoolOptions& options) {
  CFILE_ASSIGN_OR_RETURN(auto file, SpooledSource::Create(name, options.directory));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(std::string_view bytes, stream.Next());
    if (options.cut) bytes = bytes.substr(0, options.max_bytes - file->size());
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
