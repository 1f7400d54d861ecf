// Streams of bytes that are read once, from first to last: a file or a pipe, and stages that
// convert another stream (decompression.h, charset.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // The next bytes, valid until the next call; empty at the end of the stream. Errors name the
  // input and say where in it. Not called again after the end or an error.
  virtual absl::StatusOr<std::string_view> Next() = 0;
};

// Reads the descriptor from its current position, at most 256 KiB at a time. Owns the descriptor.
// The descriptor may be in non-blocking mode. `name` is for errors. Calls `check` before each read,
// and each second while it waits for a pipe; an error of `check` ends the stream with this error.
std::unique_ptr<ByteStream> NewDescriptorStream(int descriptor, std::string name,
                                                std::function<absl::Status()> check);

// Reads a source from its first byte to its last, in pieces of 4 MiB. Calls `check` before each read;
// an error of `check` ends the stream with this error.
std::unique_ptr<ByteStream> NewSourceStream(std::shared_ptr<const Source> source,
                                            std::function<absl::Status()> check);

// A stream whose first bytes can be looked at before the stream is read.
class HeadedStream final : public ByteStream {
 public:
  // Reads from `stream` until `min_head_bytes` bytes or its end.
  static absl::StatusOr<std::unique_ptr<HeadedStream>> Create(std::unique_ptr<ByteStream> stream,
                                                              size_t min_head_bytes);

  // The first bytes of the stream. Precondition: Next has not been called.
  std::string_view head() const { return head_; }

  absl::StatusOr<std::string_view> Next() override;

 private:
  HeadedStream() = default;

  std::unique_ptr<ByteStream> stream_;
  std::string head_;
  bool head_was_read_ = false;
  bool ended_ = false;  // stream_ has no bytes after head_
};

}  // namespace cfile::tools
