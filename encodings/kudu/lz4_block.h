// Decompresses the LZ4 blocks inside Kudu's BIT_SHUFFLE blocks. (The compression codec LZ4, which
// compresses whole blocks of a file, does not use this.) These LZ4 blocks hold bit-transposed
// values, which are mostly long repetitions of a few bytes. liblz4 is slow for these: it copies 8
// bytes at a time, each time from the bytes that it has just written. Of 256 KiB, this function
// decompresses integers below 100 at 48 GB/s (liblz4 1.9.4: 6), below 8 at 38 to 47 GB/s (9), and
// sequences and equal values at 47 to 49 GB/s (22 to 24). liblz4 is faster for values that hardly
// have repetitions: timestamps 17 GB/s (12), decimals as double 24 GB/s (20).
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
