#include "tools/input/byte_stream.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"

#ifdef CFILE_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

namespace cfile::tools {
namespace {

// The compressed bytes, chunk by chunk, and the decompressed bytes.
class DecompressedStream : public ByteStream {
 public:
  absl::StatusOr<std::string_view> Next() final {
    size_t size = 0;
    while (size == 0) {
      if (rest_.empty() && !ended_) {
        CFILE_ASSIGN_OR_RETURN(rest_, packed_->Next());
        packed_bytes_ += rest_.size();
        ended_ = rest_.empty();
      }
      CFILE_ASSIGN_OR_RETURN(size, Fill());
      if (size == 0 && ended_) {
        if (at_boundary_) break;
        return Error("the compressed data is cut off; get the file again");
      }
    }
    return std::string_view(buffer_.data(), size);
  }

 protected:
  DecompressedStream(std::unique_ptr<ByteStream> packed, std::string name)
      : buffer_(256 << 10, '\0'), name_(std::move(name)), packed_(std::move(packed)) {}

  // Decompresses the front of rest_ into buffer_, and removes it from rest_. Returns the number of
  // bytes in buffer_, and sets at_boundary_. If rest_ is empty, returns output that is still
  // pending.
  virtual absl::StatusOr<size_t> Fill() = 0;

  absl::Status Error(std::string_view message) const {
    return absl::InvalidArgumentError(absl::StrCat(
        name_, ": offset ", offset(), ": ", absl::string_view(message.data(), message.size())));
  }
  uint64_t offset() const { return packed_bytes_ - rest_.size(); }
  const std::string& name() const { return name_; }

  std::string_view rest_;    // of the last compressed chunk
  bool at_boundary_ = true;  // before the first, or after a complete member or frame
  std::string buffer_;

 private:
  const std::string name_;
  const std::unique_ptr<ByteStream> packed_;
  uint64_t packed_bytes_ = 0;  // that packed_ has returned
  bool ended_ = false;         // packed_ has no more bytes
};

#ifdef CFILE_WITH_ZLIB
class GzipStream final : public DecompressedStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string name)
      : DecompressedStream(std::move(packed), std::move(name)) {
    constexpr int kGzipOnly = 16;
    initialized_ = inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  ~GzipStream() override { inflateEnd(&stream_); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

 private:
  absl::StatusOr<size_t> Fill() override {
    if (!initialized_) return absl::ResourceExhaustedError("zlib: out of memory");
    if (at_boundary_ && member_ended_) {
      // Tapes and some disks pad files with zero bytes.
      while (rest_.starts_with('\0')) {
        rest_.remove_prefix(1);
        padded_ = true;
      }
    }
    if (rest_.empty() && at_boundary_) return 0;
    if (padded_ || (at_boundary_ && member_ended_ && !rest_.starts_with('\x1f'))) {
      return Error("bytes after the end of the gzip data");
    }
    at_boundary_ = false;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(rest_.size());
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = static_cast<uInt>(buffer_.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(rest_.size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      at_boundary_ = member_ended_ = true;
      inflateReset(&stream_);
    } else if (result == Z_MEM_ERROR) {
      return absl::ResourceExhaustedError("zlib: out of memory");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return Error(absl::StrCat("damaged gzip data",
                                stream_.msg == nullptr ? "" : absl::StrCat(": ", stream_.msg)));
    }
    return buffer_.size() - stream_.avail_out;
  }

  z_stream stream_ = {};
  bool initialized_ = false;
  bool member_ended_ = false;  // at least one member was complete
  bool padded_ = false;        // zero bytes follow the last member
};
#endif

#ifdef CFILE_WITH_ZSTD
constexpr int kMaxWindowLog = 27;  // 128 MiB

class ZstdStream final : public DecompressedStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> packed, std::string name)
      : DecompressedStream(std::move(packed), std::move(name)), context_(ZSTD_createDCtx()) {
    if (context_ != nullptr) ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdStream() override { ZSTD_freeDCtx(context_); }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

 private:
  absl::StatusOr<size_t> Fill() override {
    if (context_ == nullptr) return absl::ResourceExhaustedError("zstd: out of memory");
    if (rest_.empty() && at_boundary_) return 0;
    ZSTD_inBuffer in = {rest_.data(), rest_.size(), 0};
    ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), 0};
    const size_t result = ZSTD_decompressStream(context_, &out, &in);
    rest_.remove_prefix(in.pos);
    if (ZSTD_isError(result) == 0) {
      at_boundary_ = result == 0;
      return out.pos;
    }
    switch (ZSTD_getErrorCode(result)) {
      case ZSTD_error_memory_allocation:
        return absl::ResourceExhaustedError("zstd: out of memory");
      case ZSTD_error_frameParameter_windowTooLarge:
        return absl::OutOfRangeError(absl::StrCat(
            name(), ": offset ", offset(), ": a zstd window above the limit of ",
            1 << kMaxWindowLog, " bytes; decompress the file first: zstd -d --long=31 ", name()));
      default:
        return Error(absl::StrCat("damaged zstd data: ", ZSTD_getErrorName(result)));
    }
  }

  ZSTD_DCtx* const context_;
};
#endif

}  // namespace

std::string PackingName(Packing packing) {
  assert(packing != Packing::kNone);
  return packing == Packing::kGzip ? "gzip" : "zstd";
}

absl::StatusOr<std::unique_ptr<ByteStream>> Decompress(Packing packing,
                                                       std::unique_ptr<ByteStream> packed,
                                                       std::string name) {
#ifdef CFILE_WITH_ZLIB
  if (packing == Packing::kGzip) {
    return std::make_unique<GzipStream>(std::move(packed), std::move(name));
  }
#endif
#ifdef CFILE_WITH_ZSTD
  if (packing == Packing::kZstd) {
    return std::make_unique<ZstdStream>(std::move(packed), std::move(name));
  }
#endif
  return absl::UnimplementedError(absl::StrCat(name, ": compressed with ", PackingName(packing),
                                               ", which this build does not have; decompress the "
                                               "file first"));
}

}  // namespace cfile::tools
