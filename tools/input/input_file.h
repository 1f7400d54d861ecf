// Opens the input of an import: a file, a pipe or standard input, perhaps compressed or in another
// charset.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/io.h"

namespace cfile::tools {

struct InputFileOptions {
  std::string path;  // "-" is standard input
  // auto: UTF-8, but UTF-16 and UTF-32 if the first bytes show it. utf-8: no conversion. Otherwise
  // the name of a charset (charset.h).
  std::string charset = "auto";
  uint64_t max_bytes = UINT64_MAX;  // of text that is not read from the file itself
  std::string spool_directory;      // of the temporary file
  bool map = false;                 // Source::InMemory has the text
  // Called before each part of the input is read, and each second while a pipe has no data. Gets the
  // number of bytes that were read. An error ends the work.
  std::function<absl::Status(uint64_t bytes)> progress;
};

struct InputFile {
  // The text. Its name is the path, or "standard input".
  std::shared_ptr<const Source> source;
  bool seekable = true;       // the input is a regular file
  std::string packing;        // gzip or zstd if the input is compressed, otherwise ""
  uint64_t stored_bytes = 0;  // of the input, as it is stored or came through the pipe
  std::string charset;        // from which the text was converted to UTF-8; "": it was not
};

// Opens the input. A regular file without compression, with text that is not converted, is opened
// itself. Other inputs are read once: decompressed, converted to UTF-8, and copied to a temporary
// file (spooled_file.h). Compression is recognised by the first bytes, not by the name.
// kInvalidArgument: the input has a format that CheckIsImported refuses, or is damaged, cut off, or
// not text of the charset. kOutOfRange: more than `max_bytes`. Other errors are those of files.
absl::StatusOr<InputFile> OpenInputFile(const InputFileOptions& options);

// `path` without .gz or .zst at its end.
std::string_view WithoutPackingSuffix(std::string_view path);

}  // namespace cfile::tools
