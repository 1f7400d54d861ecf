#include "tools/import/input_format.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "cfile/io.h"
#include "cfile/status.h"
#ifdef CFILE_WITH_ARROW_IPC
#include "cfile/arrow_ipc.h"
#endif
#include "tools/file_format.h"
#include "tools/input/input_file.h"

namespace cfile::tools {
namespace {

// Enough for the blanks before the first key of pretty-printed JSON.
constexpr uint64_t kHeadBytes = 4096;

absl::StatusOr<InputFormat> Parquet([[maybe_unused]] const ImportOptions& options) {
#ifdef CFILE_WITH_PARQUET
  return InputFormat::kParquet;
#else
  return absl::UnimplementedError(
      absl::StrCat(options.input, ": this is Parquet, which was not built into this program"));
#endif
}

// The bytes of `source` from `offset` on.
absl::StatusOr<std::string> Read(const Source& source, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  CFILE_RETURN_IF_ERROR(
      source.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

}  // namespace

bool HasJsonName(std::string_view path) { return HasJsonExtension(WithoutPackingSuffix(path)); }

absl::StatusOr<InputFormat> FindInputFormat(const ImportOptions& options, const Source& source) {
  CFILE_ASSIGN_OR_RETURN(const std::string head,
                         Read(source, 0, std::min(kHeadBytes, source.size())));
  const uint64_t tail_size = std::min<uint64_t>(4, source.size());
  CFILE_ASSIGN_OR_RETURN(const std::string tail,
                         Read(source, source.size() - tail_size, tail_size));
  if (IsParquet(head, tail)) return Parquet(options);
#ifdef CFILE_WITH_ARROW_IPC
  CFILE_ASSIGN_OR_RETURN(const ArrowIpcFormat format, RecognizeArrowIpc(source));
  const bool is_arrow = format != ArrowIpcFormat::kNone;
#else
  const bool is_arrow = head.starts_with("ARROW1") || head.starts_with("\xff\xff\xff\xff");
  if (is_arrow) {
    return absl::UnimplementedError(
        absl::StrCat(source.name(), ": this is Arrow IPC, which was not built into this program"));
  }
#endif
  if (is_arrow) return InputFormat::kArrowIpc;
  // With a schema, brackets are enough.
  const size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool brackets = first == std::string::npos || head[first] == '{' || head[first] == '[';
  const bool is_json = HasJsonName(options.input) || BeginsLikeJson(head) ||
                       (!options.schema_path.empty() && brackets);
  return is_json ? InputFormat::kJson : InputFormat::kCsv;
}

}  // namespace cfile::tools
