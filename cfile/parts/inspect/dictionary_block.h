// The block that holds the dictionary of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "cfile/file_info.h"
#include "encodings/core/block_codec.h"

namespace cfile::internal {

// The values of a dictionary, or its symbols, are a block of a PLAIN encoding (cfile/FORMAT.md).
struct DictionaryBlock {
  size_t count_bytes = 0;  // the size of the number of values before the block
  Encoding encoding = Encoding::kPlain;
  encodings::BlockView values;
};

// Splits `bytes`, the dictionary before compression of the file that `info` describes.
// kDataLoss: the number of values is malformed. The values are not checked.
absl::StatusOr<DictionaryBlock> SplitDictionary(const FileInfo& info,
                                                std::span<const uint8_t> bytes);

}  // namespace cfile::internal
