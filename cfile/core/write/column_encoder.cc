#include "cfile/core/write/column_encoder.h"

#include "cfile/core/format/file_policy.h"
#include "cfile/core/format/piece_table.h"
#include "cfile/core/write/auto_encoder.h"
#include "encodings/registry.h"

namespace cfile::internal {

absl::StatusOr<std::unique_ptr<encodings::AnyBlockEncoder>> NewEncoder(const ColumnType& type,
                                                                       const WriterOptions& options,
                                                                       bool whole_records) {
  const size_t beside =
      kBlockOverheadBytes + (options.nullable && !whole_records ? MaxValidityBytes(options) : 0);
  const size_t largest = options.max_block_size_bytes;
  const size_t largest_body = largest - std::min(kBlockOverheadBytes, largest);
  const encodings::EncoderOptions encoder_options{
      .block_size_bytes = whole_records ? largest : options.block_size_bytes,
      .restart_interval = options.restart_interval,
      .type_length = type.type_length,
      .kudu_exact = PolicyOf(options).kudu_exact,
      .max_dictionary_bytes =
          std::min(encodings::EncoderOptions().max_dictionary_bytes, largest_body),
      .max_dictionary_values = std::min<size_t>(options.max_dictionary_values, INT32_MAX),
      .max_block_size_bytes = largest - std::min(beside, largest),
      .whole_records = whole_records,
      .piece_bytes = PolicyOf(options).pieces ? kPieceBytes : 0};
  const AutoOptions choice{.goal = options.goal,
                           .compression = CodecOf(options),
                           .compression_level = options.compression_level,
                           .compress_all = options.compression != Compression::kDefault,
                           .value_index = options.value_index,
                           .single_values = options.single_values,
                           .movable_blocks = PolicyOf(options).movable_blocks,
                           .for_searches = options.value_index &&
                                           options.compression == Compression::kDefault &&
                                           !PolicyOf(options).movable_blocks,
                           .own_encodings = PolicyOf(options).own_encodings,
                           .small_blocks = SeekBlockBytes(options) > 0,
                           .block_size_bytes = options.block_size_bytes};
  if (options.encoding == Encoding::kAuto)
    return MakeAutoEncoder(type.physical(), encoder_options, choice);
  return encodings::MakeAnyEncoder(options.encoding, type.physical(), encoder_options);
}

}  // namespace cfile::internal
