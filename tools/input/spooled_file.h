// Temporary files that hold the bytes of streams.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/input/byte_stream.h"

namespace cfile::tools {

struct SpoolOptions {
  std::string directory;            // of the temporary file
  uint64_t max_bytes = UINT64_MAX;  // of the stream
  bool map = false;                 // Source::InMemory has the bytes
};

// Copies `stream` into a temporary file and returns a source with the bytes of the file. The name of
// the source is `name`. The file has no name in its directory, so the system removes it when the
// source is destroyed or the process ends in any way.
// kOutOfRange: the stream is longer than max_bytes. Other errors are those of the stream, and of the
// file: the message says the directory.
absl::StatusOr<std::shared_ptr<const Source>> Spool(ByteStream& stream, const std::string& name,
                                                    const SpoolOptions& options);

}  // namespace cfile::tools
