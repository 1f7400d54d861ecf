// Reads several files of text as one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "tools/input/input_file.h"

namespace cfile::tools {

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

// The files that `paths` names: files, URLs and - are themselves. A directory stands for the files in
// it and in its folders, except names that begin with . or _. A path that does not exist may be a
// pattern of a shell. The files of each path are sorted. kNotFound: a directory or pattern without
// files.
absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct JoinedFiles {
  InputFile file;
  TextParts parts;
};

// Copies the texts of `paths` into one temporary file; each text ends with a line end. `options` are
// for each file; their path is not used. `header(file, text)` returns how many bytes at the beginning
// of `text` are a header, or an error: the file is not one of these. If the header of a later file has
// the same bytes as that of the first file, it is left out. Errors: those of OpenInputFile.
absl::StatusOr<JoinedFiles> JoinFiles(
    const std::vector<std::string>& paths, InputFileOptions options,
    absl::FunctionRef<absl::StatusOr<size_t>(const InputFile& file, std::string_view text)> header);

}  // namespace cfile::tools
