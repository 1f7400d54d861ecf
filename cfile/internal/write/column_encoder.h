// Functions that Writer and LevelWriter share: check options and values, and create the encoder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cfile/internal/format/file_metadata.h"
#include "cfile/internal/format/file_policy.h"
#include "cfile/internal/format/writer_choices.h"
#include "cfile/internal/io/named_status.h"
#include "cfile/internal/write/auto_encoder.h"
#include "cfile/internal/write/file_writer.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/status.h"
#include "encodings/registry.h"

namespace cfile::internal {

// Replaces the open choices of `options` (ResolveChoices) and checks `options` for a column of
// `type`. `name`: the file's name, for messages. Errors: kInvalidArgument and kUnimplemented, in
// the cases that Writer::Create describes.
template <typename T>
absl::Status PrepareToWrite(const std::string& name, const ColumnType& type,
                            WriterOptions& options) {
  CFILE_RETURN_IF_ERROR(Validate(type));
  ResolveChoices(type, options);
  absl::Status status = CheckWriterOptions(type, options);
  if (!HoldsType<T>(type)) {
    status = absl::InvalidArgumentError(absl::StrCat("a column of type ", type.ToString(),
                                                     " does not take values of this C++ type"));
  }
  return Named(status, name);
}

static_assert(kMaxDictionaryValues == encodings::kMaxDictionaryValues);

// A block has at most this many bytes besides its values and its null bitmap: headers and lengths.
inline constexpr size_t kBlockOverheadBytes = 64;

// A block ends when its null bitmap exceeds this size in bytes, an eighth of the largest block. The
// rows of a single call can make the bitmap larger.
inline size_t MaxValidityBytes(const WriterOptions& options) {
  return options.max_block_size_bytes / 8;
}

// Makes an encoder whose blocks end at about options.block_size_bytes or, with `whole_records`,
// where the caller decides. Precondition: PrepareToWrite returned OK.
template <typename T>
absl::StatusOr<std::unique_ptr<encodings::BlockEncoder<T>>> NewEncoder(const ColumnType& type,
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
      .whole_records = whole_records};
  if (options.encoding == Encoding::kAuto) {
    return MakeAutoEncoder<T>(
        type.physical(), encoder_options,
        {.goal = options.goal,
         .compression = CodecOf(options),
         .compression_level = options.compression_level,
         .compress_all = options.compression != Compression::kDefault,
         .value_index = options.value_index,
         .movable_blocks = PolicyOf(options).movable_blocks,
         .for_searches = options.value_index && options.compression == Compression::kDefault &&
                         !PolicyOf(options).movable_blocks,
         .small_blocks = SeekBlockBytes(options) > 0,
         .block_size_bytes = options.block_size_bytes});
  }
  return encodings::MakeEncoder<T>(options.encoding, type.physical(), encoder_options);
}

// At least the size of the largest of `values`, and at most twice this size. Takes less time than
// to find the largest.
inline size_t LargestSizeBound(std::span<const std::string_view> values) {
  size_t bits = 0;
  for (const std::string_view value : values) bits |= value.size();
  return bits;
}

// Checks the sizes of `values` for a file of `type`: kInvalidArgument if a fixed size is wrong,
// kOutOfRange if a value is too large. where(i) returns a string that names value i in messages.
template <typename Where>
absl::Status CheckSizes(std::span<const std::string_view> values, const ColumnType& type,
                        const WriterOptions& options, Where where) {
  const bool fixed = type.physical() == PhysicalType::kFixedBytes;
  const size_t block_limit =
      options.max_block_size_bytes - std::min(kBlockOverheadBytes, options.max_block_size_bytes);
  const size_t limit = std::min(options.max_value_size_bytes, block_limit);
  if (!fixed && LargestSizeBound(values) <= limit) return absl::OkStatus();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t size = values[i].size();
    if (fixed && size != type.type_length) {
      return absl::InvalidArgumentError(
          absl::StrCat(where(i), " has ", size, " bytes, the type has ", type.type_length));
    }
    if (size > limit) {
      return absl::OutOfRangeError(absl::StrCat(
          where(i), " has ", size, " bytes, ",
          limit < block_limit
              ? encodings::AboveLimit(limit, "max_value_size_bytes")
              : encodings::AboveLimit(options.max_block_size_bytes, "max_block_size_bytes")));
    }
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
