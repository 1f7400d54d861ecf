#include "cfile/parts/parquet/metadata/file_metadata.h"

#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/str_join.h"
#include "cfile/core/io/named_status.h"
#include "cfile/parts/parquet/metadata/message_codec.h"
#include "encodings/core/assert.h"

namespace cfile::internal::parquet {
namespace {

using encodings::DataLoss;
using encodings::StrCat;

constexpr std::string_view kEncryptedMagic = "PARE";
constexpr size_t kLengthBytes = 4;
constexpr size_t kTailBytes = kLengthBytes + kMagicBytes;

// Bounds the memory of a message: kSmallBytes plus kMostTimes the bytes of the message. A schema of
// many columns with short names takes approximately 25 times its bytes.
constexpr uint64_t kMostTimes = 32;
constexpr uint64_t kSmallBytes = 64 * 1024;

template <typename Message>
absl::StatusOr<Message> Read(std::span<const uint8_t> bytes, std::string_view what,
                             std::optional<uint64_t> offset, size_t* consumed) {
  CompactReader in(bytes, offset, kSmallBytes + kMostTimes * bytes.size());
  Message message;
  if (!ReadMessage(in, message)) return DataLoss("the ", what, " ", in.status().message());
  if (consumed != nullptr) *consumed = in.consumed();
  return message;
}

template <typename Message>
std::string Write(const Message& message, std::string_view after = {}) {
  encodings::ByteWriter out;
  CompactWriter writer(out);
  WriteMessage(writer, message);
  CFILE_ASSERT(out.size() <= std::numeric_limits<int32_t>::max());
  if (!after.empty()) {
    out.PutFixed(static_cast<uint32_t>(out.size()));
    out.PutBytes(after);
  }
  return std::string(out.view());
}

// The name of leaf number `leaf` of the schema, with the names of the groups around it if the
// metadata of the column chunk is not encrypted.
std::string ColumnName(const FileMetaData& file, const RowGroup& group, size_t leaf) {
  if (const auto& column = group.columns[leaf].meta_data) {
    return absl::StrJoin(column->path_in_schema, ".",
                         [](std::string* out, std::string_view name) { out->append(name); });
  }
  for (const SchemaElement& element : file.schema) {
    if (element.type && leaf-- == 0) return std::string(element.name);
  }
  return "?";
}

// kUnimplemented if a column is encrypted.
absl::Status CheckNotEncrypted(const FileMetaData& file) {
  for (const RowGroup& group : file.row_groups) {
    for (const ColumnChunk& column : group.columns) {
      if (!column.crypto_metadata && !column.encrypted_column_metadata) continue;
      const auto leaf = static_cast<size_t>(&column - group.columns.data());
      return absl::UnimplementedError(
          StrCat("the column \"", ColumnName(file, group, leaf),
                 "\" is encrypted: encrypted Parquet columns are not supported"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ParquetMetadata> ReadAtEnd(const Source& source, uint64_t max_metadata_size_bytes) {
  const uint64_t size = source.size();
  uint8_t tail[kTailBytes] = {};
  if (size >= kMagicBytes + kTailBytes) {
    CFILE_RETURN_IF_ERROR(source.ReadAt(size - kTailBytes, tail));
  }
  const std::string_view magic = encodings::AsString(tail).substr(kLengthBytes);
  if (magic == kEncryptedMagic) {
    return absl::UnimplementedError(
        "the metadata is encrypted: encrypted Parquet files are not supported");
  }
  if (magic != kMagic) {
    uint8_t head[kMagicBytes] = {};
    if (size >= kMagicBytes) CFILE_RETURN_IF_ERROR(source.ReadAt(0, head));
    if (encodings::AsString(head) == kMagic) {
      return absl::InvalidArgumentError(
          "the Parquet file is cut off: it begins with PAR1, but its end is missing");
    }
    return absl::InvalidArgumentError(
        StrCat("expected a Parquet file, which ends with PAR1, found other bytes at the end of ",
               size, " bytes"));
  }
  ParquetMetadata result;
  result.size_bytes = encodings::LoadLittleEndian<uint32_t>(tail);
  const uint64_t before = size - kTailBytes;
  if (result.size_bytes > before - kMagicBytes) {
    return DataLoss("at offset ", before, ": the metadata has ", result.size_bytes,
                    " bytes, expected at most ", before - kMagicBytes);
  }
  if (result.size_bytes > max_metadata_size_bytes) {
    return encodings::OutOfRange(
        "the metadata has ", result.size_bytes, " bytes, ",
        encodings::AboveLimit(max_metadata_size_bytes, "max_metadata_size_bytes"));
  }
  result.offset = before - result.size_bytes;
  result.bytes.reset(new uint8_t[result.size_bytes]);
  const std::span<uint8_t> bytes(result.bytes.get(), result.size_bytes);
  CFILE_RETURN_IF_ERROR(source.ReadAt(result.offset, bytes));
  CFILE_ASSIGN_OR_RETURN(result.file,
                         Read<FileMetaData>(bytes, "metadata", result.offset, nullptr));
  CFILE_RETURN_IF_ERROR(CheckNotEncrypted(result.file));
  return result;
}

}  // namespace

absl::StatusOr<ParquetMetadata> ReadParquetMetadata(const Source& source,
                                                    uint64_t max_metadata_size_bytes) {
  return Named(ReadAtEnd(source, max_metadata_size_bytes), source.name());
}

std::string WriteFileMetadata(const FileMetaData& metadata) { return Write(metadata, kMagic); }

absl::StatusOr<PageHeader> ReadPageHeader(std::span<const uint8_t> bytes, size_t* consumed) {
  return Read<PageHeader>(bytes, "page header", std::nullopt, consumed);
}
absl::StatusOr<OffsetIndex> ReadOffsetIndex(std::span<const uint8_t> bytes, size_t* consumed) {
  return Read<OffsetIndex>(bytes, "offset index", std::nullopt, consumed);
}
absl::StatusOr<ColumnIndex> ReadColumnIndex(std::span<const uint8_t> bytes, size_t* consumed) {
  return Read<ColumnIndex>(bytes, "column index", std::nullopt, consumed);
}
absl::StatusOr<BloomFilterHeader> ReadBloomFilterHeader(std::span<const uint8_t> bytes,
                                                        size_t* consumed) {
  return Read<BloomFilterHeader>(bytes, "header of the Bloom filter", std::nullopt, consumed);
}

std::string WritePageHeader(const PageHeader& header) { return Write(header); }
std::string WriteOffsetIndex(const OffsetIndex& index) { return Write(index); }
std::string WriteColumnIndex(const ColumnIndex& index) { return Write(index); }
std::string WriteBloomFilterHeader(const BloomFilterHeader& header) { return Write(header); }

}  // namespace cfile::internal::parquet
