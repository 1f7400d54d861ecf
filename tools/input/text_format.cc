#include "tools/input/input_file.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/file_format.h"

namespace cfile::tools {
namespace {

using std::string_view_literals::operator""sv;

absl::Status Refuse(std::string_view name, std::string_view what, std::string_view advice) {
  const char* const separator = advice.empty() ? ", which cfile-import cannot read" : "; ";
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(name), ": the file is ", std::string(what), separator, std::string(advice)));
}

}  // namespace

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

}  // namespace cfile::tools
