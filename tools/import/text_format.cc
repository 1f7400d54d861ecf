#include "tools/import/text_format.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace cfile::tools {
namespace {

using std::string_view_literals::operator""sv;

struct Format {
  std::string_view magic;
  const char* name;
  const char* advice;  // the message appends the file's name
};

constexpr Format kFormats[] = {
    {"\x1f\x8b"sv, "compressed with gzip", "decompress it first: gunzip -k"},
    {"\x28\xb5\x2f\xfd"sv, "compressed with zstd", "decompress it first: unzstd"},
    {"\xfd"
     "7zXZ\0"sv,
     "compressed with xz", "decompress it first: unxz -k"},
    {"BZh91AY&SY"sv, "compressed with bzip2", "decompress it first: bunzip2 -k"},
    {"\x04\x22\x4d\x18"sv, "compressed with lz4", "decompress it first: unlz4"},
    {"FEA1"sv, "a Feather file of version 1", "write it as version 2 (Arrow IPC) first:"},
    {"PK\3\4"sv, "a zip archive, or a spreadsheet in one",
     "unpack it, or save the sheet as CSV: unzip"},
};

constexpr size_t kHeadBytes = 16;
constexpr std::string_view kParquetMagic = "PAR1";

// The name of the encoding if `head` is the beginning of text in UTF-16 or UTF-32, otherwise null.
// Recognizes a byte order mark. Without it, recognizes only UTF-16 whose first two characters are
// ASCII, so that one byte of each is NUL.
const char* WideEncoding(std::string_view head) {
  const auto is_nul = [&](size_t i) { return i < head.size() && head[i] == '\0'; };
  if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (head.starts_with("\xff\xfe"sv) || head.starts_with("\xfe\xff"sv)) return "UTF-16";
  if (head.size() < 4 || (is_nul(0) && is_nul(1))) return nullptr;
  if (!is_nul(0) && is_nul(1) && !is_nul(2) && is_nul(3)) return "UTF-16LE";
  if (is_nul(0) && !is_nul(1) && is_nul(2) && !is_nul(3)) return "UTF-16BE";
  return nullptr;
}

absl::Status Refuse(const Source& source, std::string_view what, std::string_view advice) {
  return absl::InvalidArgumentError(absl::StrCat(source.name(), ": the file is ", std::string(what),
                                                 "; ", std::string(advice), " ", source.name()));
}

}  // namespace

absl::Status CheckIsUtf8Text(const Source& source) {
  std::array<uint8_t, kHeadBytes> bytes;
  const auto read = [&](uint64_t offset, size_t size) -> absl::StatusOr<std::string_view> {
    absl::Status status = source.ReadAt(offset, std::span(bytes).first(size));
    if (!status.ok()) return status;
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), size);
  };
  absl::StatusOr<std::string_view> head =
      read(0, static_cast<size_t>(std::min<uint64_t>(kHeadBytes, source.size())));
  if (!head.ok()) return head.status();
  for (const Format& format : kFormats) {
    if (head->starts_with(format.magic)) return Refuse(source, format.name, format.advice);
  }
  if (const char* const encoding = WideEncoding(*head); encoding != nullptr) {
    return Refuse(source, absl::StrCat("text in ", encoding),
                  absl::StrCat("convert it first: iconv -f ", encoding, " -t UTF-8"));
  }
  if (!head->starts_with(kParquetMagic) || source.size() < 3 * kParquetMagic.size()) {
    return absl::OkStatus();
  }
  // A CSV file may begin with these letters; a Parquet file also ends with them.
  head = read(source.size() - kParquetMagic.size(), kParquetMagic.size());
  if (!head.ok()) return head.status();
  if (*head != kParquetMagic) return absl::OkStatus();
  return Refuse(source, "a Parquet file", "write it as CSV or JSON Lines first:");
}

}  // namespace cfile::tools
