// What Writer and LevelWriter do alike before values become blocks.
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
#include "cfile/internal/auto_encoder.h"
#include "cfile/internal/file_metadata.h"
#include "cfile/internal/file_writer.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "encodings/block_codec.h"
#include "encodings/registry.h"
#include "encodings/status.h"

namespace cfile::internal {

// Resolves what `options` leaves open and checks it for a column of `type`. kInvalidArgument,
// kUnimplemented as Writer::Create; `name`: of the file.
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
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

// An encoder whose blocks end at about `block_size_bytes`. Precondition: PrepareToWrite was OK.
template <typename T>
absl::StatusOr<std::unique_ptr<encodings::BlockEncoder<T>>> NewEncoder(const ColumnType& type,
                                                                       const WriterOptions& options,
                                                                       size_t block_size_bytes) {
  const encodings::EncoderOptions encoder_options{
      .block_size_bytes = block_size_bytes,
      .restart_interval = options.restart_interval,
      .type_length = type.type_length,
      .kudu_exact = options.compatibility == Compatibility::kKudu};
  if (options.encoding == Encoding::kAuto) {
    return MakeAutoEncoder<T>(type.physical(), encoder_options,
                              {.goal = options.goal,
                               .compression = CodecOf(options),
                               .compression_level = options.compression_level,
                               .compress_all = options.compression != Compression::kDefault,
                               .value_index = options.value_index,
                               .block_size_bytes = options.block_size_bytes});
  }
  return encodings::MakeEncoder<T>(options.encoding, type.physical(), encoder_options);
}

// kInvalidArgument or kOutOfRange if one of `values` has a size that a file of `type` does not
// take; where(i), a string, says which one that is.
template <typename Where>
absl::Status CheckSizes(std::span<const std::string_view> values, const ColumnType& type,
                        const WriterOptions& options, Where where) {
  const bool fixed = type.physical() == PhysicalType::kFixedBytes;
  const size_t block_limit =
      options.max_block_size_bytes - std::min<size_t>(64, options.max_block_size_bytes);
  const size_t limit = std::min(options.max_value_size_bytes, block_limit);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t size = values[i].size();
    if (fixed && size != type.type_length) {
      return absl::InvalidArgumentError(
          absl::StrCat(where(i), " has ", size, " bytes, the type ", type.type_length));
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
