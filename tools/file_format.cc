#include "tools/file_format.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/command_line.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kImport = "cfile-import makes a table of it: cfile-import NAME TABLE";
constexpr std::string_view kImportContent =
    "cfile-import makes a table of the CSV, JSON, Arrow IPC or Parquet in it: cfile-import NAME "
    "TABLE";

// In advice, NAME stands for the name of the file. A magic of letters that a text could begin with
// is followed here by more bytes of the format, which a text does not have.
constexpr FileFormat kFormats[] = {
    {"a CFile", "cfile-dump shows it: cfile-dump NAME", FormatUse::kCFile, "kuducfl2"sv},
    {"a CFile", "cfile-dump shows it: cfile-dump NAME", FormatUse::kCFile, "kuducfil"sv},
    {"the description of a table", "open the directory that has the file", FormatUse::kCFile,
     "cfiletb?"sv},
    {"a part of the description of a table", "open the directory of the table", FormatUse::kCFile,
     "cfilech?"sv},
    {"Arrow IPC", kImport, FormatUse::kImported, "ARROW1\0\0"sv},
    {"an Arrow IPC stream", kImport, FormatUse::kImported, "\xff\xff\xff\xff???\0"sv},
    {"compressed with gzip", kImportContent, FormatUse::kImported, "\x1f\x8b"sv},
    {"compressed with zstd", kImportContent, FormatUse::kImported, "\x28\xb5\x2f\xfd"sv},
    {"a Feather file of version 1", "write it as version 2 (Arrow IPC) first: NAME",
     FormatUse::kForeign, "FEA1\0\0\0\0"sv},
    {"compressed with xz", "decompress it first: unxz -k NAME", FormatUse::kForeign,
     "\xfd\x37zXZ\0"sv},
    {"compressed with bzip2", "decompress it first: bunzip2 -k NAME", FormatUse::kForeign,
     "BZh91AY&SY"sv},
    {"compressed with lz4", "decompress it first: unlz4 NAME", FormatUse::kForeign,
     "\x04\x22\x4d\x18"sv},
    {"a zip archive, or a spreadsheet in one", "unpack it, or save the sheet as CSV: unzip NAME",
     FormatUse::kForeign, "PK\3\4"sv},
    {"Avro", "fastavro and DuckDB read it", FormatUse::kForeign, "Obj\1"sv},
    {"an SQLite database", "sqlite3 reads it, and writes a table as CSV: sqlite3 -csv -header NAME",
     FormatUse::kForeign, "SQLite format 3\0"sv},
    {"a DuckDB database", "duckdb reads it, and writes a table as Parquet: duckdb NAME",
     FormatUse::kForeign, "DUCK?\0\0\0"sv, 8},
    {"a Vortex file", "vortex-data (Python) reads it, and DuckDB with the extension vortex",
     FormatUse::kForeign, "VTXF"sv},
    {"HDF5", "h5py and pandas read it", FormatUse::kForeign, "\x89HDF\r\n\x1a\n"sv},
    {"a NumPy array", "numpy.load reads it, and numpy.savetxt writes it as CSV",
     FormatUse::kForeign, "\x93NUMPY"sv},
    {"a PNG image", "", FormatUse::kForeign, "\x89PNG\r\n\x1a\n"sv},
    {"a JPEG image", "", FormatUse::kForeign, "\xff\xd8\xff"sv},
    {"a PDF document", "", FormatUse::kForeign, "%PDF-"sv},
    {"an ELF program or library", "", FormatUse::kForeign, "\x7f\x45LF"sv},
};
// Formats that are not in kFormats, because one magic is not enough to recognize them.
constexpr FileFormat kParquet{"Parquet", kImport};
constexpr FileFormat kOrc{"ORC", "pyarrow reads it", FormatUse::kForeign};
constexpr FileFormat kTar{"a tar archive", "unpack it: tar -xf NAME", FormatUse::kForeign,
                          "ustar"sv, 257};
constexpr FileFormat kXml{"XML", "xmllint and pandas.read_xml read it", FormatUse::kForeign};
constexpr FileFormat kHtml{"HTML", "pandas.read_html reads the tables in it", FormatUse::kForeign};
constexpr FileFormat kJson{"JSON", kImport};
constexpr FileFormat kOtherJson{
    "JSON", "if it has objects, cfile-import makes a table of them: cfile-import NAME TABLE"};
constexpr FileFormat kWideText{
    "text in UTF-16",
    "if it is CSV or JSON, cfile-import makes a table of it: cfile-import NAME TABLE"};
constexpr FileFormat kCsv{"CSV", kImport};
constexpr FileFormat kTextFormat{
    "text", "if it is CSV, cfile-import makes a table of it: cfile-import NAME TABLE"};

// `head` without the byte order mark and the blanks at its beginning.
std::string_view WithoutBlanks(std::string_view head) {
  head = WithoutByteOrderMark(head);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return head;
}

bool Fits(const FileFormat& format, std::string_view head) {
  if (head.size() < format.offset + format.magic.size()) return false;
  return std::equal(format.magic.begin(), format.magic.end(), head.begin() + format.offset,
                    [](char expected, char found) { return expected == '?' || expected == found; });
}

// ORC ends with its magic, and then one byte, the size of the postscript.
bool IsOrc(std::string_view head, std::string_view tail) {
  return head.starts_with("ORC") && tail.size() >= 4 && tail.substr(tail.size() - 4, 3) == "ORC";
}

// True if `text` begins with one of `words`, in small or capital letters.
bool BeginsWithOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return absl::StartsWithIgnoreCase({text.data(), text.size()}, {word.data(), word.size()});
  });
}

// The format of the text that begins with `head`; nullptr if the bytes are not text in UTF-8, or in
// UTF-16 with a byte order mark.
const FileFormat* TextFormat(std::string_view head, std::string_view name) {
  const bool is_utf32 = head.starts_with("\xff\xfe\0\0"sv);
  if (!is_utf32 && BeginsWithOneOf(head, {"\xff\xfe", "\xfe\xff"})) return &kWideText;
  // The head may end within a character.
  const std::string_view text = CutText(head, head.size() - std::min<size_t>(head.size(), 4));
  if (!IsUtf8(text) || head.find('\0') != std::string_view::npos) return nullptr;
  if (BeginsLikeJson(head)) return &kJson;
  if (HasJsonExtension(name)) return &kOtherJson;
  const std::string_view begin = WithoutBlanks(head);
  if (BeginsWithOneOf(begin, {"<!doctype html", "<html"})) return &kHtml;
  if (BeginsWithOneOf(begin, {"<?xml", "<!doctype"})) return &kXml;
  const std::string_view line = head.substr(0, head.find('\n'));
  const bool separated = line.find_first_of(",;\t|") != std::string_view::npos;
  return separated || name.ends_with(".csv") || name.ends_with(".tsv") ? &kCsv : &kTextFormat;
}

}  // namespace

absl::StatusOr<std::string> ReadBytes(const Source& source, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  CFILE_RETURN_IF_ERROR(
      source.ReadAt(offset, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

const FileFormat* FindFormat(std::string_view head) {
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const FileFormat& format) { return Fits(format, head); });
  return found == std::end(kFormats) ? nullptr : found;
}

bool IsParquet(std::string_view head, std::string_view tail) {
  // PARE: the metadata is encrypted. The library says that it does not support this.
  if (!head.starts_with("PAR1") && !head.starts_with("PARE")) return false;
  constexpr size_t kMagicBytes = 4;
  if (head.size() >= 3 * kMagicBytes && tail.ends_with(head.substr(0, kMagicBytes))) return true;
  // The file is torn. The magic is followed by a page header, whose first byte is not in text.
  return head.size() > kMagicBytes && static_cast<uint8_t>(head[kMagicBytes]) < ' ' &&
         "\t\r\n"sv.find(head[kMagicBytes]) == std::string_view::npos;
}

bool HasJsonExtension(std::string_view name) {
  return name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".json");
}

bool BeginsLikeJson(std::string_view head) {
  const auto take = [&](char c) {
    head = WithoutBlanks(head);
    if (!head.starts_with(c)) return false;
    head.remove_prefix(1);
    return true;
  };
  take('[');
  return take('{') && take('"');
}

std::string DescribeForeignFile(const Source& source) {
  constexpr uint64_t kHeadBytes = 4096;
  constexpr uint64_t kTailBytes = 8;
  if (source.size() == 0) return "the file is empty";
  const uint64_t tail_size = std::min(kTailBytes, source.size());
  const auto head = ReadBytes(source, 0, std::min(kHeadBytes, source.size()));
  const auto tail = ReadBytes(source, source.size() - tail_size, tail_size);
  if (!head.ok() || !tail.ok()) return "";
  // A CFile ends with its magic, too. A torn file may have lost either end.
  const FileFormat* const at_end = FindFormat(*tail);
  if (at_end != nullptr && at_end->use == FormatUse::kCFile) return "";
  const FileFormat* format = FindFormat(*head);
  if (IsParquet(*head, *tail)) format = &kParquet;
  if (IsOrc(*head, *tail)) format = &kOrc;
  if (format == nullptr && Fits(kTar, *head)) format = &kTar;
  if (format == nullptr) {
    const bool torn = std::any_of(std::begin(kFormats), std::end(kFormats), [&](const auto& each) {
      return each.use == FormatUse::kCFile && each.magic.starts_with(*head);
    });
    if (!torn) format = TextFormat(*head, source.name());
  }
  // The error of the reader describes a CFile.
  if (format == nullptr || format->name == "a CFile") return "";
  std::string text = absl::StrCat("the file is ", std::string(format->name));
  if (format->use != FormatUse::kCFile) text += ", not a CFile";
  if (format->advice.empty()) return text;
  absl::StrAppend(&text, "; ", AdviceFor(*format, source.name()));
  return text;
}

bool HasDamagedEnd(const Source& source) {
  constexpr uint64_t kMagicBytes = 8;
  if (source.size() < kMagicBytes) return false;
  const auto head = ReadBytes(source, 0, kMagicBytes);
  const auto tail = ReadBytes(source, source.size() - kMagicBytes, kMagicBytes);
  const auto is_cfile = [](std::string_view bytes) {
    const FileFormat* const format = FindFormat(bytes);
    return format != nullptr && format->name == "a CFile";
  };
  return head.ok() && tail.ok() && is_cfile(*head) && !is_cfile(*tail);
}

std::string AdviceFor(const FileFormat& format, std::string_view name) {
  constexpr std::string_view kName = "NAME";
  std::string advice(format.advice);
  const size_t at = advice.find(kName);
  if (at != std::string::npos) advice.replace(at, kName.size(), ShellQuoted(name));
  return advice;
}

}  // namespace cfile::tools
