// Codecs: their costs, and decompression. compress.h compresses. compression.cc also implements the
// functions of cfile/types.h for names and numbers of codecs. To add a codec, see
// encodings/ADDING.md, Adding a compression codec.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "cfile/types.h"

namespace cfile::internal {

// Returns the approximate time of decompression on one core. Use it only to compare ways to store
// values.
uint64_t DecompressionPicoseconds(Compression compression, uint64_t compressed_size,
                                  uint64_t uncompressed_size);

// Returns kDataLoss if `compressed_size` bytes of this codec cannot decompress to
// `uncompressed_size` bytes. Call before memory is allocated for a size that a file claims.
// (Brotli's expansion has no useful bound.)
absl::Status CheckUncompressedSize(Compression compression, size_t compressed_size,
                                   size_t uncompressed_size);

// Decompresses `in` into `out`. Thread-safe. kDataLoss, with the codec's name, if `in` is damaged
// or does not decompress to exactly out.size() bytes; the contents of `out` are then undefined.
absl::Status Uncompress(Compression compression, std::span<const uint8_t> in,
                        std::span<uint8_t> out);

}  // namespace cfile::internal
