// Recognizes formats of files by their first bytes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/io.h"
#include "tools/input/decompression.h"

namespace cfile::tools {

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

// kInvalidArgument, as from CheckIsImported, for a compressed file of any kind, and
// text in UTF-16 or UTF-32. Does not check that other files are UTF-8. Other errors are those of the
// source.
absl::Status CheckIsUtf8Text(const Source& source);

}  // namespace cfile::tools
