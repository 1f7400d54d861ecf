// Opens the input of an import: a file, a pipe or standard input, or several files as one, perhaps
// compressed or in another charset, as the first bytes show.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/input/byte_stream.h"

namespace cfile::tools {

struct InputFileOptions {
  std::string path;  // "-" is standard input
  // auto: UTF-8, but UTF-16 and UTF-32 if the first bytes show it. utf-8: no conversion. Otherwise
  // the name of a charset (byte_stream.h).
  std::string charset = "auto";
  uint64_t max_bytes = UINT64_MAX;  // of text that is not read from the file itself
  bool cut = false;                 // text that is longer is cut, which is no error
  std::string spool_directory;      // of the temporary file
  bool map = false;                 // Source::InMemory has the text
  // Called before each part of the input is read, and each second while a pipe has no data. Gets
  // the number of bytes that were read. An error ends the work.
  std::function<absl::Status(uint64_t bytes)> progress;
};

struct InputFile {
  // The text. Its name is the path, or "standard input".
  std::shared_ptr<const Source> source;
  std::string packing;        // gzip or zstd if the input is compressed, otherwise ""
  uint64_t stored_bytes = 0;  // of the input, as it is stored or came through the pipe
  std::string charset;        // from which the text was converted to UTF-8; "": it was not
};

// Opens the input. A regular file without compression, with text that is not converted, is opened
// itself. Other inputs are read once: decompressed, converted to UTF-8, and copied to a temporary
// file (byte_stream.h). Compression is recognised by the first bytes, not by the name.
// kInvalidArgument: the input has a format that CheckIsImported refuses, or is damaged, cut off, or
// not text of the charset. kOutOfRange: more than `max_bytes`. Other errors are those of files.
absl::StatusOr<InputFile> OpenInputFile(const InputFileOptions& options);

// `path` without .gz or .zst at its end.
std::string_view WithoutPackingSuffix(std::string_view path);

// `head`: the first kFormatHeadBytes (tools/file_format.h) of a file.

// How the file that begins with `head` is compressed; kNone also for other compression.
Packing PackingOf(std::string_view head);

// UTF-16, UTF-16LE, UTF-16BE or UTF-32 if `head` is the beginning of such text, otherwise "".
// Recognizes a byte order mark. Without it, recognizes only UTF-16 whose first two characters are
// ASCII, so that one byte of each is NUL.
std::string WideCharset(std::string_view head);

// kInvalidArgument "NAME: the file is WHAT; WHAT TO DO" for a file that begins like a format that
// cfile-import does not read (tools/file_format.h).
absl::Status CheckIsImported(std::string_view head, std::string_view name);

// kInvalidArgument, as from CheckIsImported, for a compressed file of any kind, and text in UTF-16
// or UTF-32. Does not check that other files are UTF-8. Other errors are those of the source.
absl::Status CheckIsUtf8Text(const Source& source);

// A file in a text that consists of several.
struct TextPart {
  uint64_t begin = 0;       // in the text, after the byte order mark of the first file
  std::string name;         // of the file
  uint64_t first_line = 1;  // the line of the file at `begin`
  bool has_header = false;  // like that of the first file, and not in the text
};

// The parts of a text, in its order; null: it is one file.
using TextParts = std::shared_ptr<const std::vector<TextPart>>;

// The part in which the byte at `offset` is. Precondition: parts != nullptr.
const TextPart& PartAt(const TextParts& parts, uint64_t offset);

// The files that `paths` names: files, URLs and - are themselves. A directory stands for the files
// in it and in its folders, except names that begin with . or _. A path that does not exist may be
// a pattern of a shell. The files of each path are sorted. kNotFound: a directory or pattern
// without files.
absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct JoinedFiles {
  InputFile file;
  TextParts parts;
};

// Copies the texts of `paths` into one temporary file; each text ends with a line end. `options`
// are for each file; their path is not used. `header(file, text)` returns the number of bytes of
// the header with which `text` begins, or an error if the file cannot be joined with the others.
// The header of a later file is left out if it has the same bytes as the header of the first file.
// Errors: those of OpenInputFile and of `header`.
absl::StatusOr<JoinedFiles> JoinFiles(
    const std::vector<std::string>& paths, InputFileOptions options,
    absl::FunctionRef<absl::StatusOr<size_t>(const InputFile& file, std::string_view text)> header);

}  // namespace cfile::tools
