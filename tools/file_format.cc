#include "tools/file_format.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
    {"kuducfl2"sv, 0, FormatUse::kCFile, "a CFile", "cfile-dump shows it: cfile-dump NAME"},
    {"kuducfil"sv, 0, FormatUse::kCFile, "a CFile", "cfile-dump shows it: cfile-dump NAME"},
    {"cfiletb?"sv, 0, FormatUse::kCFile, "the description of a table",
     "open the directory that has the file"},
    {"cfilech?"sv, 0, FormatUse::kCFile, "a part of the description of a table",
     "open the directory of the table"},
    {"ARROW1\0\0"sv, 0, FormatUse::kImported, "Arrow IPC", kImport},
    {"\xff\xff\xff\xff???\0"sv, 0, FormatUse::kImported, "an Arrow IPC stream", kImport},
    {"\x1f\x8b"sv, 0, FormatUse::kImported, "compressed with gzip", kImportContent},
    {"\x28\xb5\x2f\xfd"sv, 0, FormatUse::kImported, "compressed with zstd", kImportContent},
    {"FEA1\0\0\0\0"sv, 0, FormatUse::kForeign, "a Feather file of version 1",
     "write it as version 2 (Arrow IPC) first: NAME"},
    {"\xfd"
     "7zXZ\0"sv,
     0, FormatUse::kForeign, "compressed with xz", "decompress it first: unxz -k NAME"},
    {"BZh91AY&SY"sv, 0, FormatUse::kForeign, "compressed with bzip2",
     "decompress it first: bunzip2 -k NAME"},
    {"\x04\x22\x4d\x18"sv, 0, FormatUse::kForeign, "compressed with lz4",
     "decompress it first: unlz4 NAME"},
    {"PK\3\4"sv, 0, FormatUse::kForeign, "a zip archive, or a spreadsheet in one",
     "unpack it, or save the sheet as CSV: unzip NAME"},
    {"Obj\1"sv, 0, FormatUse::kForeign, "Avro", "fastavro and DuckDB read it"},
    {"SQLite format 3\0"sv, 0, FormatUse::kForeign, "an SQLite database",
     "sqlite3 reads it, and writes a table as CSV: sqlite3 -csv -header NAME"},
    {"DUCK?\0\0\0"sv, 8, FormatUse::kForeign, "a DuckDB database",
     "duckdb reads it, and writes a table as Parquet: duckdb NAME"},
    {"VTXF"sv, 0, FormatUse::kForeign, "a Vortex file",
     "vortex-data (Python) reads it, and DuckDB with the extension vortex"},
    {"\x89HDF\r\n\x1a\n"sv, 0, FormatUse::kForeign, "HDF5", "h5py and pandas read it"},
    {"\x93NUMPY"sv, 0, FormatUse::kForeign, "a NumPy array",
     "numpy.load reads it, and numpy.savetxt writes it as CSV"},
    {"\x89PNG\r\n\x1a\n"sv, 0, FormatUse::kForeign, "a PNG image", ""},
    {"\xff\xd8\xff"sv, 0, FormatUse::kForeign, "a JPEG image", ""},
    {"%PDF-"sv, 0, FormatUse::kForeign, "a PDF document", ""},
    {"\x7f"
     "ELF"sv,
     0, FormatUse::kForeign, "an ELF program or library", ""},
};

// Formats that are not in kFormats, because one magic is not enough to recognize them.
constexpr FileFormat kParquet{{}, 0, FormatUse::kImported, "Parquet", kImport};
constexpr FileFormat kOrc{{}, 0, FormatUse::kForeign, "ORC", "pyarrow reads it"};
constexpr FileFormat kTar{"ustar"sv, 257, FormatUse::kForeign, "a tar archive",
                          "unpack it: tar -xf NAME"};
constexpr FileFormat kXml{{}, 0, FormatUse::kForeign, "XML", "xmllint and pandas.read_xml read it"};
constexpr FileFormat kHtml{
    {}, 0, FormatUse::kForeign, "HTML", "pandas.read_html reads the tables in it"};
constexpr FileFormat kJson{{}, 0, FormatUse::kImported, "JSON", kImport};
constexpr FileFormat kOtherJson{
    {},
    0,
    FormatUse::kImported,
    "JSON",
    "if it has objects, cfile-import makes a table of them: cfile-import NAME TABLE"};
constexpr FileFormat kWideText{
    {},
    0,
    FormatUse::kImported,
    "text in UTF-16",
    "if it is CSV or JSON, cfile-import makes a table of it: cfile-import NAME TABLE"};
constexpr FileFormat kCsv{{}, 0, FormatUse::kImported, "CSV", kImport};
constexpr FileFormat kTextFormat{
    {},
    0,
    FormatUse::kImported,
    "text",
    "if it is CSV, cfile-import makes a table of it: cfile-import NAME TABLE"};

// `head` without the byte order mark and the blanks at its beginning.
std::string_view WithoutBlanks(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
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

std::optional<std::string> ReadRange(const Source& source, uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  const std::span<uint8_t> out(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
  if (!source.ReadAt(offset, out).ok()) return std::nullopt;
  return bytes;
}

}  // namespace

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
  const auto head = ReadRange(source, 0, std::min(kHeadBytes, source.size()));
  const auto tail = ReadRange(source, source.size() - tail_size, tail_size);
  if (!head || !tail) return "";
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
  const auto head = ReadRange(source, 0, kMagicBytes);
  const auto tail = ReadRange(source, source.size() - kMagicBytes, kMagicBytes);
  const auto is_cfile = [](std::string_view bytes) {
    const FileFormat* const format = FindFormat(bytes);
    return format != nullptr && format->name == "a CFile";
  };
  return head && tail && is_cfile(*head) && !is_cfile(*tail);
}

std::string AdviceFor(const FileFormat& format, std::string_view name) {
  constexpr std::string_view kName = "NAME";
  std::string advice(format.advice);
  const size_t at = advice.find(kName);
  if (at != std::string::npos) advice.replace(at, kName.size(), ShellQuoted(name));
  return advice;
}

}  // namespace cfile::tools
