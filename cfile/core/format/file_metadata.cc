#include "cfile/core/format/file_metadata.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>

#include "cfile/core/format/choice_message.h"
#include "cfile/core/format/column_message.h"
#include "cfile/core/format/crc32c.h"
#include "cfile/core/format/feature_bits.h"
#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/metadata_keys.h"
#include "cfile/core/format/statistics_block.h"
#include "cfile/core/io/named_status.h"
#include "cfile/core/wire/messages.h"
#include "cfile/core/wire/parse_message.h"
#include "cfile/core/wire/write_message.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AsBytes;
using encodings::ByteWriter;

constexpr size_t kEndBytes = kFileMagicBytes + kMessageSizeBytes;  // the magic and the size
constexpr std::string_view kCreatedBy = "cfile " CFILE_VERSION;

// Returns the number for Kudu's field. A number that Kudu does not have is passed to
// `set_extension`, and the result is kNumberInExtensions.
template <typename Enum, typename SetExtension>
int32_t KuduNumber(Enum value, SetExtension set_extension) {
  const auto number = static_cast<int32_t>(value);
  if (!NeedsExtension(static_cast<uint32_t>(number))) return number;
  set_extension(number);
  return kNumberInExtensions;
}

// Fills the fields that the header's wire::Column and the footer share. Their texts point into
// `info`.
template <typename Message>
void DescribeColumn(const FileInfo& info, Message& message, wire::Extensions& extensions) {
  const int32_t data_type = DescribeType(info.type, extensions);
  const bool array = (info.incompatible_features & kFeatureArrayBlocks) != 0;
  if (info.has_levels() && !array) {
    extensions.max_repetition_level = info.levels.max_repetition;
    extensions.max_definition_level = info.levels.max_definition;
  }
  if constexpr (std::is_same_v<Message, wire::Column>) {
    message.type = data_type;
    message.nullable = info.nullable;
    if (array) message.array = true;
  } else {
    message.data_type = data_type;
    message.is_type_nullable = info.nullable;
    if (array) message.is_type_array = true;
    if (info.num_entries) extensions.num_entries = static_cast<int64_t>(*info.num_entries);
  }
  message.encoding = KuduNumber(info.encoding, [&](int32_t n) { extensions.encoding = n; });
  message.compression =
      KuduNumber(info.compression, [&](int32_t n) { extensions.compression = n; });
}

void AddPairs(const std::vector<std::pair<std::string, std::string>>& pairs,
              std::vector<wire::FileMetadataPair>& out) {
  for (const auto& [key, value] : pairs) out.push_back({.key = key, .value = value});
}

std::vector<std::pair<std::string, std::string>> ToPairs(
    const std::vector<wire::FileMetadataPair>& pairs) {
  std::vector<std::pair<std::string, std::string>> result;
  result.reserve(pairs.size());
  for (const wire::FileMetadataPair& pair : pairs)
    result.emplace_back(pair.key.value_or(""), pair.value.value_or(""));
  return result;
}

void SetPointer(const std::optional<BlockPointer>& pointer,
                std::unique_ptr<wire::BlockPointer>& message) {
  wire::Mutable(message) = {.offset = static_cast<int64_t>(pointer->offset),
                            .size = static_cast<int32_t>(pointer->size)};
}

absl::Status CheckMetadata(std::string_view what, std::string_view message, size_t size_bytes,
                           const wire::MessageType& type, const WriterOptions& options) {
  const size_t limit = options.max_metadata_size_bytes;
  const size_t kudu_limit = PolicyOf(options).max_metadata_size_bytes;
  if (size_bytes > kudu_limit) {
    return OutOfRange("a ", what, " of ", size_bytes, " bytes: Kudu reads at most ", kudu_limit,
                      " bytes");
  }
  if (size_bytes > limit) {
    return OutOfRange("a ", what, " of ", size_bytes, " bytes is ",
                      AboveLimit(limit, "max_metadata_size_bytes"));
  }
  const absl::Status status = wire::CheckParsedSize(message, limit, type);
  if (status.ok()) return status;
  return OutOfRange("the ", what, ": ", status.message());
}

// Reads header and footer of a file.
class MetadataReader {
 public:
  MetadataReader(const Source& source, const ReaderOptions& options)
      : source_(source), options_(options) {}

  // `header_damaged`: reads the footer only, which must have a checksum.
  absl::StatusOr<FileInfo> Read(bool header_damaged = false) {
    if (source_.size() < 2 * kEndBytes) {
      return Error("expected a CFile, which has at least ", 2 * kEndBytes,
                   " bytes, found a file of ", source_.size(),
                   source_.size() == 1 ? " byte" : " bytes");
    }
    info_.file_size_bytes = source_.size();
    CFILE_RETURN_IF_ERROR(ReadFooter());
    if (!header_damaged) CFILE_RETURN_IF_ERROR(ReadHeader());
    if (header_damaged && !info_.has_checksums()) return Error("the footer has no checksum");
    if (header_damaged) info_.header_size_bytes = kEndBytes;
    CFILE_RETURN_IF_ERROR(InterpretFooter());
    return std::move(info_);
  }

  // Reads the header only. Checks the header as if the file had a footer with the same contents
  // after its last byte.
  absl::StatusOr<FileInfo> ReadTorn() {
    if (source_.size() < kEndBytes)
      return Error("the file ends within its header, at byte ", source_.size());
    info_.file_size_bytes = source_.size();
    CFILE_ASSIGN_OR_RETURN(const std::string magic, ReadBytes(0, kFileMagicBytes));
    CFILE_ASSIGN_OR_RETURN(info_.version, ParseMagic(magic, "start"));
    if (!PolicyOf(info_.version).features) {
      return Error(
          "the file is of version 1, which has no checksums: without its footer the ends of its "
          "blocks cannot be found");
    }
    info_.incompatible_features = kFeatureChecksums;
    CFILE_RETURN_IF_ERROR(ReadHeader());
    const auto pair = std::find_if(info_.header_metadata.begin(), info_.header_metadata.end(),
                                   [](const auto& each) { return each.first == kColumnKey; });
    wire::Column column;
    if (pair == info_.header_metadata.end() ||
        !wire::ParseMessage(pair->second, options_.max_metadata_size_bytes, column).ok() ||
        !column.type || !column.encoding) {
      return Error("the header has no valid ", kColumnKey,
                   ", which gives type and encoding (Kudu writes none): ",
                   "without its footer the file cannot be read");
    }
    const int32_t compression = column.compression.value_or(0);
    const bool array = column.array.value_or(false);
    footer_.data_type = column.type;
    footer_.encoding = column.encoding;
    footer_.compression = compression;
    footer_.is_type_nullable = column.nullable;
    footer_.is_type_array = array;
    footer_.extensions = std::move(column.extensions);
    // The number of values is unknown: use the maximum.
    footer_.num_values = std::numeric_limits<uint32_t>::max();
    wire::Extensions& extensions = wire::Mutable(footer_.extensions);
    extensions.num_entries = footer_.num_values;
    const bool nested = extensions.max_repetition_level || extensions.max_definition_level;
    const bool extended =
        nested || NeedsExtendedBlocks(Number(*column.type, extensions.data_type),
                                      Number(*column.encoding, extensions.encoding),
                                      Number(compression, extensions.compression));
    info_.incompatible_features =
        kFeatureChecksums | (extended ? kFeatureExtendedBlocks : 0) |
        (nested ? kFeatureNestedBlocks : 0) | (array ? kFeatureArrayBlocks : 0) |
        FeaturesOf(static_cast<Encoding>(Number(*column.encoding, extensions.encoding)));
    CFILE_RETURN_IF_ERROR(InterpretFooter());
    return std::move(info_);
  }

 private:
  template <typename... Parts>
  absl::Status Error(const Parts&... parts) const {
    return DataLoss(source_.name(), ": ", parts...);
  }

  absl::StatusOr<std::string> ReadBytes(uint64_t offset, size_t size) const {
    std::string bytes(size, '\0');
    CFILE_RETURN_IF_ERROR(source_.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), size}));
    return bytes;
  }

  absl::StatusOr<FormatVersion> ParseMagic(std::string_view magic, std::string_view where) const {
    if (const auto version = VersionOfMagic(magic)) return *version;
    return Error("this is not a CFile, or a damaged one: expected the magic ",
                 PolicyOf(FormatVersion::kV2).magic, " or ", PolicyOf(FormatVersion::kV1).magic,
                 " at the ", where, ", found other bytes");
  }

  absl::Status CheckLength(std::string_view what, uint32_t length, uint64_t fixed_bytes) const {
    if (length > source_.size() - fixed_bytes) {
      return Error("the ", what, " claims ", length, " bytes, the file has ", source_.size());
    }
    if (length > options_.max_metadata_size_bytes) {
      return OutOfRange(source_.name(), ": the ", what, " of ", length, " bytes is ",
                        AboveLimit(options_.max_metadata_size_bytes, "max_metadata_size_bytes"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckCrc(std::string_view what, uint32_t expected, std::string_view bytes) const {
    const uint32_t found = Crc32c(AsBytes(bytes));
    if (expected == found || !options_.verify_checksums) return absl::OkStatus();
    return Error("the ", what, " is damaged: ", WrongChecksum(expected, found).message());
  }

  template <typename Message>
  absl::Status Parse(std::string_view what, std::string_view bytes, Message& message) const {
    const absl::Status status =
        wire::ParseMessage(bytes, options_.max_metadata_size_bytes, message);
    if (status.ok()) return status;
    if (!absl::IsOutOfRange(status)) return Error("the ", what, " is damaged: ", status.message());
    return OutOfRange(source_.name(), ": the ", what, ": ", status.message());
  }

  absl::Status ReadFooter() {
    const uint64_t size = source_.size();
    CFILE_ASSIGN_OR_RETURN(const std::string tail, ReadBytes(size - kEndBytes, kEndBytes));
    CFILE_ASSIGN_OR_RETURN(info_.version,
                           ParseMagic(std::string_view(tail).substr(0, kFileMagicBytes), "end"));
    const auto length =
        encodings::LoadLittleEndian<uint32_t>(AsBytes(tail).data() + kFileMagicBytes);
    CFILE_RETURN_IF_ERROR(CheckLength("footer", length, 2 * kEndBytes));
    CFILE_ASSIGN_OR_RETURN(info_.footer_message, ReadBytes(size - kEndBytes - length, length));
    CFILE_RETURN_IF_ERROR(Parse("footer", info_.footer_message, footer_));
    info_.incompatible_features = footer_.incompatible_features.value_or(0);
    info_.compatible_features = footer_.compatible_features.value_or(0);
    info_.footer_size_bytes = kEndBytes + length;
    if (!info_.has_checksums()) return absl::OkStatus();
    if (!PolicyOf(info_.version).features) {
      return Error("the footer is damaged: a version-1 file claims to have checksums");
    }
    info_.footer_size_bytes += kChecksumBytes;
    if (info_.footer_size_bytes > size - kEndBytes) {
      return Error("the footer claims ", length, " bytes, the file has ", size);
    }
    CFILE_ASSIGN_OR_RETURN(const std::string crc,
                           ReadBytes(size - info_.footer_size_bytes, kChecksumBytes));
    return CheckCrc("footer", encodings::LoadLittleEndian<uint32_t>(AsBytes(crc).data()),
                    info_.footer_message + tail);
  }

  absl::Status ReadHeader() {
    const uint64_t available = source_.size() - info_.footer_size_bytes;
    if (available < kEndBytes) return Error("header and footer overlap");
    CFILE_ASSIGN_OR_RETURN(const std::string front, ReadBytes(0, kEndBytes));
    CFILE_ASSIGN_OR_RETURN(const FormatVersion version,
                           ParseMagic(std::string_view(front).substr(0, kFileMagicBytes), "start"));
    if (version != info_.version) return Error("header and footer have different magics");
    const auto length =
        encodings::LoadLittleEndian<uint32_t>(AsBytes(front).data() + kFileMagicBytes);
    CFILE_RETURN_IF_ERROR(CheckLength("header", length, info_.footer_size_bytes + kEndBytes));
    CFILE_ASSIGN_OR_RETURN(const std::string message, ReadBytes(kEndBytes, length));
    info_.header_size_bytes = kEndBytes + length;
    if (PolicyOf(version).features) {
      // A bit of the footer says whether the file has checksums. If the bit says no, but a valid
      // checksum follows the header, the bit was lost and the footer is damaged.
      std::optional<uint32_t> crc;
      if (available - info_.header_size_bytes >= kChecksumBytes) {
        CFILE_ASSIGN_OR_RETURN(const std::string bytes,
                               ReadBytes(info_.header_size_bytes, kChecksumBytes));
        crc = encodings::LoadLittleEndian<uint32_t>(AsBytes(bytes).data());
      }
      if (info_.has_checksums()) {
        if (!crc) return Error("header and footer overlap");
        CFILE_RETURN_IF_ERROR(CheckCrc("header", *crc, front + message));
        info_.header_size_bytes += kChecksumBytes;
      } else if (crc && *crc == Crc32c(AsBytes(front + message))) {
        return Error(
            "the footer is damaged: it says that there are no checksums, but the header has one");
      }
    }
    wire::CFileHeader header;
    CFILE_RETURN_IF_ERROR(Parse("header", message, header));
    info_.header_metadata = ToPairs(header.metadata);
    info_.header_message = message;
    return absl::OkStatus();
  }

  // Returns Kudu's number, or the extension's number if Kudu's field refers to the extensions.
  uint32_t Number(int32_t kudu, std::optional<int32_t> extension) const {
    return static_cast<uint32_t>(kudu == kNumberInExtensions ? extension.value_or(0) : kudu);
  }

  absl::StatusOr<BlockPointer> ReadPointer(std::string_view what,
                                           const wire::BlockPointer& message) const {
    // The conversion to unsigned makes a negative number large, so that the checks reject it.
    const int64_t stored_offset = message.offset.value_or(0);
    const int32_t stored_size = message.size.value_or(0);
    const auto offset = static_cast<uint64_t>(stored_offset);
    const auto block_size = static_cast<uint32_t>(stored_size);
    const uint64_t end = source_.size() - info_.footer_size_bytes;
    if (offset < info_.header_size_bytes || offset > end || block_size > end - offset) {
      return Error("the footer is damaged: the ", what, " at offset ", stored_offset, ", ",
                   stored_size, " bytes, lies outside of bytes ", info_.header_size_bytes, " to ",
                   end);
    }
    return BlockPointer{.offset = offset, .size = block_size};
  }

  absl::Status InterpretFooter() {
    const wire::Extensions& extensions = wire::OrEmpty(footer_.extensions);
    const int32_t encoding = footer_.encoding.value_or(0);
    const int32_t compression =
        footer_.compression.value_or(wire::CFileFooter::kDefaultCompression);
    info_.encoding = static_cast<Encoding>(Number(encoding, extensions.encoding));
    info_.compression = static_cast<Compression>(Number(compression, extensions.compression));
    if (info_.compression == Compression::kDefault) info_.compression = Compression::kNone;
    info_.nullable = footer_.is_type_nullable.value_or(false);
    info_.created_by = extensions.created_by.value_or("");
    if (extensions.choice != nullptr)
      info_.choice = InterpretChoice(*extensions.choice, info_.encoding);
    info_.footer_metadata = ToPairs(footer_.metadata);

    CFILE_RETURN_IF_ERROR(Named(CheckFeatures(info_.incompatible_features), source_.name()));
    if (!footer_.data_type || !footer_.encoding || !footer_.num_values) {
      return Error("the footer is damaged: type, encoding or number of rows is missing");
    }
    if ((encoding == kNumberInExtensions && !extensions.encoding) ||
        (compression == kNumberInExtensions && !extensions.compression)) {
      return Error("the footer is damaged: the extensions lack the number of encoding or codec");
    }
    auto type = InterpretType(*footer_.data_type, extensions);
    if (!type.ok()) {
      return internal::WithMessage(
          type.status(), StrCat(source_.name(), ": the footer's type: ", type.status().message()));
    }
    info_.type = *type;
    CFILE_RETURN_IF_ERROR(Named(CheckDependencies(info_), source_.name()));
    const int64_t num_values = *footer_.num_values;
    if (num_values < 0 || num_values > std::numeric_limits<uint32_t>::max()) {
      return Error("the footer is damaged: ", num_values, " rows, expected 0 to 2^32 - 1");
    }
    info_.num_rows = static_cast<uint64_t>(num_values);
    CFILE_RETURN_IF_ERROR(InterpretLevels());
    for (const auto& [what, index, root] :
         {std::tuple("positional index", footer_.posidx_info.get(), &info_.positional_index_root),
          std::tuple("value index", footer_.validx_info.get(), &info_.value_index_root)}) {
      if (index == nullptr) continue;
      CFILE_ASSIGN_OR_RETURN(*root, ReadPointer(what, wire::OrEmpty(index->root_block)));
    }
    if (info_.positional_index_root && info_.value_index_root &&
        info_.positional_index_root->offset == info_.value_index_root->offset) {
      return Error("the footer is damaged: both indexes have their root at offset ",
                   info_.value_index_root->offset);
    }
    if (footer_.dict_block_ptr != nullptr) {
      CFILE_ASSIGN_OR_RETURN(info_.dictionary, ReadPointer("dictionary", *footer_.dict_block_ptr));
    }
    if (info_.has_pieces()) {
      CFILE_ASSIGN_OR_RETURN(
          info_.piece_directory,
          ReadPointer("piece directory", wire::OrEmpty(footer_.piece_directory)));
    }
    if (extensions.statistics != nullptr &&
        (info_.compatible_features & kCompatibleFeatureStatistics) != 0) {
      CFILE_ASSIGN_OR_RETURN(info_.statistics, ReadPointer("statistics", *extensions.statistics));
      if (absl::Status status = InterpretStatistics(extensions, options_, info_); !status.ok())
        return Error("the footer is damaged: ", status.message());
    }
    return absl::OkStatus();
  }

  absl::Status InterpretLevels() {
    const wire::Extensions& extensions = wire::OrEmpty(footer_.extensions);
    const bool is_array = footer_.is_type_array.value_or(false);
    const bool array = (info_.incompatible_features & kFeatureArrayBlocks) != 0;
    const bool nested = (info_.incompatible_features & kFeatureNestedBlocks) != 0;
    if (array != is_array) {
      return Error("the footer is damaged: the feature bit for arrays is ", array ? "" : "not ",
                   "set, but the column is ", is_array ? "" : "not ", "one of arrays");
    }
    if (array) {
      if (nested)
        return Error(
            "the footer is damaged: the feature bits for arrays and nested blocks are both set");
      info_.levels = LevelLimits::KuduArray(info_.nullable);
      return absl::OkStatus();
    }
    if (!nested) {
      info_.levels.max_definition = info_.nullable ? 1 : 0;
      return absl::OkStatus();
    }
    constexpr int32_t kMax = std::numeric_limits<uint16_t>::max();
    const int32_t repetition = extensions.max_repetition_level.value_or(0);
    const int32_t definition = extensions.max_definition_level.value_or(0);
    if (repetition < 0 || repetition > kMax || definition < 0 || definition > kMax) {
      return Error("the footer is damaged: maximum levels ", repetition, " and ", definition,
                   ", expected 0 to ", kMax);
    }
    if (!info_.has_extended_blocks() || info_.nullable != (definition > 0)) {
      return Error(
          "the footer is damaged: a column with nested blocks needs extended blocks, and is "
          "nullable exactly if its maximum definition level is above 0");
    }
    info_.levels = {.max_repetition = static_cast<uint16_t>(repetition),
                    .max_definition = static_cast<uint16_t>(definition)};
    const int64_t num_entries = extensions.num_entries.value_or(0);
    info_.num_entries = static_cast<uint64_t>(num_entries);
    const bool one_each = repetition == 0;
    if (one_each ? *info_.num_entries != info_.num_rows : *info_.num_entries < info_.num_rows) {
      return Error("the footer is damaged: ", num_entries, " entries for ", info_.num_rows,
                   " records, expected ", one_each ? "one for each" : "at least one for each");
    }
    return absl::OkStatus();
  }

  const Source& source_;
  const ReaderOptions& options_;
  FileInfo info_;
  wire::CFileFooter footer_;  // its texts point into the messages in info_
};

}  // namespace

absl::StatusOr<FileInfo> ReadFileInfo(const Source& source, const ReaderOptions& options) {
  return MetadataReader(source, options).Read();
}

absl::StatusOr<FileInfo> ReadTornFileInfo(const Source& source, const ReaderOptions& options) {
  return MetadataReader(source, options).ReadTorn();
}

absl::StatusOr<FileInfo> ReadFileInfoOfFooter(const Source& source, const ReaderOptions& options) {
  return MetadataReader(source, options).Read(/*header_damaged=*/true);
}

std::string AppendHeader(const FileInfo& info, bool with_extensions, ByteWriter& out) {
  wire::CFileHeader header;
  if (PolicyOf(info.version).numbers_header) {
    header.major_version = 1;
    header.minor_version = 0;
  }
  AddPairs(info.header_metadata, header.metadata);
  std::string described;
  if (with_extensions) {
    wire::Column column;
    wire::Extensions extensions;
    DescribeColumn(info, column, extensions);
    if (!wire::IsEmpty(extensions)) wire::Mutable(column.extensions) = std::move(extensions);
    described = wire::Serialize(column);
    header.metadata.push_back({.key = kColumnKey, .value = described});
  }
  std::string message = wire::Serialize(header);
  const size_t begin = out.size();
  out.PutBytes(PolicyOf(info.version).magic);
  out.PutFixed(static_cast<uint32_t>(message.size()));
  out.PutBytes(std::string_view(message));
  if (info.has_checksums()) out.PutFixed(Crc32c(out.span().subspan(begin)));
  return message;
}

std::string AppendFooter(const FileInfo& info, bool with_extensions, ByteWriter& out) {
  wire::CFileFooter footer;
  wire::Extensions extensions;
  DescribeColumn(info, footer, extensions);
  footer.num_values = static_cast<int64_t>(info.num_rows);
  if (info.positional_index_root)
    SetPointer(info.positional_index_root, wire::Mutable(footer.posidx_info).root_block);
  if (info.value_index_root)
    SetPointer(info.value_index_root, wire::Mutable(footer.validx_info).root_block);
  if (info.dictionary) SetPointer(info.dictionary, footer.dict_block_ptr);
  if (info.piece_directory) SetPointer(info.piece_directory, footer.piece_directory);
  AddPairs(info.footer_metadata, footer.metadata);
  footer.incompatible_features = info.incompatible_features;
  if (info.compatible_features != 0) footer.compatible_features = info.compatible_features;
  if (with_extensions) {
    if (info.statistics) SetPointer(info.statistics, extensions.statistics);
    if (info.bloom_filter) DescribeBloomFilter(*info.bloom_filter, extensions);
    extensions.created_by = kCreatedBy;
    if (info.choice) wire::Mutable(extensions.choice) = DescribeChoice(*info.choice, info.encoding);
    wire::Mutable(footer.extensions) = std::move(extensions);
  }
  std::string message = wire::Serialize(footer);
  ByteWriter tail;
  tail.PutBytes(std::string_view(message));
  tail.PutBytes(PolicyOf(info.version).magic);
  tail.PutFixed(static_cast<uint32_t>(message.size()));
  if (info.has_checksums()) out.PutFixed(Crc32c(tail.span()));
  out.PutBytes(tail.span());
  return message;
}

absl::Status CheckHeader(std::string_view message, size_t size_bytes,
                         const WriterOptions& options) {
  return CheckMetadata("header", message, size_bytes, wire::CFileHeader::kType, options);
}

absl::Status CheckFooter(std::string_view message, size_t size_bytes,
                         const WriterOptions& options) {
  return CheckMetadata("footer", message, size_bytes, wire::CFileFooter::kType, options);
}

}  // namespace cfile::internal
