#include "cfile/core/format/compress.h"

#include <cstring>
#include <limits>
#include <memory>

#include "absl/status/statusor.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

#ifdef CFILE_WITH_SNAPPY
#include <snappy.h>
#endif
#ifdef CFILE_WITH_LZ4
#include <lz4.h>
#endif
#ifdef CFILE_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef CFILE_WITH_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef CFILE_WITH_BROTLI
#include <brotli/encode.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile::internal {
namespace {

using encodings::AsString;

struct Compressor {
  Compression compression;
  // The largest size that `size` bytes can have after compression.
  size_t (*max_compressed_size)(size_t size);
  // Compresses `in` into `out`, which has max_compressed_size(in.size()) bytes. Returns the
  // compressed size.
  absl::StatusOr<size_t> (*compress)(std::span<const uint8_t> in, uint8_t* out, int level);
};

size_t SameSize(size_t size) { return size; }
absl::StatusOr<size_t> Copy(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  if (!in.empty()) std::memcpy(out, in.data(), in.size());
  return in.size();
}

#ifdef CFILE_WITH_SNAPPY
absl::StatusOr<size_t> SnappyCompress(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  size_t size;
  snappy::RawCompress(AsString(in).data(), in.size(), reinterpret_cast<char*>(out), &size);
  return size;
}
#endif

#ifdef CFILE_WITH_LZ4
size_t Lz4Bound(size_t size) { return size > LZ4_MAX_INPUT_SIZE ? 0 : LZ4_COMPRESSBOUND(size); }
absl::StatusOr<size_t> Lz4Compress(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  const size_t bound = Lz4Bound(in.size());
  if (bound == 0) {
    return absl::InvalidArgumentError(
        StrCat("LZ4 compresses up to ", LZ4_MAX_INPUT_SIZE, " bytes at a time, not ", in.size()));
  }
  return static_cast<size_t>(LZ4_compress_default(AsString(in).data(), reinterpret_cast<char*>(out),
                                                  static_cast<int>(in.size()),
                                                  static_cast<int>(bound)));
}
#endif

#ifdef CFILE_WITH_ZLIB
// The values of zlib's parameter windowBits for the formats zlib and gzip.
constexpr int kZlibWrapper = MAX_WBITS;
constexpr int kGzipWrapper = MAX_WBITS + 16;

// Creating a stream takes longer than compressing a small block, so each thread keeps its streams.
struct FreeDeflate {
  void operator()(z_stream* stream) const {
    deflateEnd(stream);
    delete stream;
  }
};

// compressBound counts zlib's wrapper of 6 bytes; gzip's has 18.
size_t DeflateBound(size_t size) { return compressBound(size) + 12; }

template <int kWrapper>
absl::StatusOr<size_t> Deflate(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  // A template variable outside of the function would leak: GCC does not destroy it when a thread
  // ends.
  thread_local std::unique_ptr<z_stream, FreeDeflate> stream;
  if (stream == nullptr) {
    auto made = std::make_unique<z_stream>();
    if (deflateInit2(made.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWrapper, /*memLevel=*/8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      return absl::ResourceExhaustedError("no memory for zlib");
    }
    stream.reset(made.release());
  }
  deflateReset(stream.get());
  stream->next_in = const_cast<Bytef*>(in.data());
  stream->avail_in = static_cast<uInt>(in.size());
  stream->next_out = out;
  stream->avail_out = static_cast<uInt>(DeflateBound(in.size()));
  if (deflate(stream.get(), Z_FINISH) != Z_STREAM_END) {
    return absl::InternalError(kWrapper == kGzipWrapper ? "gzip cannot compress"
                                                        : "zlib cannot compress");
  }
  return static_cast<size_t>(stream->next_out - out);
}
#endif

#ifdef CFILE_WITH_LZO
size_t LzoBound(size_t size) { return size + size / 16 + 64 + 3; }

absl::StatusOr<size_t> LzoCompress(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  static const int initialized = lzo_init();
  if (initialized != LZO_E_OK) {
    return absl::InternalError(StrCat("liblzo2 does not fit this build: error ", initialized));
  }
  thread_local const auto memory = std::make_unique<lzo_align_t[]>(
      (LZO1X_1_MEM_COMPRESS + sizeof(lzo_align_t) - 1) / sizeof(lzo_align_t));
  lzo_uint size = 0;
  const int code = lzo1x_1_compress(in.data(), in.size(), out, &size, memory.get());
  if (code != LZO_E_OK) {
    return absl::InternalError(StrCat("LZO cannot compress: error ", code));
  }
  return size;
}
#endif

#ifdef CFILE_WITH_BROTLI
constexpr int kBrotliQuality = 8;  // as in Arrow; Brotli's default, 11, takes 20 times as long

absl::StatusOr<size_t> BrotliCompress(std::span<const uint8_t> in, uint8_t* out, int /*level*/) {
  size_t size = BrotliEncoderMaxCompressedSize(in.size());
  if (!BrotliEncoderCompress(kBrotliQuality, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE, in.size(),
                             in.data(), &size, out)) {
    return absl::ResourceExhaustedError("no memory for Brotli");
  }
  return size;
}
#endif

#ifdef CFILE_WITH_ZSTD
// Creating a context takes longer than compressing a small block, so each thread keeps its context.
struct FreeZstdContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
thread_local std::unique_ptr<ZSTD_CCtx, FreeZstdContext> zstd_compressor;

absl::StatusOr<size_t> ZstdCompress(std::span<const uint8_t> in, uint8_t* out, int level) {
  if (zstd_compressor == nullptr) zstd_compressor.reset(ZSTD_createCCtx());
  if (zstd_compressor == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  const size_t size = ZSTD_compressCCtx(zstd_compressor.get(), out, ZSTD_compressBound(in.size()),
                                        in.data(), in.size(), level);
  if (ZSTD_isError(size)) {
    return absl::InternalError(StrCat("zstd cannot compress: ", ZSTD_getErrorName(size)));
  }
  return size;
}
#endif

// The codecs that are built in.
constexpr Compressor kCompressors[] = {
    {Compression::kNone, SameSize, Copy},
#ifdef CFILE_WITH_SNAPPY
    {Compression::kSnappy, snappy::MaxCompressedLength, SnappyCompress},
#endif
#ifdef CFILE_WITH_LZ4
    {Compression::kLz4, Lz4Bound, Lz4Compress},
#endif
#ifdef CFILE_WITH_ZLIB
    {Compression::kZlib, DeflateBound, Deflate<kZlibWrapper>},
    {Compression::kGzip, DeflateBound, Deflate<kGzipWrapper>},
#endif
#ifdef CFILE_WITH_LZO
    {Compression::kLzo, LzoBound, LzoCompress},
#endif
#ifdef CFILE_WITH_BROTLI
    {Compression::kBrotli, BrotliEncoderMaxCompressedSize, BrotliCompress},
#endif
#ifdef CFILE_WITH_ZSTD
    {Compression::kZstd, ZSTD_compressBound, ZstdCompress},
#endif
};

}  // namespace

absl::Status Compress(Compression compression, std::span<const uint8_t> in,
                      encodings::ByteWriter& out, int level) {
  CFILE_ASSERT(in.size() <= std::numeric_limits<int32_t>::max());
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(compression));
  if (compression == Compression::kDefault) compression = Compression::kNone;
  for (const Compressor& codec : kCompressors) {
    if (codec.compression != compression) continue;
    const size_t size_before = out.size();
    uint8_t* begin = out.Extend(codec.max_compressed_size(in.size()));
    const absl::StatusOr<size_t> size = codec.compress(in, begin, level);
    out.Truncate(size_before + (size.ok() ? *size : 0));
    return size.status();
  }
  return absl::InternalError(
      StrCat(CompressionName(compression), " can only decompress: it is not in kCompressors"));
}

}  // namespace cfile::internal
