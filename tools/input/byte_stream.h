// Streams of bytes that are read once, from first to last: a file or a pipe, and stages that
// decompress another stream, or convert it to UTF-8. A temporary file can hold their bytes.
#pragma once

#include <cstdint>
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

// Called before each read with the number of bytes that were read. An error ends the stream.
using ReadCheck = std::function<absl::Status(uint64_t bytes)>;

// Owns the descriptor, which may be in non-blocking mode, and reads it from its current position,
// at most 256 KiB at a time. `name` is for errors. Calls `check` also each second while it waits
// for a pipe.
std::unique_ptr<ByteStream> NewDescriptorStream(int descriptor, std::string name, ReadCheck check);

// Reads a source from its first byte to its last, in pieces of 4 MiB.
std::unique_ptr<ByteStream> NewSourceStream(std::shared_ptr<const Source> source, ReadCheck check);

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

enum class Packing : uint8_t { kNone, kGzip, kZstd };

// "gzip" or "zstd". Precondition: `packing` is not kNone.
std::string PackingName(Packing packing);

// Decompresses `packed`, the data of input `name`:
// - kGzip: one or several gzip members (RFC 1952), and zero bytes after the last one.
// - kZstd: zstd frames (RFC 8878) with windows of at most 128 MiB, and skippable frames. This limit
//   is the most memory that a stream takes.
//
// Checksums are verified. The data must end at the end of a member or frame. Errors of Next:
// kInvalidArgument "NAME: offset N: ..." if the data is damaged or truncated; N counts bytes of the
// compressed data. kOutOfRange: a window above the limit. Decompress itself returns kUnimplemented
// if the library for `packing` is not built in. Precondition: `packing` is not kNone.
absl::StatusOr<std::unique_ptr<ByteStream>> Decompress(Packing packing,
                                                       std::unique_ptr<ByteStream> packed,
                                                       std::string name);

// Converts `text`, the text of input `name`, from `charset` to UTF-8. `charset` is latin-1 or a
// name that iconv knows, such as UTF-16LE or WINDOWS-1252. UTF-16 and UTF-32 without LE or BE begin
// with a byte order mark, or have the byte order of this machine.
//
// kInvalidArgument: iconv does not know `charset`. kInvalidArgument of Next, with line and offset
// in `text`: bytes that are no character of `charset`.
absl::StatusOr<std::unique_ptr<ByteStream>> ConvertToUtf8(const std::string& charset,
                                                          std::unique_ptr<ByteStream> text,
                                                          std::string name);

struct SpoolOptions {
  std::string directory;            // of the temporary file
  uint64_t max_bytes = UINT64_MAX;  // of the stream
  bool cut = false;                 // a longer stream is cut, which is no error
  bool map = false;                 // Source::InMemory has the bytes
};

// Copies `stream` into a temporary file and returns a source with its bytes and the name `name`.
// The file has no name in its directory, so the system removes it when the source is destroyed or
// the process ends in any way. kOutOfRange: the stream is longer than max_bytes. Other errors are
// those of the stream, and of the file: the message says the directory.
absl::StatusOr<std::shared_ptr<const Source>> Spool(ByteStream& stream, const std::string& name,
                                                    const SpoolOptions& options);

}  // namespace cfile::tools
