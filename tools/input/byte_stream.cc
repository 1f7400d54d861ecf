#include "tools/input/byte_stream.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

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

}  // namespace cfile::tools
