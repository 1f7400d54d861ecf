// Decompresses the LZ4 blocks inside Kudu's BIT_SHUFFLE blocks. (The compression codec LZ4, which
// compresses whole blocks of a file, does not use this.) These LZ4 blocks hold bit-transposed
// values, which are mostly long repetitions of a few bytes. liblz4 copies a repetition in steps of
// 8 bytes. Each step reads the bytes that the step before has written, which is slow.
//
// The speeds in GB/s, for blocks of 256 KiB, of this function and of liblz4 1.9.4: integers below
// 100: 48 and 6; integers below 8: 38 to 47 and 9; sequences and equal values: 47 to 49 and 22 to
// 24; timestamps: 12 and 17; decimals as double: 20 and 24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

// Bytes after `out` that DecompressLz4Block may overwrite.
inline constexpr size_t kLz4SlackBytes = 64;

// Decompresses the LZ4 block `in` into `out`. Returns false if `in` is damaged or does not
// decompress to exactly out.size() bytes; then the contents of `out` are unspecified. Reads nothing
// outside `in`. Writes nothing outside `out` and the kLz4SlackBytes bytes after it, which the
// caller must provide. Thread-safe.
bool DecompressLz4Block(std::span<const uint8_t> in, std::span<uint8_t> out);

}  // namespace cfile::encodings
