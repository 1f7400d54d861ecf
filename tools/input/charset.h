// Converts streams of text to UTF-8.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/input/byte_stream.h"

namespace cfile::tools {

// Converts `text`, the text of input `name`, from `charset` to UTF-8. `charset` is latin-1 or a
// name that iconv knows, such as UTF-16LE or WINDOWS-1252. UTF-16 and UTF-32 without LE or BE begin
// with a byte order mark, or have the byte order of this machine.
//
// kInvalidArgument: iconv does not know `charset`. kInvalidArgument of Next, with line and offset
// in `text`: bytes that are no character of `charset`.
absl::StatusOr<std::unique_ptr<ByteStream>> ConvertToUtf8(const std::string& charset,
                                                          std::unique_ptr<ByteStream> text,
                                                          std::string name);

}  // namespace cfile::tools
