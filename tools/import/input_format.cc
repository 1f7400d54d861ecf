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
#include "tools/input/input_file.h"

namespace cfile::tools {
namespace {

// Enough for the blanks before the first key of pretty-printed JSON.
constexpr uint64_t kHeadBytes = 4096;

bool BeginsLikeJson(std::string_view text) {
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  const auto take = [&](char c) {
    skip_blanks();
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  };
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  take('[');
  return take('{') && take('"');
}

absl::StatusOr<InputFormat> Parquet([[maybe_unused]] const ImportOptions& options) {
#ifdef CFILE_WITH_PARQUET
  return InputFormat::kParquet;
#else
  return absl::UnimplementedError(
      absl::StrCat(options.input, ": this is Parquet, which was not built into this program"));
#endif
}

// True if the source is a Parquet file, perhaps a torn one. CSV may begin with the same letters.
// PARE: the metadata is encrypted. The library says that this is not supported.
absl::StatusOr<bool> IsParquet(const Source& source, std::string_view head) {
  if (!head.starts_with("PAR1") && !head.starts_with("PARE")) return false;
  constexpr size_t kMagicBytes = 4;
  std::string end(kMagicBytes, '\0');
  CFILE_RETURN_IF_ERROR(source.ReadAt(source.size() - kMagicBytes,
                                      {reinterpret_cast<uint8_t*>(end.data()), end.size()}));
  if (source.size() >= 3 * kMagicBytes && head.starts_with(end)) return true;
  // A page header follows, which begins with a byte that text does not have.
  return head.size() > kMagicBytes && static_cast<uint8_t>(head[kMagicBytes]) < ' ' &&
         std::string_view("\t\r\n").find(head[kMagicBytes]) == std::string_view::npos;
}

}  // namespace

bool HasJsonName(std::string_view path) {
  const std::string_view name = WithoutPackingSuffix(path);
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".json");
}

absl::StatusOr<InputFormat> FindInputFormat(const ImportOptions& options, const Source& source) {
  std::string head(std::min(kHeadBytes, source.size()), '\0');
  CFILE_RETURN_IF_ERROR(source.ReadAt(0, {reinterpret_cast<uint8_t*>(head.data()), head.size()}));
  CFILE_ASSIGN_OR_RETURN(const bool is_parquet, IsParquet(source, head));
  if (is_parquet) return Parquet(options);
#ifdef CFILE_WITH_ARROW_IPC
  CFILE_ASSIGN_OR_RETURN(const ArrowIpcFormat format, RecognizeArrowIpc(source));
  const bool is_arrow = format != ArrowIpcFormat::kNone;
#else
  const bool is_arrow = head.starts_with("ARROW1") || head.starts_with("\xff\xff\xff\xff");
  if (is_arrow) {
    return absl::UnimplementedError(absl::StrCat(
        source.name(), ": this is Arrow IPC, which was not built into this program"));
  }
#endif
  if (is_arrow) return InputFormat::kArrowIpc;
  return !options.schema_path.empty() || HasJsonName(options.input) || BeginsLikeJson(head)
             ? InputFormat::kJson
             : InputFormat::kCsv;
}

}  // namespace cfile::tools
