#include "cfile/internal/file_writer.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/internal/crc32c.h"
#include "cfile/internal/data_block.h"
#include "cfile/internal/file_metadata.h"
#include "cfile/internal/named_status.h"
#include "cfile/internal/parse_message.h"
#include "cfile/internal/statistics_block.h"
#include "encodings/registry.h"
#include "encodings/status.h"
#include "proto/cfile.pb.h"

namespace cfile::internal {
namespace {

using encodings::ByteWriter;

// The largest header or footer that Kudu reads.
constexpr size_t kKuduMaxFooterBytes = 64 * 1024;
constexpr int kMaxCompressionLevel = 22;  // of zstd
constexpr size_t kLargestBlockBytes = (size_t{1} << 31) - 1;

absl::Status Invalid(std::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(message)));
}

// Rejects types, encodings and codecs that Kudu or version 1 (`whom`) does not have.
absl::Status CheckNumbers(const ColumnType& type, const WriterOptions& options,
                          const std::string& whom) {
  if (NeedsExtension(type)) return Invalid(absl::StrCat(whom, " has no type ", type.ToString()));
  if (NeedsExtension(static_cast<uint32_t>(options.encoding))) {
    return Invalid(absl::StrCat(whom, " has no encoding ", EncodingName(options.encoding)));
  }
  if (NeedsExtension(static_cast<uint32_t>(options.compression))) {
    return Invalid(
        absl::StrCat(whom, " has no compression ", CompressionName(options.compression)));
  }
  return absl::OkStatus();
}

absl::Status CheckMetadataKey(std::string_view key) {
  if (key.substr(0, kReservedKeyPrefix.size()) != kReservedKeyPrefix) return absl::OkStatus();
  return Invalid(
      encodings::StrCat("metadata key ", key, " is reserved: it begins with \"cfile.\""));
}

}  // namespace

void ResolveChoices(const ColumnType& type, WriterOptions& options) {
  const bool kudu = options.compatibility == Compatibility::kKudu;
  if (options.encoding == Encoding::kAuto && (kudu || options.version == FormatVersion::kV1)) {
    switch (type.physical()) {
      case PhysicalType::kBool:
        options.encoding = Encoding::kRle;
        break;
      case PhysicalType::kBytes:
        options.encoding = kudu                  ? Encoding::kDict
                           : options.value_index ? Encoding::kPrefix
                                                 : Encoding::kPlain;
        break;
      default:
        options.encoding = kudu ? Encoding::kBitShuffle : Encoding::kPlain;
    }
  }
  const bool automatic = options.encoding == Encoding::kAuto;
  if (options.compression == Compression::kDefault && !automatic)
    options.compression = Compression::kNone;
  if (options.compression == Compression::kDefault && options.compression_level == 0 &&
      options.goal == Goal::kBalanced) {
    options.compression_level = 1;
  }
  if (options.restart_interval == 0) options.restart_interval = automatic ? 32 : 16;
}

Compression CodecOf(const WriterOptions& options) {
  if (options.compression != Compression::kDefault) return options.compression;
  const bool none =
      options.goal == Goal::kSpeed || !CheckCompressionBuiltIn(Compression::kZstd).ok();
  return none ? Compression::kNone : Compression::kZstd;
}

bool HasStatistics(const WriterOptions& options) {
  return options.statistics && options.version != FormatVersion::kV1 &&
         options.compatibility != Compatibility::kKudu;
}

absl::Status CheckWriterOptions(const ColumnType& type, const WriterOptions& options) {
  CFILE_RETURN_IF_ERROR(Validate(type));
  const encodings::EncodingRow* row = encodings::FindEncoding(options.encoding);
  if (options.encoding != Encoding::kAuto && (row == nullptr || !row->Supports(type.physical()))) {
    return absl::UnimplementedError(absl::StrCat("encoding ", EncodingName(options.encoding),
                                                 " does not take values of type ",
                                                 type.ToString()));
  }
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(options.compression));
  if (options.value_index && options.nullable)
    return Invalid("a column with a value index cannot be nullable");
  if (options.value_index && type.physical() == PhysicalType::kInt96)
    return Invalid("int96 has no order, so a column of it cannot have a value index");
  if (!options.positional_index && !options.value_index) {
    return Invalid("a file needs a positional or a value index");
  }
  if (options.block_size_bytes == 0 ||
      options.block_size_bytes > options.max_block_size_bytes / 2) {
    return Invalid("block_size_bytes must be between 1 and half of max_block_size_bytes");
  }
  if (options.max_block_size_bytes > kLargestBlockBytes)
    return Invalid("max_block_size_bytes must be below 2^31");
  if (options.max_bloom_filter_bytes > kLargestBlockBytes)
    return Invalid("max_bloom_filter_bytes must be below 2^31");
  if (options.max_values_per_block == 0) return Invalid("max_values_per_block must be at least 1");
  if (options.bloom_filter_bits_per_value > 0 && !HasStatistics(options)) {
    return Invalid(
        "a Bloom filter is part of the statistics, which the options, version 1 or Kudu rule out");
  }
  if (options.compression_level < 0 || options.compression_level > kMaxCompressionLevel)
    return Invalid(absl::StrCat("compression_level must be 0 to ", kMaxCompressionLevel));
  for (const auto& [key, value] : options.metadata) {
    CFILE_RETURN_IF_ERROR(CheckMetadataKey(key));
  }
  if (options.compatibility == Compatibility::kKudu) {
    CFILE_RETURN_IF_ERROR(CheckNumbers(type, options, "Kudu"));
    if (options.value_index &&
        (type.physical() == PhysicalType::kBool || type.physical() == PhysicalType::kFloat ||
         type.physical() == PhysicalType::kDouble)) {
      return Invalid(absl::StrCat("Kudu has no keys of type ", type.ToString()));
    }
    if (options.encoding == Encoding::kGroupVarint && options.version == FormatVersion::kV2) {
      return Invalid("Kudu no longer has encoding group-varint");
    }
  }
  if (options.version == FormatVersion::kV1)
    CFILE_RETURN_IF_ERROR(CheckNumbers(type, options, "version 1"));
  return absl::OkStatus();
}

FileWriter::FileWriter(std::unique_ptr<Sink> sink, const ColumnType& type,
                       const WriterOptions& options)
    : sink_(std::move(sink)), options_(options) {
  options_.compression = CodecOf(options);
  info_.version = options.version;
  info_.type = type;
  if (options.encoding != Encoding::kAuto) info_.encoding = options.encoding;
  info_.compression = options_.compression;
  info_.nullable = options.nullable;
  info_.header_metadata = options.metadata;
  info_.levels.max_definition = options.nullable ? 1 : 0;
  info_.incompatible_features = IncompatibleFeatures(info_, /*levels=*/false, chooses());
  if (options.positional_index) {
    const auto form =
        options.version == FormatVersion::kV1 ? IndexKeyForm::kVint64Ordinal : IndexKeyForm::kBytes;
    positional_.emplace(IndexKind::kPositional, form, options.index_block_size_bytes,
                        options.max_block_size_bytes);
  }
  if (options.value_index) {
    value_.emplace(IndexKind::kValue, IndexKeyForm::kBytes, options.index_block_size_bytes,
                   options.max_block_size_bytes);
  }
}

void FileWriter::SetLevels(const LevelLimits& limits) {
  info_.levels = limits;
  info_.incompatible_features = IncompatibleFeatures(info_, /*levels=*/true, chooses());
}

absl::Status FileWriter::CheckMetadata(std::string_view what, size_t size,
                                       std::string_view message,
                                       const google::protobuf::Descriptor& type) const {
  const bool kudu = options_.compatibility == Compatibility::kKudu;
  const size_t limit = options_.max_metadata_size_bytes;
  if (kudu && size > kKuduMaxFooterBytes) {
    return absl::OutOfRangeError(encodings::StrCat(name(), ": a ", what, " of ", size,
                                                   " bytes: Kudu reads ", kKuduMaxFooterBytes,
                                                   " at most"));
  }
  if (size > limit) {
    return absl::OutOfRangeError(
        encodings::StrCat(name(), ": a ", what, " of ", size, " bytes is ",
                          encodings::AboveLimit(limit, "max_metadata_size_bytes")));
  }
  const absl::Status status = CheckParsedSize(message, limit, type);
  if (status.ok()) return status;
  return absl::OutOfRangeError(encodings::StrCat(name(), ": the ", what, ": ", status.message()));
}

absl::Status FileWriter::CheckIndexSize() const {
  const size_t size = (positional_ ? positional_->reader_memory_bytes() : 0) +
                      (value_ ? value_->reader_memory_bytes() : 0);
  const size_t limit = options_.max_index_size_bytes;
  if (size <= limit) return absl::OkStatus();
  return absl::OutOfRangeError(
      encodings::StrCat(name(), ": an index that takes ", size, " bytes of memory is ",
                        encodings::AboveLimit(limit, "max_index_size_bytes")));
}

absl::Status FileWriter::Begin() {
  ByteWriter header;
  const std::string message = AppendHeader(info_, options_.compatibility, header);
  CFILE_RETURN_IF_ERROR(
      CheckMetadata("header", header.size(), message, *CFileHeaderPB::descriptor()));
  CFILE_RETURN_IF_ERROR(NamedSink(sink_->Append(header.span()), sink_->name()));
  appender_.emplace(sink_.get(), header.size(), options_.version, options_.compression,
                    options_.max_block_size_bytes, options_.compression_level);
  return absl::OkStatus();
}

void FileWriter::AddTotals(Encoding encoding, const BlockPointer& pointer, size_t block_size) {
  auto totals = std::find_if(encodings_.begin(), encodings_.end(),
                             [&](const EncodingTotals& each) { return each.encoding == encoding; });
  if (totals == encodings_.end()) {
    encodings_.push_back({.encoding = encoding});
    totals = encodings_.end() - 1;
  }
  ++totals->blocks;
  totals->stored_bytes += pointer.size;
  // An uncompressed block is stored with its size before it and its checksum after it.
  if (options_.compression != Compression::kNone &&
      (options_.version == FormatVersion::kV1 ||
       pointer.size < block_size + sizeof(uint32_t) + kChecksumBytes)) {
    ++totals->compressed_blocks;
  }
}

absl::Status FileWriter::AddFooterMetadata(std::string_view key, std::string_view value) {
  CFILE_RETURN_IF_ERROR(CheckMetadataKey(key));
  info_.footer_metadata.emplace_back(key, value);
  return absl::OkStatus();
}

absl::Status FileWriter::AppendBlock(const encodings::EncodedBlock& block, uint64_t first_ordinal,
                                     std::string_view value_key, ByteWriter& prefix) {
  const Encoding encoding = block.encoding == Encoding::kAuto ? info_.encoding : block.encoding;
  if (info_.has_extended_blocks()) {
    AppendExtendedHeader(encoding, block.count, first_ordinal, block.skip_table.span(), prefix);
  }
  BlockStorage storage{.compress = block.compressible};
  if (block.aligned_values_offset && options_.compatibility != Compatibility::kKudu)
    storage.align_at = prefix.size() + *block.aligned_values_offset;
  if (value_) CFILE_RETURN_IF_ERROR(value_->MakeRoom(value_key, *appender_));
  CFILE_ASSIGN_OR_RETURN(const BlockPointer pointer,
                         appender_->Append(prefix.span(), block.bytes.span(), storage));
  AddTotals(encoding, pointer, prefix.size() + block.bytes.size());
  if (positional_)
    CFILE_RETURN_IF_ERROR(positional_->Add(OrdinalKey(first_ordinal), pointer, *appender_));
  if (value_) CFILE_RETURN_IF_ERROR(value_->Add(value_key, pointer, *appender_));
  return CheckIndexSize();
}

absl::Status FileWriter::Finish(uint64_t num_values, const ByteWriter* dictionary,
                                const StatisticsBytes& statistics,
                                std::optional<uint64_t> num_entries) {
  info_.num_values = num_values;
  info_.num_entries = num_entries;
  if (chooses()) {
    uint64_t most_bytes = 0;
    for (const EncodingTotals& totals : encodings_) {
      const bool has_dictionary = encodings::FindEncoding(totals.encoding)->has_dictionary;
      const uint64_t bytes =
          has_dictionary ? std::numeric_limits<uint64_t>::max() : totals.stored_bytes;
      if (bytes > most_bytes) info_.encoding = totals.encoding;
      most_bytes = std::max(most_bytes, bytes);
    }
  }
  if (positional_) {
    CFILE_ASSIGN_OR_RETURN(info_.positional_index_root, positional_->Finish(*appender_));
  }
  if (value_) {
    CFILE_ASSIGN_OR_RETURN(info_.value_index_root, value_->Finish(*appender_));
  }
  CFILE_RETURN_IF_ERROR(CheckIndexSize());
  if (dictionary != nullptr) {
    CFILE_ASSIGN_OR_RETURN(info_.dictionary, appender_->Append({}, dictionary->span()));
  }
  if (!statistics.message.empty()) {
    // A filter hardly compresses, so it is not copied for an attempt.
    const BlockStorage storage{.compress = statistics.bloom_filter.empty(),
                               .extra_size_bytes = statistics.bloom_filter.size()};
    CFILE_ASSIGN_OR_RETURN(info_.statistics,
                           appender_->Append(encodings::AsBytes(statistics.message),
                                             statistics.bloom_filter, storage));
    info_.bloom_filter = statistics.bloom_info;
    info_.compatible_features |= kCompatibleFeatureStatistics;
  }
  ByteWriter footer;
  const std::string message = AppendFooter(info_, options_.compatibility, footer);
  CFILE_RETURN_IF_ERROR(
      CheckMetadata("footer", footer.size(), message, *CFileFooterPB::descriptor()));
  CFILE_RETURN_IF_ERROR(NamedSink(sink_->Append(footer.span()), sink_->name()));
  footer_bytes_ = footer.size();
  return NamedSink(sink_->Finish(), sink_->name());
}

size_t FileWriter::memory_usage_bytes() const {
  return (appender_ ? appender_->memory_usage_bytes() : 0) +
         (positional_ ? positional_->memory_usage_bytes() : 0) +
         (value_ ? value_->memory_usage_bytes() : 0);
}

}  // namespace cfile::internal
