// cfile-dump hexdump: every byte of a file, and what it means.
#include "tools/dump/commands.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cfile/inspect.h"
#include "cfile/statistics.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/totals.h"
#include "tools/encoding_reason.h"
#include "tools/location.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// The meaning of the value of a field: the name of an encoding, a codec or a type, or names of
// features; "" for another field.
std::string MeaningOf(std::string_view field, uint64_t number) {
  constexpr uint64_t kInExtensions = 999;
  if (field == "goal") return GoalName(static_cast<Goal>(std::min<uint64_t>(number, UINT8_MAX)));
  if (field == "incompatible_features")
    return absl::StrJoin(FeatureNames(static_cast<uint32_t>(number)), ", ");
  if (field == "compatible_features")
    return absl::StrJoin(CompatibleFeatureNames(static_cast<uint32_t>(number), "bit "), ", ");
  const bool is_encoding = field == "encoding" || field == "smallest_encoding";
  const bool named = is_encoding || field == "compression" || field == "data_type";
  if (!named) return "";
  if (number == kInExtensions) return absl::StrCat("see extensions.", std::string(field));
  if (is_encoding) return EncodingName(static_cast<Encoding>(number));
  if (field == "compression") return CompressionName(static_cast<Compression>(number));
  return ColumnType{.data_type = static_cast<DataType>(number)}.ToString();
}

// Makes a message in protobuf's text format easier to read: adds the meaning of numbers as
// comments, and writes printable text as it is. It is still the same message. `choice`: the comment
// for the recorded choice.
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

// Prints the message of the header or of the footer.
Outcome PrintMetadata(bool header, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const auto reader, OpenFileAt(common.path, OptionsOf(common)));
  const FileInfo& info = reader.info();
  const uint64_t size = header ? info.header_size_bytes : info.footer_size_bytes;
  const uint64_t offset = header ? 0 : info.file_size_bytes - size;
  const MetadataText described = DescribeMetadata(info);
  const std::optional<ChoiceInfo>& choice = info.choice;
  const char* const name = header ? "header" : "footer";
  Document document(common.json, common.path);
  document.AddJson(
      {{"offset", offset},
       {"size", size},
       {name, Json::FromText(header ? described.header_json : described.footer_json)}});
  // The first line is a comment in protobuf's text format, so that all of the output is valid.
  document.AddLine("# ", name, ": offset ", offset, ", ", size, " bytes");
  document.Append(Explained(header ? described.header_text : described.footer_text,
                            choice ? ChoiceText(*choice, info.compression) : ""));
  document.PrintTo(output);
  return kFine;
}

struct HexdumpOptions {
  bool header = false;
  bool footer = false;
  std::optional<uint64_t> block;
  size_t shown_bytes = 64;
  size_t max_fields = kMaxBlockFields;
};

// The name of a region in headings: "data block 3".
std::string TitleOf(const FileRegion& region) {
  std::string title(RegionKindName(region.kind));
  if (region.kind == RegionKind::kDataBlock) absl::StrAppend(&title, " ", region.index);
  const bool node =
      region.kind == RegionKind::kPositionalNode || region.kind == RegionKind::kValueNode;
  if (node && region.index == 0) absl::StrAppend(&title, ", root");
  if (node && region.index > 0) absl::StrAppend(&title, ", depth ", region.index);
  return title;
}

// Prints the fields of regions.
class Printer {
 public:
  // `type`: the type of the values; nullopt if it is not known.
  Printer(const HexdumpOptions& options, bool json, uint64_t file_size_bytes,
          std::optional<ColumnType> type, Output& output)
      : options_(options),
        type_(std::move(type)),
        json_(json),
        offset_digits_(std::max(4, static_cast<int>(std::bit_width(file_size_bytes) + 3) / 4)),
        output_(output) {}

  // False if standard output cannot be written.
  bool Print(const RegionDetails& details) {
    details_ = &details;
    const FileRegion& region = details.region;
    if (!json_) {
      absl::StrAppend(&output_.text, TitleOf(region), ": ", Plural(region.size_bytes, "byte"),
                      " at ", region.offset);
      if (region.first_ordinal) {
        absl::StrAppend(&output_.text, ", from row ", *region.first_ordinal);
      }
      output_.text += '\n';
    }
    // Data that is stored without compression is shown by its own fields, not by the stored ones.
    const size_t begin = details.bytes_offset.value_or(0);
    const size_t end = details.bytes_offset ? begin + details.bytes.size() : 0;
    bool printed = false;
    for (const BlockField& field : details.stored_fields) {
      const bool inside = field.offset >= begin && field.offset + field.size <= end;
      if (inside && !printed) {
        for (const BlockField& each : details.fields) {
          if (!Print(each, details.bytes, region.offset + begin, /*in_file=*/true)) return false;
        }
        printed = true;
      }
      if (!inside && !Print(field, details.stored_bytes, region.offset, /*in_file=*/true))
        return false;
    }
    if (printed || details.fields.empty()) return output_.Drain();
    if (!json_) output_.text += "  before compression, offsets in the block:\n";
    for (const BlockField& field : details.fields) {
      if (!Print(field, details.bytes, 0, /*in_file=*/false)) return false;
    }
    return output_.Drain();
  }

 private:
  // If `field` is a bound of values that are not strings, adds the bound as values are printed.
  // `bytes`: the tag, the size and the bound in memcmp form.
  void AddBound(std::string_view bytes, BlockField& field) const {
    constexpr size_t kTagAndSize = 2;  // two bytes, because only strings have longer bounds
    const bool min = field.name == "min_key";
    if (!type_ || (!min && field.name != "max_key")) return;
    if (type_->physical() == PhysicalType::kBytes) return;
    if (bytes.size() < kTagAndSize || bytes.size() - kTagAndSize != static_cast<uint8_t>(bytes[1]))
      return;
    BlockStatistics statistics;
    (min ? statistics.min_key : statistics.max_key) = bytes.substr(kTagAndSize);
    const BoundTexts bounds = TextOfBounds(*type_, statistics);
    const auto& bound = min ? bounds.min : bounds.max;
    if (bound) absl::StrAppend(&field.value, " (", *bound, ")");
  }

  bool Print(BlockField field, const std::vector<uint8_t>& bytes, uint64_t begin, bool in_file) {
    // `bytes` is empty for a gap between regions.
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (details_->region.kind == RegionKind::kStatistics && !bytes.empty()) {
      AddBound(all.substr(field.offset, field.size), field);
    }
    const size_t shown = std::min(field.size, options_.shown_bytes);
    const std::string_view of_field = bytes.empty() ? "" : all.substr(field.offset, shown);
    if (json_) {
      PrintJson(field, of_field, begin, in_file);
    } else {
      PrintText(field, of_field, begin, in_file);
    }
    return output_.Drain();
  }

  void PrintJson(const BlockField& field, std::string_view bytes, uint64_t begin, bool in_file) {
    const FileRegion& region = details_->region;
    Record record(json_);
    record.AddJson({{"schema_version", 1}, {"region", RegionKindName(region.kind)}});
    if (region.kind == RegionKind::kDataBlock) record.AddJson({{"block", region.index}});
    if (in_file) {
      record.AddJson({{"offset", begin + field.offset}});
    } else {
      record.AddJson(
          {{"region_offset", region.offset}, {"offset_before_compression", field.offset}});
    }
    record.AddJson({{"size", field.size},
                    {"depth", field.depth},
                    {"name", field.name},
                    {"value", field.value},
                    {"hex", Hex(bytes)},
                    {"hex_complete", bytes.size() == field.size}});
    absl::StrAppend(&output_.text, record.json().dump(), "\n");
  }

  void PrintText(const BlockField& field, std::string_view bytes, uint64_t begin, bool in_file) {
    constexpr size_t kLineBytes = 16;
    std::string remark = std::string(2 * field.depth, ' ') + std::string(field.name);
    if (!field.value.empty()) absl::StrAppend(&remark, ": ", TerminalSafe(field.value));
    if (bytes.size() < field.size) {
      absl::StrAppend(&remark, " (", bytes.empty() ? "" : "the first ", bytes.size(), " of ",
                      field.size, " bytes)");
    }
    size_t done = 0;
    do {
      const std::string_view line = bytes.substr(done, kLineBytes);
      std::string text;
      for (const char byte : line) absl::StrAppend(&text, text.empty() ? "" : " ", Hex({&byte, 1}));
      absl::StrAppendFormat(&output_.text, "%s%0*x  %-47s", in_file ? "" : "  ", offset_digits_,
                            begin + field.offset + done, text);
      if (done == 0) absl::StrAppend(&output_.text, " | ", remark);
      while (output_.text.back() == ' ') output_.text.pop_back();
      output_.text += '\n';
      done += kLineBytes;
    } while (done < bytes.size());
  }

  const HexdumpOptions& options_;
  const std::optional<ColumnType> type_;
  const bool json_;
  const int offset_digits_;
  Output& output_;
  const RegionDetails* details_ = nullptr;
};

// Prints what can be read of the header and the footer of a file that cannot be opened, and then
// `status`.
Outcome PrintEnds(const HexdumpOptions& options, const CommonOptions& common,
                  const absl::Status& status, Output& output) {
  const auto source = OpenSourceAt(common.path, OptionsOf(common));
  if (!source.ok() || options.block) return status;
  const auto regions = DescribeEnds(**source, OptionsOf(common), options.max_fields);
  // `status` says more than the error of DescribeEnds: what is damaged, and how to salvage values.
  if (!regions.ok()) return status;
  Printer printer(options, common.json, (*source)->size(), std::nullopt, output);
  for (const RegionDetails& details : *regions) {
    if (!printer.Print(details)) return kFine;
  }
  return status;
}

Outcome PrintHexdump(const HexdumpOptions& options, const CommonOptions& common, Output& output) {
  auto reader = OpenFileAt(common.path, OptionsOf(common));
  absl::Status status = reader.status();
  if (absl::IsDataLoss(status)) {
    // With a wrong checksum of the header or of the footer, all regions can be printed
    // nevertheless.
    CommonOptions ignoring = common;
    ignoring.ignore_checksums = true;
    reader = OpenFileAt(common.path, OptionsOf(ignoring));
    if (!reader.ok()) return PrintEnds(options, common, status, output);
  }
  if (!reader.ok()) return status;
  const FileLayout layout = ListRegions(*reader);
  Printer printer(options, common.json, reader->info().file_size_bytes, reader->type(), output);
  bool found = false;
  uint64_t num_blocks = 0;
  for (const FileRegion& region : layout.regions) {
    num_blocks += region.kind == RegionKind::kDataBlock;
    if (options.block &&
        (region.kind != RegionKind::kDataBlock || region.index != *options.block)) {
      continue;
    }
    found = true;
    const auto details = DescribeRegion(*reader, region, options.max_fields);
    status.Update(details.ok() ? details->status : details.status());
    RegionDetails unknown{.region = region};
    unknown.stored_fields.push_back(
        {.size = static_cast<size_t>(region.size_bytes), .name = "unknown bytes"});
    if (!printer.Print(details.ok() ? *details : unknown)) return kFine;
  }
  if (options.block && !found) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat(common.path, ": there is no block ", *options.block, ": the file has ",
                     Plural(num_blocks, "block"), ", counted from 0")));
  }
  for (const Damage& damage : layout.damages) status.Update(damage.status);
  return status;
}

}  // namespace

void AddHexdumpCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "hexdump", "Show every byte of a file and what it means",
      "The regions of the file follow each other: header, data blocks, index nodes, dictionary,\n"
      "statistics, footer, and the zeros between them. Each line has an offset in hexadecimal,\n"
      "bytes, and the name and the value of the field. Fields of a structure are indented. After\n"
      "a compressed block, its fields before compression follow, with offsets that begin at 0.\n"
      "A damaged block is described as far as possible; the error is printed at the end. If the\n"
      "header or the footer is damaged, both are described, and the bytes between them follow as\n"
      "one region.\n\n"
      "With --header or --footer, prints this message as text protobuf: comments say what numbers\n"
      "mean; text is printed as text. With --json the message is printed in protobuf's JSON form:\n"
      "bytes are base64, and 64-bit integers are strings.\n\n"
      "--json prints one object a line. The objects with \"offset\" together have all bytes of\n"
      "the file, without gaps. Objects of a compressed block's contents have instead\n"
      "\"region_offset\" and \"offset_before_compression\". \"hex\" has at most as many bytes as\n"
      "--bytes says; \"hex_complete\" is false if the field has more.\n\n"
      "Examples:\n"
      "  cfile-dump hexdump keys.cfile | less\n"
      "  cfile-dump hexdump flights --column carrier --block 0\n"
      "  cfile-dump hexdump keys.cfile --footer --json | jq -r .footer.num_values\n"
      "  cfile-dump hexdump --json keys.cfile | jq -c 'select(.name == \"checksum\")'");
  AddColumnOptions(command, common, kOneColumn, kOnlyPart);
  const auto options = std::make_shared<HexdumpOptions>();
  command.Add("--block N", &options->block, "Only this data block, counted from 0",
              NumberIn(0, UINT64_MAX));
  command.Add("--bytes N", &options->shown_bytes, "Bytes shown of each field (default: 64)",
              NumberIn(0, kMaxBytes));
  command.Add("--fields N", &options->max_fields,
              "Print at most N fields of a block, and the rest as one field (default and "
              "least: 1,000)",
              NumberIn(kMaxBlockFields, kMaxBytes));
  command.Add("--header", &options->header, "Print the header as text protobuf").excludes = {
      "--block", "--bytes", "--fields"};
  command.Add("--footer", &options->footer, "Print the footer as text protobuf").excludes = {
      "--header", "--block", "--bytes", "--fields"};
  command.aliases = {{.word = "header", .options = {"--header"}},
                     {.word = "footer", .options = {"--footer"}}};
  const Action dump = OnFile(With(options, PrintHexdump));
  const Action metadata = OnEachFile([options](const CommonOptions& chosen, Output& output) {
    return PrintMetadata(options->header, chosen, output);
  });
  SetAction(command, action, [=](const CommonOptions& chosen, Output& output) {
    return (options->header || options->footer ? metadata : dump)(chosen, output);
  });
}

}  // namespace cfile::tools
