// The header message and the footer message of a file.
#include "tools/dump/commands.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/dump.h"
#include "tools/encoding_reason.h"
#include "tools/location.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The names of feature bits that readers may ignore.
std::string CompatibleFeatureNames(uint32_t features) {
  std::vector<std::string> names;
  for (int bit = 0; bit < 32; ++bit) {
    const uint32_t feature = uint32_t{1} << bit;
    if ((features & feature) == 0) continue;
    names.push_back(feature == kCompatibleFeatureStatistics ? "statistics"
                                                            : absl::StrCat("bit ", bit));
  }
  return absl::StrJoin(names, ", ");
}

// Returns the meaning of the value of a field: the name of an encoding, a codec or a type, or the
// names of features. Empty if `field` is another field.
std::string MeaningOf(std::string_view field, uint64_t number) {
  constexpr uint64_t kInExtensions = 999;
  if (field == "goal") return GoalName(static_cast<Goal>(std::min<uint64_t>(number, UINT8_MAX)));
  if (field == "incompatible_features")
    return absl::StrJoin(FeatureNames(static_cast<uint32_t>(number)), ", ");
  if (field == "compatible_features") return CompatibleFeatureNames(static_cast<uint32_t>(number));
  const bool is_encoding = field == "encoding" || field == "smallest_encoding";
  const bool named = is_encoding || field == "compression" || field == "data_type";
  if (!named) return "";
  if (number == kInExtensions) return absl::StrCat("see extensions.", std::string(field));
  if (is_encoding) return EncodingName(static_cast<Encoding>(number));
  if (field == "compression") return CompressionName(static_cast<Compression>(number));
  return ColumnType{.data_type = static_cast<DataType>(number)}.ToString();
}

// Makes a message in protobuf's text format easier to read: adds the meaning of numbers as
// comments, and writes printable text as it is instead of octal escapes. The text is still the
// same message. `choice`: the comment for the recorded choice.
std::string Explained(const std::string& text, const std::string& choice) {
  std::string result;
  // True if the line before is the key of the pair in which the library stores the column.
  bool of_column = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    const absl::string_view name = absl::StripLeadingAsciiWhitespace(field.first);
    uint64_t number = 0;
    std::string bytes;
    absl::StrAppend(&result, field.first, field.second.empty() ? "" : ": ");
    if (name == "choice {" && !choice.empty()) absl::StrAppend(&result, "  # ", choice);
    if (absl::SimpleAtoi(field.second, &number)) {
      const std::string meaning = MeaningOf({name.data(), name.size()}, number);
      absl::StrAppend(&result, field.second, meaning.empty() ? "" : "  # ", meaning);
    } else if (absl::StartsWith(field.second, "\"") &&
               absl::CUnescape(field.second.substr(1, field.second.size() - 2), &bytes) &&
               TerminalSafe(absl::Utf8SafeCEscape(bytes)) == absl::Utf8SafeCEscape(bytes)) {
      absl::StrAppend(&result, "\"", absl::Utf8SafeCEscape(bytes), "\"");
    } else {
      absl::StrAppend(&result, field.second);
    }
    if (of_column) result += "  # a ColumnPB: cfile-dump hexdump shows its fields";
    of_column = name == "key" && field.second == "\"cfile.column\"";
    result += '\n';
  }
  return result;
}

}  // namespace

Outcome PrintMetadata(bool header, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  const FileInfo& info = reader.info();
  const uint64_t size = header ? info.header_size_bytes : info.footer_size_bytes;
  const uint64_t offset = header ? 0 : info.file_size_bytes - size;
  const MetadataText described = DescribeMetadata(info);
  const std::optional<ChoiceInfo>& choice = info.choice;
  const char* const name = header ? "header" : "footer";
  Document document(common.json, common.path);
  document.AddJson("offset", JsonInteger(offset));
  document.AddJson("size", JsonInteger(size));
  document.AddJson(name, Json::FromText(header ? described.header_json : described.footer_json));
  // The first line is a comment in protobuf's text format, so that all of the output is valid.
  document.AddLine("# ", name, ": offset ", offset, ", ", size, " bytes");
  document.Append(Explained(header ? described.header_text : described.footer_text,
                            choice ? ChoiceText(*choice, info.compression) : ""));
  document.PrintTo(output);
  return kFine;
}

}  // namespace cfile::tools
