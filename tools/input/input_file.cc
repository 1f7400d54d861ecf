#include "tools/input/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <glob.h>
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/file_format.h"
#include "tools/location.h"
#include "tools/utf8.h"

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

using std::string_view_literals::operator""sv;

absl::Status Refuse(std::string_view name, std::string_view what, std::string_view advice) {
  const char* const separator = advice.empty() ? ", which cfile-import cannot read" : "; ";
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(name), ": the file is ", std::string(what), separator, std::string(advice)));
}

namespace fs = std::filesystem;

using Header =
    absl::FunctionRef<absl::StatusOr<size_t>(const InputFile& file, std::string_view text)>;

class JoinedStream final : public ByteStream {
 public:
  JoinedStream(const std::vector<std::string>& paths, InputFileOptions options, Header header)
      : paths_(paths), options_(std::move(options)), header_(header) {}

  absl::StatusOr<std::string_view> Next() override {
    if (!std::exchange(ends_line_, true)) {
      ++size_;
      return std::string_view(&line_end_, 1);
    }
    std::string_view text;
    while (text.empty()) {
      if (parts_->size() == paths_.size()) return text;
      CFILE_ASSIGN_OR_RETURN(text, Open(paths_[parts_->size()]));
    }
    size_ += text.size();
    ends_line_ = text.back() == line_end_;
    return text;
  }

  const std::shared_ptr<std::vector<TextPart>>& parts() const { return parts_; }
  InputFile& file() { return file_; }
  uint64_t stored_bytes() const { return stored_bytes_; }

 private:
  absl::StatusOr<std::string_view> Open(const std::string& path) {
    options_.path = path;
    CFILE_ASSIGN_OR_RETURN(file_, OpenInputFile(options_));
    stored_bytes_ += file_.stored_bytes;
    const std::span<const uint8_t> bytes = file_.source->InMemory();
    std::string_view text =
        WithoutByteOrderMark({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    line_end_ = LineEndOf(text);
    CFILE_ASSIGN_OR_RETURN(const size_t header_size, header_(file_, text));
    std::string_view header = text.substr(0, header_size);
    while (header.ends_with('\n') || header.ends_with('\r')) header.remove_suffix(1);
    TextPart part{.begin = size_, .name = file_.source->name()};
    if (parts_->empty()) {
      first_header_ = header;
    } else if (!header.empty() && header == first_header_) {
      part.has_header = true;
      part.first_line =
          1 + static_cast<uint64_t>(std::count(
                  text.begin(), text.begin() + static_cast<ptrdiff_t>(header_size), line_end_));
      text.remove_prefix(header_size);
    }
    parts_->push_back(std::move(part));
    return text;
  }

  const std::vector<std::string>& paths_;
  InputFileOptions options_;
  const Header header_;
  InputFile file_;  // the last one
  std::string first_header_;
  const std::shared_ptr<std::vector<TextPart>> parts_ = std::make_shared<std::vector<TextPart>>();
  uint64_t size_ = 0;
  uint64_t stored_bytes_ = 0;
  char line_end_ = '\n';  // of the last file
  bool ends_line_ = true;
};

bool IsHidden(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with('_');
}

absl::Status FindFilesIn(const fs::path& directory, std::vector<std::string>& files) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsHidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (std::error_code ignored; entry->is_regular_file(ignored)) {
      files.push_back(entry->path().string());
    }
  }
  return error ? absl::ErrnoToStatus(error.value(), directory.string()) : absl::OkStatus();
}

void FindFilesLike(const std::string& pattern, std::vector<std::string>& files) {
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.insert(files.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
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
                                              .cut = options.cut,
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

Packing PackingOf(std::string_view head) {
  const FileFormat* const format = FindFormat(head);
  for (const Packing packing : {Packing::kGzip, Packing::kZstd}) {
    if (format != nullptr && format->name.ends_with(PackingName(packing))) return packing;
  }
  // pzstd begins with a skippable frame: a magic number from 0x184d2a50 to 0x184d2a5f.
  const bool skippable =
      head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18"sv;
  return skippable ? Packing::kZstd : Packing::kNone;
}

std::string WideCharset(std::string_view head) {
  const auto is_nul = [&](size_t i) { return i < head.size() && head[i] == '\0'; };
  if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv)) return "UTF-16";
  if (head.size() < 4 || (is_nul(0) && is_nul(1))) return "";
  if (!is_nul(0) && is_nul(1) && !is_nul(2) && is_nul(3)) return "UTF-16LE";
  if (is_nul(0) && !is_nul(1) && is_nul(2) && !is_nul(3)) return "UTF-16BE";
  return "";
}

absl::Status CheckIsImported(std::string_view head, std::string_view name) {
  const FileFormat* const format = FindFormat(head);
  if (format == nullptr || format->use == FormatUse::kImported) return absl::OkStatus();
  return Refuse(name, format->name, AdviceFor(*format, name));
}

absl::Status CheckIsUtf8Text(const Source& source) {
  CFILE_ASSIGN_OR_RETURN(const std::string head,
                         ReadBytes(source, 0, std::min<uint64_t>(kFormatHeadBytes, source.size())));
  if (const Packing packing = PackingOf(head); packing != Packing::kNone) {
    return Refuse(source.name(),
                  absl::StrCat("compressed with ", PackingName(packing), " more than once"),
                  absl::StrCat("decompress it first: ", source.name()));
  }
  CFILE_RETURN_IF_ERROR(CheckIsImported(head, source.name()));
  if (const std::string charset = WideCharset(head); !charset.empty()) {
    return Refuse(source.name(), "text in " + charset,
                  absl::StrCat("--charset auto converts it: ", source.name()));
  }
  return absl::OkStatus();
}

const TextPart& PartAt(const TextParts& parts, uint64_t offset) {
  const auto after =
      std::upper_bound(parts->begin(), parts->end(), offset,
                       [](uint64_t place, const TextPart& part) { return place < part.begin; });
  return after == parts->begin() ? *after : after[-1];
}

absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool exists = path == "-" || IsUrl(path) || fs::exists(path, error);
    const bool is_directory = exists && fs::is_directory(path, error);
    const bool is_pattern = !exists && path.find_first_of("*?[") != std::string::npos;
    std::vector<std::string> found;
    if (is_directory) {
      CFILE_RETURN_IF_ERROR(FindFilesIn(path, found));
    } else if (is_pattern) {
      FindFilesLike(path, found);
    } else {
      found.push_back(path);
    }
    if (found.empty()) {
      return absl::NotFoundError(
          absl::StrCat(path, is_pattern ? ": no file has such a name" : ": there is no file"));
    }
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

absl::StatusOr<JoinedFiles> JoinFiles(const std::vector<std::string>& paths,
                                      InputFileOptions options, Header header) {
  const SpoolOptions spool{
      .directory = options.spool_directory, .max_bytes = options.max_bytes, .map = true};
  options.map = true;
  JoinedStream stream(paths, std::move(options), header);
  CFILE_ASSIGN_OR_RETURN(auto source, Spool(stream, paths[0], spool));
  JoinedFiles joined{.file = std::move(stream.file()), .parts = stream.parts()};
  joined.file.source = std::move(source);
  joined.file.stored_bytes = stream.stored_bytes();
  return joined;
}

}  // namespace cfile::tools
