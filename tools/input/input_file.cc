#include "tools/input/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/file_format.h"
#include "tools/input/byte_stream.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

// Opens a FIFO without waiting for its writer, because a signal would not end this wait.
int OpenToRead(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// The charset from which text that begins with `head` has to be converted; "" if it has not.
std::string CharsetOf(const std::string& chosen, std::string_view head) {
  if (absl::EqualsIgnoreCase(chosen, "auto")) return WideCharset(head);
  if (absl::EqualsIgnoreCase(chosen, "utf-8") || absl::EqualsIgnoreCase(chosen, "utf8")) return "";
  return chosen;
}

}  // namespace

absl::StatusOr<InputFile> OpenInputFile(const InputFileOptions& options) {
  const bool standard_input = options.path == "-";
  const bool at_url = IsUrl(options.path);
  std::string name = standard_input ? "standard input" : options.path;
  uint64_t stored_bytes = 0;
  const auto check = [&](uint64_t bytes) { return options.progress(stored_bytes = bytes); };
  std::unique_ptr<ByteStream> bytes;
  bool regular = false;
  if (at_url) {
    auto source = OpenSourceAt(options.path);
    if (absl::IsNotFound(source.status())) {
      return absl::NotFoundError(
          absl::StrCat(source.status().message(),
                       " (a URL names one file; directories of Parquet files must be local)"));
    }
    if (!source.ok()) return source.status();
    name = (*source)->name();  // without a password
    bytes = NewSourceStream(*std::move(source), check);
  } else {
    const int descriptor =
        standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : OpenToRead(options.path);
    if (descriptor < 0) {
      const int error = errno;
      return absl::ErrnoToStatus(error, absl::StrCat("open ", name));
    }
    struct stat status = {};
    regular = !standard_input && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    bytes = NewDescriptorStream(descriptor, name, check);
  }

  InputFile input;
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<HeadedStream> stream,
                         HeadedStream::Create(std::move(bytes), kFormatHeadBytes));
  CFILE_RETURN_IF_ERROR(CheckIsImported(stream->head(), name));
  if (const Packing packing = PackingOf(stream->head()); packing != Packing::kNone) {
    input.packing = PackingName(packing);
    CFILE_ASSIGN_OR_RETURN(auto text, Decompress(packing, std::move(stream), name));
    CFILE_ASSIGN_OR_RETURN(stream, HeadedStream::Create(std::move(text), kFormatHeadBytes));
  }
  input.charset = CharsetOf(options.charset, stream->head());

  if (regular && input.packing.empty() && input.charset.empty()) {
    CFILE_ASSIGN_OR_RETURN(
        input.source, options.map ? OpenMappedSource(options.path) : OpenPreadSource(options.path));
    input.stored_bytes = input.source->size();
    return input;
  }
  std::unique_ptr<ByteStream> text = std::move(stream);
  if (!input.charset.empty()) {
    CFILE_ASSIGN_OR_RETURN(text, ConvertToUtf8(input.charset, std::move(text), name));
  }
  CFILE_ASSIGN_OR_RETURN(input.source, Spool(*text, name,
                                             {.directory = options.spool_directory,
                                              .max_bytes = options.max_bytes,
                                              .map = options.map}));
  input.stored_bytes = stored_bytes;
  return input;
}

std::string_view WithoutPackingSuffix(std::string_view path) {
  for (const std::string_view suffix : {".gz", ".zst"}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

}  // namespace cfile::tools
