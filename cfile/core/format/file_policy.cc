#include "cfile/core/format/file_policy.h"

#include <string>

#include "cfile/core/format/column_message.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

// The largest header or footer that Kudu reads.
constexpr size_t kKuduMaxMetadataBytes = 64 * 1024;

constexpr VersionPolicy kVersion1{.magic = "kuducfil",
                                  .features = false,
                                  .compresses_all = true,
                                  .vint_ordinals = true,
                                  .numbers_header = true};
constexpr VersionPolicy kVersion2{.magic = "kuducfl2",
                                  .features = true,
                                  .compresses_all = false,
                                  .vint_ordinals = false,
                                  .numbers_header = false};

absl::Status Invalid(std::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// Rejects types, encodings and codecs that Kudu or version 1 (`whom`) does not have.
absl::Status CheckNumbers(const ColumnType& type, const WriterOptions& options,
                          const std::string& whom) {
  if (NeedsExtension(type)) return Invalid(StrCat(whom, " has no type ", type.ToString()));
  if (NeedsExtension(static_cast<uint32_t>(options.encoding))) {
    return Invalid(StrCat(whom, " has no encoding ", EncodingName(options.encoding)));
  }
  if (NeedsExtension(static_cast<uint32_t>(options.compression))) {
    return Invalid(StrCat(whom, " has no compression ", CompressionName(options.compression)));
  }
  return absl::OkStatus();
}

}  // namespace

const VersionPolicy& PolicyOf(FormatVersion version) {
  return version == FormatVersion::kV1 ? kVersion1 : kVersion2;
}

std::optional<FormatVersion> VersionOfMagic(std::string_view magic) {
  if (magic == kVersion2.magic) return FormatVersion::kV2;
  if (magic == kVersion1.magic) return FormatVersion::kV1;
  return std::nullopt;
}

FilePolicy PolicyOf(const WriterOptions& options) {
  FilePolicy policy;
  policy.extensions = policy.blocks_choose = PolicyOf(options.version).features;
  policy.own_encodings = options.oldest_reader != OldestReader::kVersion0_1;
  policy.movable_blocks =
      policy.extensions && policy.own_encodings && options.movable_blocks.value_or(false);
  // A cursor that leaves a piece finds the rest of the rows with the positional index.
  policy.pieces = policy.extensions && options.value_index && options.positional_index &&
                  ReaderOr(options.oldest_reader, kNewestReader) >= OldestReader::kVersion0_3;
  if (options.oldest_reader == OldestReader::kKudu) {
    policy = {.kudu_exact = true,
              .extensions = false,
              .blocks_choose = false,
              .aligns_values = false,
              .own_encodings = false,
              .limits_rows = false,
              .max_batch_rows = kKuduBatchRows,
              .max_metadata_size_bytes = kKuduMaxMetadataBytes};
  }
  return policy;
}

OldestReader ReaderOr(OldestReader named, OldestReader otherwise) {
  return named == OldestReader::kDefault ? otherwise : named;
}

bool KnowsTableFeatures(OldestReader reader) { return reader > OldestReader::kVersion0_1; }

Encoding DefaultEncoding(const ColumnType& type, const WriterOptions& options) {
  const bool kudu = options.oldest_reader == OldestReader::kKudu;
  switch (type.physical()) {
    case PhysicalType::kBool:
      return Encoding::kRle;
    case PhysicalType::kBytes:
      return kudu ? Encoding::kDict : options.value_index ? Encoding::kPrefix : Encoding::kPlain;
    default:
      return kudu ? Encoding::kBitShuffle : Encoding::kPlain;
  }
}

absl::Status CheckPolicy(const ColumnType& type, const WriterOptions& options) {
  if (options.oldest_reader == OldestReader::kKudu) {
    CFILE_RETURN_IF_ERROR(CheckNumbers(type, options, "Kudu"));
    if (options.value_index &&
        (type.physical() == PhysicalType::kBool || type.physical() == PhysicalType::kFloat ||
         type.physical() == PhysicalType::kDouble)) {
      return Invalid(StrCat("Kudu has no keys of type ", type.ToString()));
    }
    if (options.encoding == Encoding::kGroupVarint && options.version == FormatVersion::kV2) {
      return Invalid("Kudu no longer has encoding group-varint");
    }
  }
  if (!PolicyOf(options).own_encodings &&
      static_cast<uint32_t>(options.encoding) >= encodings::kFirstOwnNumber) {
    return Invalid(StrCat("version 0.1 has no encoding ", EncodingName(options.encoding)));
  }
  if (options.version == FormatVersion::kV1)
    CFILE_RETURN_IF_ERROR(CheckNumbers(type, options, "version 1"));
  return absl::OkStatus();
}

absl::Status CheckLevelPolicy(const LevelLimits& limits, const WriterOptions& options) {
  if (!PolicyOf(options.version).features) return Invalid("version 1 has no levels");
  if (options.oldest_reader == OldestReader::kKudu && !limits.kudu_array)
    return Invalid("Kudu only has the levels of one-level arrays");
  return absl::OkStatus();
}

}  // namespace cfile::internal

namespace cfile {

std::string OldestReaderName(OldestReader reader) {
  switch (reader) {
    case OldestReader::kDefault:
      return "";
    case OldestReader::kKudu:
      return "kudu";
    case OldestReader::kVersion0_1:
      return "0.1";
    case OldestReader::kVersion0_2:
      return "0.2";
    case OldestReader::kVersion0_3:
      return "0.3";
  }
  return StrCat("number ", static_cast<uint32_t>(reader));
}

absl::StatusOr<OldestReader> ParseOldestReader(std::string_view name) {
  for (const OldestReader reader : {OldestReader::kKudu, OldestReader::kVersion0_1,
                                    OldestReader::kVersion0_2, OldestReader::kVersion0_3}) {
    if (OldestReaderName(reader) == name) return reader;
  }
  return absl::InvalidArgumentError(
      StrCat("expected kudu, 0.1, 0.2 or 0.3 as the oldest reader, found ", name));
}

}  // namespace cfile
