// Decompresses streams in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/input/byte_stream.h"

namespace cfile::tools {

enum class Packing : uint8_t { kNone, kGzip, kZstd };

// "gzip" or "zstd". Precondition: `packing` is not kNone.
std::string PackingName(Packing packing);

// Decompresses `packed`, the data of input `name`:
// - kGzip: one or several gzip members (RFC 1952), and zero bytes after the last one.
// - kZstd: zstd frames (RFC 8878) with windows of at most 128 MiB, and skippable frames. This limit
//   is the most memory that a stream takes.
//
// Checksums are verified. The data must end at the end of a member or frame.
// Errors of Next: kInvalidArgument "NAME: offset N: ..." if the data is damaged or truncated; N
// counts bytes of the compressed data. kOutOfRange: a window above the limit. kUnimplemented, from
// this function: the library for `packing` is not built in.
// Precondition: `packing` is not kNone.
absl::StatusOr<std::unique_ptr<ByteStream>> Decompress(Packing packing,
                                                       std::unique_ptr<ByteStream> packed,
                                                       std::string name);

}  // namespace cfile::tools
