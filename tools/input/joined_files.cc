#include "tools/input/input_file.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/input/byte_stream.h"
#include "tools/location.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

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
      return "\n";
    }
    std::string_view text;
    while (text.empty()) {
      if (parts_->size() == paths_.size()) return text;
      CFILE_ASSIGN_OR_RETURN(text, Open(paths_[parts_->size()]));
    }
    size_ += text.size();
    ends_line_ = text.back() == '\n';
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
                  text.begin(), text.begin() + static_cast<ptrdiff_t>(header_size), '\n'));
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
