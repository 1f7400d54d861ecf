#include "cfile/core/format/compression.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "encodings/core/bytes.h"
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
#include <brotli/decode.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile {
namespace {

using encodings::AsString;

// One codec. If the function is null, the codec was not built in and only its name is known.
struct Codec {
  Compression compression;
  std::string_view name;
  // Decompresses `in` and returns its uncompressed size. `out` is filled only if that size is
  // out.size(). kDataLoss if `in` is damaged, or if the uncompressed bytes do not fit into `out`
  // and their number is not known.
  absl::StatusOr<size_t> (*uncompress)(std::span<const uint8_t> in,
                                       std::span<uint8_t> out) = nullptr;
  // The most bytes that one compressed byte can expand to. Limits the memory that is allocated for
  // the size that a file claims. 0: no useful bound.
  uint32_t max_expansion = 0;
  // Time of decompression for each compressed byte (see DecompressionPicoseconds). Each
  // uncompressed byte costs a sixth of this time.
  uint32_t picoseconds = 0;
};

absl::StatusOr<size_t> CopyExactly(std::span<const uint8_t> in, std::span<uint8_t> out) {
  if (in.size() != out.size()) return in.size();
  if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
  return in.size();
}

#ifdef CFILE_WITH_SNAPPY
absl::StatusOr<size_t> SnappyUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  const char* bytes = AsString(in).data();
  size_t size;
  if (!snappy::GetUncompressedLength(bytes, in.size(), &size)) {
    return DataLoss("no length found at the beginning of ", in.size(), " bytes of Snappy data");
  }
  // RawUncompress writes as many bytes as the data claim.
  if (size != out.size()) return size;
  if (!snappy::RawUncompress(bytes, in.size(), reinterpret_cast<char*>(out.data()))) {
    return DataLoss("damaged Snappy data of ", in.size(), " bytes");
  }
  return size;
}
#endif

#ifdef CFILE_WITH_LZ4
absl::StatusOr<size_t> Lz4Uncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  const int size = LZ4_decompress_safe(AsString(in).data(), reinterpret_cast<char*>(out.data()),
                                       static_cast<int>(in.size()), static_cast<int>(out.size()));
  if (size < 0) {
    return DataLoss("damaged LZ4 data of ", in.size(), " bytes, or more than the ", out.size(),
                    " bytes expected in them");
  }
  return static_cast<size_t>(size);
}
#endif

#ifdef CFILE_WITH_ZLIB
// The values of zlib's parameter windowBits for the formats zlib and gzip.
constexpr int kZlibWrapper = MAX_WBITS;
constexpr int kGzipWrapper = MAX_WBITS + 16;
const char* WrapperName(int wrapper) { return wrapper == kGzipWrapper ? "gzip" : "zlib"; }

// Creating a stream takes longer than decompressing a small block, so each thread keeps its stream.
struct FreeInflate {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};
thread_local std::unique_ptr<z_stream, FreeInflate> inflate_stream;

template <int kWrapper>
absl::StatusOr<size_t> Inflate(std::span<const uint8_t> in, std::span<uint8_t> out) {
  if (inflate_stream == nullptr) {
    auto made = std::make_unique<z_stream>();
    if (inflateInit2(made.get(), kWrapper) != Z_OK) {
      return absl::ResourceExhaustedError("no memory for zlib");
    }
    inflate_stream.reset(made.release());
  }
  z_stream* stream = inflate_stream.get();
  uint8_t nothing;  // zlib needs an address even if the size is 0
  uint8_t* begin = out.empty() ? &nothing : out.data();
  stream->next_in = const_cast<Bytef*>(in.data());
  stream->avail_in = static_cast<uInt>(in.size());
  stream->next_out = begin;
  stream->avail_out = static_cast<uInt>(out.size());
  do {  // gzip data may be several members, one after the other (RFC 1952, 2.2)
    inflateReset2(stream, kWrapper);
    const int code = inflate(stream, Z_FINISH);
    if (code == Z_STREAM_END) continue;
    if (code == Z_MEM_ERROR) return absl::ResourceExhaustedError("no memory for zlib");
    std::string_view reason = "they end too early";
    if (code == Z_NEED_DICT) {
      reason = "they need a dictionary";
    } else if (stream->msg != nullptr) {
      reason = stream->msg;
    } else if (stream->avail_out == 0) {
      reason = "they end too early or decompress to more bytes than expected";
    }
    return DataLoss("damaged ", WrapperName(kWrapper), " data of ", in.size(),
                    " bytes, which must decompress to ", out.size(), " bytes: ", reason);
  } while (kWrapper == kGzipWrapper && stream->avail_in > 0);
  if (stream->avail_in > 0) {
    return DataLoss("damaged ", WrapperName(kWrapper), " data of ", in.size(),
                    " bytes: ", stream->avail_in, " bytes follow their end");
  }
  return static_cast<size_t>(stream->next_out - begin);
}
#endif

#ifdef CFILE_WITH_LZO
absl::Status InitLzo() {
  static const int code = lzo_init();
  if (code == LZO_E_OK) return absl::OkStatus();
  return absl::InternalError(StrCat("liblzo2 does not fit this build: error ", code));
}
absl::StatusOr<size_t> LzoUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  CFILE_RETURN_IF_ERROR(InitLzo());
  lzo_uint size = out.size();
  const int code = lzo1x_decompress_safe(in.data(), in.size(), out.data(), &size, nullptr);
  if (code == LZO_E_OK) return size;
  std::string_view reason = "they refer to bytes before the first one";
  if (code == LZO_E_INPUT_OVERRUN || code == LZO_E_EOF_NOT_FOUND) reason = "they end too early";
  if (code == LZO_E_OUTPUT_OVERRUN) reason = "they decompress to more bytes than expected";
  if (code == LZO_E_INPUT_NOT_CONSUMED) reason = "more bytes follow their end";
  return DataLoss("damaged LZO data of ", in.size(), " bytes, which must decompress to ",
                  out.size(), " bytes: ", reason);
}
#endif

#ifdef CFILE_WITH_BROTLI
struct FreeBrotli {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};
absl::StatusOr<size_t> BrotliUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  // BrotliDecoderDecompress would ignore bytes after the end.
  const std::unique_ptr<BrotliDecoderState, FreeBrotli> state(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
  if (state == nullptr) return absl::ResourceExhaustedError("no memory for Brotli");
  const uint8_t* next_in = in.data();
  size_t in_left = in.size();
  uint8_t* next_out = out.data();
  size_t out_left = out.size();
  size_t size = 0;
  const BrotliDecoderResult result =
      BrotliDecoderDecompressStream(state.get(), &in_left, &next_in, &out_left, &next_out, &size);
  if (result == BROTLI_DECODER_RESULT_SUCCESS && in_left == 0) return size;
  std::string_view reason = "more bytes follow their end";
  if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) reason = "they end too early";
  if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
    reason = "they decompress to more bytes than expected";
  }
  if (result == BROTLI_DECODER_RESULT_ERROR) {
    const BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state.get());
    if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
        code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES) {
      return absl::ResourceExhaustedError("no memory for Brotli");
    }
    reason = BrotliDecoderErrorString(code);
  }
  return DataLoss("damaged Brotli data of ", in.size(), " bytes, which must decompress to ",
                  out.size(), " bytes: ", reason);
}
#endif

#ifdef CFILE_WITH_ZSTD
// Creating a context takes longer than decompressing a small block, so each thread keeps its
// context.
struct FreeZstdContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
thread_local std::unique_ptr<ZSTD_DCtx, FreeZstdContext> zstd_decompressor;

absl::StatusOr<size_t> ZstdUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  if (zstd_decompressor == nullptr) zstd_decompressor.reset(ZSTD_createDCtx());
  if (zstd_decompressor == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  const size_t size =
      ZSTD_decompressDCtx(zstd_decompressor.get(), out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(size)) {
    return DataLoss("damaged zstd data of ", in.size(), " bytes: ", ZSTD_getErrorName(size));
  }
  return size;
}
#endif

// All codecs with a number in the format.
constexpr Codec kCodecs[] = {
    {Compression::kNone, "none", CopyExactly, 1, 0},
#ifdef CFILE_WITH_SNAPPY
    {Compression::kSnappy, "snappy", SnappyUncompress, 22, 360},
#else
    {Compression::kSnappy, "snappy"},
#endif
#ifdef CFILE_WITH_LZ4
    {Compression::kLz4, "lz4", Lz4Uncompress, 255, 360},
#else
    {Compression::kLz4, "lz4"},
#endif
#ifdef CFILE_WITH_ZLIB
    {Compression::kZlib, "zlib", Inflate<kZlibWrapper>, 1032, 8000},
    {Compression::kGzip, "gzip", Inflate<kGzipWrapper>, 1032, 8000},
#else
    {Compression::kZlib, "zlib"},
    {Compression::kGzip, "gzip"},
#endif
#ifdef CFILE_WITH_LZO
    {Compression::kLzo, "lzo", LzoUncompress, 255, 500},
#else
    {Compression::kLzo, "lzo"},
#endif
#ifdef CFILE_WITH_BROTLI
    // No bound: a few bytes can expand to any number of bytes.
    {Compression::kBrotli, "brotli", BrotliUncompress, 0, 3000},
#else
    {Compression::kBrotli, "brotli"},
#endif
#ifdef CFILE_WITH_ZSTD
    {Compression::kZstd, "zstd", ZstdUncompress, 65536, 1500},
#else
    {Compression::kZstd, "zstd"},
#endif
};

const Codec* FindCodec(Compression compression) {
  if (compression == Compression::kDefault) compression = Compression::kNone;
  for (const Codec& codec : kCodecs) {
    if (codec.compression == compression) return &codec;
  }
  return nullptr;
}

absl::StatusOr<const Codec*> FindBuiltInCodec(Compression compression) {
  const Codec* codec = FindCodec(compression);
  if (codec != nullptr && codec->uncompress != nullptr) return codec;
  return absl::UnimplementedError(StrCat("compression codec ", CompressionName(compression),
                                         " was not built into this library"));
}

}  // namespace

namespace internal {

uint64_t DecompressionPicoseconds(Compression compression, uint64_t compressed_size,
                                  uint64_t uncompressed_size) {
  const Codec* codec = FindCodec(compression);
  const uint64_t picoseconds = codec == nullptr ? 0 : codec->picoseconds;
  return picoseconds * compressed_size + picoseconds * uncompressed_size / 6;
}

absl::Status CheckUncompressedSize(Compression compression, size_t compressed_size,
                                   size_t uncompressed_size) {
  const Codec* codec = FindCodec(compression);
  if (codec == nullptr || codec->max_expansion == 0 ||
      uncompressed_size / codec->max_expansion <= compressed_size) {
    return absl::OkStatus();
  }
  return DataLoss(uncompressed_size, " bytes expected after decompression with ", codec->name,
                  ", but ", compressed_size, " compressed bytes cannot expand to so many");
}

absl::Status Uncompress(Compression compression, std::span<const uint8_t> in,
                        std::span<uint8_t> out) {
  CFILE_ASSIGN_OR_RETURN(const Codec* codec, FindBuiltInCodec(compression));
  if (std::max(in.size(), out.size()) > std::numeric_limits<int32_t>::max()) {
    return DataLoss("cannot decompress ", in.size(), " bytes to ", out.size(), " with ",
                    codec->name, ": a block has at most 2^31 - 1 bytes");
  }
  CFILE_ASSIGN_OR_RETURN(const size_t size, codec->uncompress(in, out));
  if (size == out.size()) return absl::OkStatus();
  return DataLoss(out.size(), " bytes expected after decompression with ", codec->name, ", found ",
                  size);
}

}  // namespace internal

std::vector<Compression> AllCompressions() {
  std::vector<Compression> all;
  for (const Codec& codec : kCodecs) all.push_back(codec.compression);
  return all;
}

std::string CompressionName(Compression compression) {
  const Codec* codec = FindCodec(compression);
  if (codec != nullptr) return std::string(codec->name);
  return StrCat("compression ", static_cast<uint32_t>(compression));
}

absl::StatusOr<Compression> ParseCompression(std::string_view name) {
  if (name == "auto") return Compression::kDefault;
  std::string names = " auto";
  for (const Codec& codec : kCodecs) {
    if (codec.name == name) {
      CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(codec.compression));
      return codec.compression;
    }
    if (codec.uncompress != nullptr) absl::StrAppend(&names, " ", std::string(codec.name));
  }
  return absl::InvalidArgumentError(
      StrCat("\"", name, "\" is not a compression codec; expected one of:", names));
}

absl::Status CheckCompressionBuiltIn(Compression compression) {
  return FindBuiltInCodec(compression).status();
}

}  // namespace cfile
