// Compression of whole blocks. The names and numbers of cfile/types.h are implemented here too.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/types.h"
#include "encodings/bytes.h"

namespace cfile::internal {

// Appends `in`, compressed, to `out`. `level`: of zstd, 0 = its default; other codecs have none.
// Thread-safe: the codecs' working memory belongs to the
// thread. kUnimplemented: see CheckCompressionBuiltIn. Precondition: in.size() < 2^31; LZ4 takes up
// to 0x7E000000 bytes and answers kInvalidArgument beyond.
absl::Status Compress(Compression compression, std::span<const uint8_t> in,
                      encodings::ByteWriter& out, int level = 0);

// About what it takes one core to decompress: for comparing ways to store values, not a promise.
uint64_t DecompressionPicoseconds(Compression compression, uint64_t compressed_size,
                                  uint64_t uncompressed_size);

// kDataLoss if no `compressed_size` bytes can become `uncompressed_size` with this codec: asked
// before memory is taken for a size that a file claims. (Brotli's expansion has no such bound.)
absl::Status CheckUncompressedSize(Compression compression, size_t compressed_size,
                                   size_t uncompressed_size);

// Fills `out` with what `in` decompresses to. Thread-safe. kDataLoss, with the codec's name, if
// `in` is damaged or does not make exactly out.size() bytes; `out` then holds anything.
absl::Status Uncompress(Compression compression, std::span<const uint8_t> in,
                        std::span<uint8_t> out);

}  // namespace cfile::internal
