// Compression of blocks, or of their sections. compression.h has the names of the codecs, and
// decompression.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/types.h"
#include "encodings/core/bytes.h"

namespace cfile::internal {

// Compresses `in` and appends the result to `out`. `level`: zstd's level, 0 = zstd's default; other
// codecs ignore `level`. Thread-safe: working memory is per thread. kUnimplemented: the codec was
// not built in. kInvalidArgument: the codec is LZ4, and `in` has more than 0x7E000000 bytes.
// Precondition: in.size() < 2^31.
absl::Status Compress(Compression compression, std::span<const uint8_t> in,
                      encodings::ByteWriter& out, int level = 0);

}  // namespace cfile::internal
