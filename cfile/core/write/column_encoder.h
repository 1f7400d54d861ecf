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
#include "cfile/core/format/writer_choices.h"
#include "cfile/core/io/named_status.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/core/block_codec.h"
#include "encodings/core/status.h"

namespace cfile::internal {

// Replaces the open choices of `options` (ResolveChoices) and checks `options` for a column of
// `type`. `name`: the file's name, for messages. `holds_type`: HoldsType of the caller's C++ type.
// Errors: kInvalidArgument and kUnimplemented, in the cases that Writer::Create describes.
inline absl::Status PrepareToWrite(const std::string& name, const ColumnType& type, bool holds_type,
                                   WriterOptions& options) {
  CFILE_RETURN_IF_ERROR(Validate(type));
  ResolveChoices(type, options);
  absl::Status status = CheckWriterOptions(type, options);
  if (!holds_type) {
    status = absl::InvalidArgumentError(
        StrCat("a column of type ", type.ToString(), " does not take values of this C++ type"));
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
absl::StatusOr<std::unique_ptr<encodings::AnyBlockEncoder>> NewEncoder(const ColumnType& type,
                                                                       const WriterOptions& options,
                                                                       bool whole_records);

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
          StrCat(where(i), " has ", size, " bytes, the type has ", type.type_length));
    }
    if (size > limit) {
      return OutOfRange(where(i), " has ", size, " bytes, ",
                        limit < block_limit
                            ? AboveLimit(limit, "max_value_size_bytes")
                            : AboveLimit(options.max_block_size_bytes, "max_block_size_bytes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cfile::internal
