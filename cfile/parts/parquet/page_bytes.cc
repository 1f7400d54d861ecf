#include "cfile/parts/parquet/page_bytes.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <iterator>

#include "cfile/core/format/compression.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/core/value_dictionary.h"
#include "encodings/parquet/page_codec.h"

namespace cfile::internal {
namespace {

using encodings::DataLoss;
using parquet::CompressionCodec;

struct CodecRow {
  int32_t parquet;
  Compression compression;
  bool framed = false;  // the compressed bytes are in frames of Hadoop
};

// For CompressionToParquet, the first row of a codec counts.
constexpr CodecRow kCodecs[] = {
    {CompressionCodec::kUncompressed, Compression::kNone},
    {CompressionCodec::kSnappy, Compression::kSnappy},
    {CompressionCodec::kGzip, Compression::kGzip},
    {CompressionCodec::kBrotli, Compression::kBrotli},
    {CompressionCodec::kZstd, Compression::kZstd},
    {CompressionCodec::kLz4Raw, Compression::kLz4},
    {CompressionCodec::kLz4, Compression::kLz4, /*framed=*/true},
    {CompressionCodec::kLzo, Compression::kLzo, /*framed=*/true},
};

const CodecRow* FindCodec(int32_t parquet) {
  const auto* row = std::find_if(std::begin(kCodecs), std::end(kCodecs),
                                 [&](const CodecRow& each) { return each.parquet == parquet; });
  return row == std::end(kCodecs) ? nullptr : row;
}

// Decompresses frames. Each has the size before and the size after compression (both fixed32,
// big-endian), and the compressed bytes.
absl::Status UncompressFrames(Compression compression, std::span<const uint8_t> in,
                              std::span<uint8_t> out) {
  encodings::ByteReader reader(in);
  while (!reader.empty()) {
    uint32_t sizes[2];
    std::span<const uint8_t> compressed;
    if (!reader.ReadFixed(sizes[0]) || !reader.ReadFixed(sizes[1]) ||
        !reader.ReadBytes(__builtin_bswap32(sizes[1]), compressed)) {
      return DataLoss("a frame of compressed bytes is cut off at byte ", reader.offset(), " of ",
                      in.size());
    }
    const uint32_t size = __builtin_bswap32(sizes[0]);
    if (size > out.size()) {
      return DataLoss("a frame has ", size, " bytes before compression, but only ", out.size(),
                      " are expected");
    }
    CFILE_RETURN_IF_ERROR(Uncompress(compression, compressed, out.first(size)));
    out = out.subspan(size);
  }
  if (out.empty()) return absl::OkStatus();
  return DataLoss("the frames of compressed bytes end ", out.size(), " bytes too early");
}

}  // namespace

absl::StatusOr<Compression> CompressionFromParquet(int32_t codec) {
  const CodecRow* row = FindCodec(codec);
  if (row == nullptr) {
    return absl::UnimplementedError(
        encodings::StrCat("compression codec ", codec, " of Parquet is unknown"));
  }
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(row->compression));
  return row->compression;
}

std::optional<int32_t> CompressionToParquet(Compression compression) {
  for (const CodecRow& row : kCodecs) {
    if (row.compression == compression && !row.framed) return row.parquet;
  }
  return std::nullopt;
}

bool HasSameCompressedBytes(int32_t codec) {
  const CodecRow* row = FindCodec(codec);
  return row != nullptr && !row->framed;
}

absl::Status CheckExportCompression(Compression compression) {
  if (compression == Compression::kDefault) return absl::OkStatus();
  if (!CompressionToParquet(compression)) {
    return absl::InvalidArgumentError(
        encodings::StrCat("Parquet has no codec ", CompressionName(compression),
                          compression == Compression::kZlib ? ": use gzip" : ": use zstd"));
  }
  return CheckCompressionBuiltIn(compression);
}

Compression UsualCodec() {
  for (const Compression codec : {Compression::kZstd, Compression::kSnappy, Compression::kGzip}) {
    if (CheckCompressionBuiltIn(codec).ok()) return codec;
  }
  return Compression::kNone;
}

Compression CodecOfPages(Compression codec) {
  if (codec == Compression::kZlib) return Compression::kGzip;
  return CompressionToParquet(codec) ? codec : UsualCodec();
}

absl::Status UncompressPage(int32_t codec, std::span<const uint8_t> in, std::span<uint8_t> out) {
  const CodecRow& row = *FindCodec(codec);
  if (row.framed) {
    const absl::Status status = UncompressFrames(row.compression, in, out);
    // Some writers left the frames out.
    if (status.ok() || Uncompress(row.compression, in, out).ok()) return absl::OkStatus();
    return status;
  }
  return Uncompress(row.compression, in, out);
}

uint32_t PageChecksum(std::span<const uint8_t> bytes, uint32_t before) {
  return bytes.empty() ? before : crc32_gzip_refl(before, bytes.data(), bytes.size());
}

uint32_t PutDictionary(const encodings::Dictionary& dictionary, encodings::PhysicalType type,
                       encodings::ByteWriter& out) {
  return VisitType(type, [&]<typename T>(std::type_identity<T>) {
    using P = encodings::PageType<T>;
    CFILE_ASSERT(dynamic_cast<const encodings::ValueDictionary<P>*>(&dictionary) != nullptr);
    const auto& values = static_cast<const encodings::ValueDictionary<P>&>(dictionary);
    if constexpr (encodings::kIsBytes<P>) {
      for (const P& value : std::span(values.values.get(), values.size)) {
        if (type == encodings::PhysicalType::kBytes)
          out.PutFixed(static_cast<uint32_t>(value.size()));
        out.PutBytes(value);
      }
    } else if constexpr (!std::is_same_v<P, bool>) {
      out.PutBytes(
          {reinterpret_cast<const uint8_t*>(values.values.get()), values.size * sizeof(P)});
    }
    return values.size;
  });
}

bool HasValues(const encodings::Dictionary& dictionary, std::span<const uint8_t> plain) {
  encodings::ByteWriter values;
  PutDictionary(dictionary, encodings::PhysicalType::kBytes, values);
  return std::equal(plain.begin(), plain.end(), values.span().begin(), values.span().end());
}

}  // namespace cfile::internal
