#include "cfile/internal/compression.h"

#include <cassert>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "encodings/status.h"

#ifdef CFILE_WITH_SNAPPY
#include <snappy.h>
#endif
#ifdef CFILE_WITH_ZSTD
#include <zstd.h>
#endif

namespace cfile {
namespace {

using encodings::AsString;
using encodings::DataLoss;

// One codec. Without functions: a name that this build can only report.
struct Codec {
  Compression compression;
  std::string_view name;
  // The most bytes that `size` bytes may become.
  size_t (*max_compressed_size)(size_t size) = nullptr;
  // Compresses into max_compressed_size(in.size()) bytes at `out` and returns how many it took.
  absl::StatusOr<size_t> (*compress)(std::span<const uint8_t> in, uint8_t* out) = nullptr;
  absl::Status (*uncompress)(std::span<const uint8_t> in, std::span<uint8_t> out) = nullptr;
};

absl::Status CheckSize(size_t found, std::span<uint8_t> expected) {
  if (found == expected.size()) return absl::OkStatus();
  return DataLoss(expected.size(), " bytes expected after decompression, found ", found);
}

size_t SameSize(size_t size) { return size; }
absl::StatusOr<size_t> Copy(std::span<const uint8_t> in, uint8_t* out) {
  if (!in.empty()) std::memcpy(out, in.data(), in.size());
  return in.size();
}
absl::Status CopyExactly(std::span<const uint8_t> in, std::span<uint8_t> out) {
  CFILE_RETURN_IF_ERROR(CheckSize(in.size(), out));
  return Copy(in, out.data()).status();
}

#ifdef CFILE_WITH_SNAPPY
absl::StatusOr<size_t> SnappyCompress(std::span<const uint8_t> in, uint8_t* out) {
  size_t size;
  snappy::RawCompress(AsString(in).data(), in.size(), reinterpret_cast<char*>(out), &size);
  return size;
}
absl::Status SnappyUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  const char* bytes = AsString(in).data();
  size_t size;
  if (!snappy::GetUncompressedLength(bytes, in.size(), &size)) {
    return DataLoss("no length found at the beginning of ", in.size(), " bytes of Snappy data");
  }
  // RawUncompress writes up to as many bytes as the data say.
  CFILE_RETURN_IF_ERROR(CheckSize(size, out));
  if (!snappy::RawUncompress(bytes, in.size(), reinterpret_cast<char*>(out.data()))) {
    return DataLoss("damaged Snappy data of ", in.size(), " bytes");
  }
  return absl::OkStatus();
}
#endif

#ifdef CFILE_WITH_ZSTD
// Contexts take longer to make than a block to compress, so each thread keeps its own.
struct FreeZstdContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
thread_local std::unique_ptr<ZSTD_CCtx, FreeZstdContext> zstd_compressor;
thread_local std::unique_ptr<ZSTD_DCtx, FreeZstdContext> zstd_decompressor;

absl::StatusOr<size_t> ZstdCompress(std::span<const uint8_t> in, uint8_t* out) {
  if (zstd_compressor == nullptr) zstd_compressor.reset(ZSTD_createCCtx());
  if (zstd_compressor == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  const size_t size = ZSTD_compressCCtx(zstd_compressor.get(), out, ZSTD_compressBound(in.size()),
                                        in.data(), in.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) {
    return absl::InternalError(absl::StrCat("zstd cannot compress: ", ZSTD_getErrorName(size)));
  }
  return size;
}
absl::Status ZstdUncompress(std::span<const uint8_t> in, std::span<uint8_t> out) {
  if (zstd_decompressor == nullptr) zstd_decompressor.reset(ZSTD_createDCtx());
  if (zstd_decompressor == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  const size_t size =
      ZSTD_decompressDCtx(zstd_decompressor.get(), out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(size)) {
    return DataLoss("damaged zstd data of ", in.size(), " bytes: ", ZSTD_getErrorName(size));
  }
  return CheckSize(size, out);
}
#endif

// All codecs with a number in the format.
constexpr Codec kCodecs[] = {
    {Compression::kNone, "none", SameSize, Copy, CopyExactly},
#ifdef CFILE_WITH_SNAPPY
    {Compression::kSnappy, "snappy", snappy::MaxCompressedLength, SnappyCompress, SnappyUncompress},
#else
    {Compression::kSnappy, "snappy"},
#endif
    {Compression::kLz4, "lz4"},
    {Compression::kZlib, "zlib"},
    {Compression::kGzip, "gzip"},
    {Compression::kLzo, "lzo"},
    {Compression::kBrotli, "brotli"},
#ifdef CFILE_WITH_ZSTD
    {Compression::kZstd, "zstd", ZSTD_compressBound, ZstdCompress, ZstdUncompress},
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
  if (codec != nullptr && codec->compress != nullptr) return codec;
  return absl::UnimplementedError(absl::StrCat("compression codec ", CompressionName(compression),
                                               " was not built into this library"));
}

}  // namespace

namespace internal {

absl::Status Compress(Compression compression, std::span<const uint8_t> in,
                      encodings::ByteWriter& out) {
  assert(in.size() <= std::numeric_limits<int32_t>::max());
  CFILE_ASSIGN_OR_RETURN(const Codec* codec, FindBuiltInCodec(compression));
  const size_t size_before = out.size();
  uint8_t* begin = out.Extend(codec->max_compressed_size(in.size()));
  const absl::StatusOr<size_t> size = codec->compress(in, begin);
  out.Truncate(size_before + (size.ok() ? *size : 0));
  return size.status();
}

absl::Status Uncompress(Compression compression, std::span<const uint8_t> in,
                        std::span<uint8_t> out) {
  CFILE_ASSIGN_OR_RETURN(const Codec* codec, FindBuiltInCodec(compression));
  return codec->uncompress(in, out);
}

}  // namespace internal

std::string CompressionName(Compression compression) {
  const Codec* codec = FindCodec(compression);
  if (codec != nullptr) return std::string(codec->name);
  return absl::StrCat("compression ", static_cast<uint32_t>(compression));
}

absl::StatusOr<Compression> ParseCompression(std::string_view name) {
  std::string names;
  for (const Codec& codec : kCodecs) {
    if (codec.name == name) {
      CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(codec.compression));
      return codec.compression;
    }
    if (codec.compress != nullptr) absl::StrAppend(&names, " ", std::string(codec.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(name), "\" is no compression codec; expected one of:", names));
}

absl::Status CheckCompressionBuiltIn(Compression compression) {
  return FindBuiltInCodec(compression).status();
}

}  // namespace cfile
