// Turns the options of a writer into choices for one file. What each block chooses for itself stays
// open. Also checks whether a file of the type can be written with the options.
#include "cfile/core/format/writer_choices.h"

#include <algorithm>

#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/metadata_keys.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {
namespace {

constexpr int kMaxCompressionLevel = 22;  // of zstd
constexpr size_t kLargestBlockBytes = (size_t{1} << 31) - 1;

}  // namespace

void ResolveChoices(const ColumnType& type, WriterOptions& options) {
  if (options.encoding == Encoding::kAuto && !PolicyOf(options).blocks_choose)
    options.encoding = DefaultEncoding(type, options);
  const bool automatic = options.encoding == Encoding::kAuto;
  if (options.compression == Compression::kDefault && !automatic)
    options.compression = Compression::kNone;
  if (options.restart_interval == 0) options.restart_interval = automatic ? 32 : 16;
}

Compression CodecOf(const WriterOptions& options) {
  if (options.compression != Compression::kDefault) return options.compression;
  const bool none =
      options.goal == Goal::kSpeed || !CheckCompressionBuiltIn(Compression::kZstd).ok();
  return none ? Compression::kNone : Compression::kZstd;
}

size_t SeekBlockBytes(const WriterOptions& options) {
  if (!options.value_index || !PolicyOf(options).extensions) return 0;
  return std::min(options.seek_block_size_bytes, options.max_block_size_bytes);
}

bool HasStatistics(const WriterOptions& options) {
  return options.statistics && PolicyOf(options).extensions;
}

absl::Status CheckWriterOptions(const ColumnType& type, const WriterOptions& options) {
  CFILE_RETURN_IF_ERROR(Validate(type));
  // This check is before the check of the encoding. Otherwise the error for a type that the version
  // does not have could name the encoding instead of the type.
  CFILE_RETURN_IF_ERROR(CheckPolicy(type, options));
  const encodings::EncodingRow* row = encodings::FindEncoding(options.encoding);
  if (options.encoding != Encoding::kAuto && (row == nullptr || !row->Supports(type.physical()))) {
    return absl::UnimplementedError(StrCat("encoding ", EncodingName(options.encoding),
                                           " does not take values of type ", type.ToString()));
  }
  CFILE_RETURN_IF_ERROR(CheckCompressionBuiltIn(options.compression));
  if (options.value_index && options.nullable)
    return absl::InvalidArgumentError("a column with a value index cannot be nullable");
  if (options.value_index && type.physical() == PhysicalType::kInt96)
    return absl::InvalidArgumentError(
        "int96 has no order, so a column of it cannot have a value index");
  if (!options.positional_index && !options.value_index) {
    return absl::InvalidArgumentError("a file needs a positional or a value index");
  }
  if (options.block_size_bytes == 0 ||
      options.block_size_bytes > options.max_block_size_bytes / 2) {
    return absl::InvalidArgumentError(
        "block_size_bytes must be between 1 and half of max_block_size_bytes");
  }
  if (options.max_block_size_bytes > kLargestBlockBytes)
    return absl::InvalidArgumentError("max_block_size_bytes must be below 2^31");
  if (options.max_bloom_filter_bytes > kLargestBlockBytes)
    return absl::InvalidArgumentError("max_bloom_filter_bytes must be below 2^31");
  if (options.max_values_per_block == 0)
    return absl::InvalidArgumentError("max_values_per_block must be at least 1");
  if (options.bloom_filter_bits_per_value > 0 && !HasStatistics(options)) {
    return absl::InvalidArgumentError(
        "a Bloom filter is part of the statistics, but the options, version 1 or Kudu allow none");
  }
  if (options.compression_level < 0 || options.compression_level > kMaxCompressionLevel)
    return absl::InvalidArgumentError(
        StrCat("compression_level must be 0 to ", kMaxCompressionLevel));
  for (const auto& [key, value] : options.metadata) {
    CFILE_RETURN_IF_ERROR(CheckMetadataKey(key));
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
