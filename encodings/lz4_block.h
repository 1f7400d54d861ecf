// Decompresses LZ4 blocks of bit-transposed values, which are mostly long repetitions of a few
// bytes: liblz4 copies those 8 bytes at a time, each from the ones just written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfile::encodings {

// Bytes behind `out` that DecompressLz4Block may write to.
inline constexpr size_t kLz4SlackBytes = 64;

// Fills `out` with what the LZ4 block `in` decompresses to. False if `in` is damaged or does not
// make exactly out.size() bytes; `out` then holds anything. Reads nothing outside of `in`, writes
// nothing outside of `out` and kLz4SlackBytes behind it. Thread-safe.
bool DecompressLz4Block(std::span<const uint8_t> in, std::span<uint8_t> out);

}  // namespace cfile::encodings
