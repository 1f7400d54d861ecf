#include "cfile/parts/c/options.h"

#include "cfile/parts/c/call.h"
#include "cfile/types.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

static_assert(CFILE_GOAL_BALANCED == static_cast<int>(Goal::kBalanced));
static_assert(CFILE_GOAL_SIZE == static_cast<int>(Goal::kSize));
static_assert(CFILE_GOAL_SPEED == static_cast<int>(Goal::kSpeed));

// Sets `option` unless `given` is 0, which means the default.
template <typename Option, typename Given>
void Set(Option& option, Given given) {
  if (given != 0) option = static_cast<Option>(given);
}

}  // namespace

absl::StatusOr<ReaderOptions> OptionsOf(const cfile_reader_options* options) {
  ReaderOptions result;
  cfile_reader_options given;
  CFILE_RETURN_IF_ERROR(ReadStruct(options, given));
  if (given.use_pread != 0) result.access = ReaderOptions::Access::kPread;
  result.verify_checksums = given.ignore_checksums == 0;
  Set(result.max_block_size_bytes, given.max_block_size_bytes);
  Set(result.max_bloom_filter_bytes, given.max_bloom_filter_bytes);
  Set(result.max_metadata_size_bytes, given.max_metadata_size_bytes);
  Set(result.max_dictionary_values, given.max_dictionary_values);
  Set(result.max_index_size_bytes, given.max_index_size_bytes);
  Set(result.max_table_memory_bytes, given.max_table_memory_bytes);
  Set(result.max_open_files, given.max_open_files);
  Set(result.read_ahead_bytes, given.read_ahead_bytes);
  result.stored_rows = given.stored_rows != 0;
  return result;
}

absl::StatusOr<WriterOptions> OptionsOf(const cfile_writer_options* options) {
  WriterOptions result;
  cfile_writer_options given;
  CFILE_RETURN_IF_ERROR(ReadStruct(options, given));
  if (given.encoding != nullptr) {
    CFILE_ASSIGN_OR_RETURN(result.encoding, ParseEncoding(given.encoding));
  }
  if (given.compression != nullptr) {
    CFILE_ASSIGN_OR_RETURN(result.compression, ParseCompression(given.compression));
  }
  if (given.goal < CFILE_GOAL_BALANCED || given.goal > CFILE_GOAL_SPEED)
    return absl::InvalidArgumentError(absl::StrCat("there is no goal ", given.goal));
  if (given.format_version < 0 || given.format_version > 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no version ", given.format_version, " of the format"));
  }
  result.goal = static_cast<Goal>(given.goal);
  result.compression_level = given.compression_level;
  result.nullable = given.nullable != 0;
  result.value_index = given.value_index != 0;
  result.positional_index = given.no_positional_index == 0;
  result.statistics = given.no_statistics == 0;
  Set(result.version, given.format_version);
  if (given.oldest_reader < 0 || given.oldest_reader > CFILE_OLDEST_READER_0_3) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no oldest reader ", given.oldest_reader));
  }
  result.oldest_reader = OldestReader{static_cast<uint32_t>(given.oldest_reader)};
  result.bloom_filter_bits_per_value = given.bloom_filter_bits_per_value;
  Set(result.max_values_per_block, given.max_values_per_block);
  Set(result.block_size_bytes, given.block_size_bytes);
  Set(result.max_block_size_bytes, given.max_block_size_bytes);
  Set(result.max_value_size_bytes, given.max_value_size_bytes);
  Set(result.max_packed_part_bytes, given.max_packed_part_bytes);
  return result;
}

}  // namespace cfile::internal
