
#include "tools/dump/row_text.h"

#include <algorithm>
#include <limits>
#include <span>

#include "absl/strings/str_cat.h"

#ifdef CFILE_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile::tools {
namespace {

class PackingSink : public Sink {
 public:
  explicit PackingSink(std::unique_ptr<Sink> packed)
      : buffer_(256 << 10), packed_(std::move(packed)) {}
  const std::string& name() const final { return packed_->name(); }
  absl::Status Append(std::span<const uint8_t> bytes) final { return Pack(bytes, /*end=*/false); }
  absl::Status Finish() final {
    CFILE_RETURN_IF_ERROR(Pack({}, /*end=*/true));
    return packed_->Finish();
  }

 protected:
  // Compresses `bytes` and, with `end`, writes the end of the compressed data.
  virtual absl::Status Pack(std::span<const uint8_t> bytes, bool end) = 0;
  absl::Status Write(size_t size) { return packed_->Append(std::span(buffer_).first(size)); }

  std::vector<uint8_t> buffer_;

 private:
  const std::unique_ptr<Sink> packed_;
};

#ifdef CFILE_WITH_ZLIB
class GzipSink final : public PackingSink {
 public:
  explicit GzipSink(std::unique_ptr<Sink> packed) : PackingSink(std::move(packed)) {
    constexpr int kGzip = 16, kMemory = 8;
    initialized_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip,
                                kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipSink() override { deflateEnd(&stream_); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

 private:
  absl::Status Pack(std::span<const uint8_t> bytes, bool end) override {
    if (!initialized_) return absl::ResourceExhaustedError("zlib: out of memory");
    do {
      const size_t size = std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      stream_.next_in = const_cast<Bytef*>(bytes.data());
      stream_.avail_in = static_cast<uInt>(size);
      bytes = bytes.subspan(size);
      do {
        stream_.next_out = buffer_.data();
        stream_.avail_out = static_cast<uInt>(buffer_.size());
        deflate(&stream_, end && bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        CFILE_RETURN_IF_ERROR(Write(buffer_.size() - stream_.avail_out));
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return absl::OkStatus();
  }

  z_stream stream_ = {};
  bool initialized_ = false;
};
#endif

#ifdef CFILE_WITH_ZSTD
class ZstdSink final : public PackingSink {
 public:
  explicit ZstdSink(std::unique_ptr<Sink> packed)
      : PackingSink(std::move(packed)), stream_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

 private:
  absl::Status Pack(std::span<const uint8_t> bytes, bool end) override {
    if (stream_ == nullptr) return absl::ResourceExhaustedError("zstd: out of memory");
    ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
    size_t rest = 0;
    do {
      ZSTD_outBuffer out = {buffer_.data(), buffer_.size(), 0};
      rest = ZSTD_compressStream2(stream_.get(), &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(rest) != 0) {
        return absl::ResourceExhaustedError(absl::StrCat("zstd: ", ZSTD_getErrorName(rest)));
      }
      CFILE_RETURN_IF_ERROR(Write(out.pos));
    } while (in.pos < in.size || (end && rest > 0));
    return absl::OkStatus();
  }

  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> stream_;
};
#endif

}  // namespace

absl::StatusOr<std::unique_ptr<Sink>> CompressedSink(const std::string& place,
                                                     std::unique_ptr<Sink> sink) {
  [[maybe_unused]] const auto lacks = [&](const char* codec) {
    return absl::UnimplementedError(absl::StrCat(place, ": this build has no ", codec));
  };
  if (place.ends_with(".gz")) {
#ifdef CFILE_WITH_ZLIB
    return std::make_unique<GzipSink>(std::move(sink));
#else
    return lacks("zlib");
#endif
  }
  if (place.ends_with(".zst")) {
#ifdef CFILE_WITH_ZSTD
    return std::make_unique<ZstdSink>(std::move(sink));
#else
    return lacks("zstd");
#endif
  }
  return sink;
}

}  // namespace cfile::tools
