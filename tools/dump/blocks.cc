// cfile-dump blocks: one line per data block.
#include "tools/dump/commands.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "tools/dump/bounds.h"
#include "tools/dump/dump.h"
#include "tools/location.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

constexpr size_t kBoundBytes = 24;
constexpr size_t kBoundCells = kBoundBytes + 3;  // with "..."

// The names of the columns. Only files with statistics have the last two columns.
constexpr const char* kHeads[] = {"index", "offset",   "size",   "first row", "rows",
                                  "nulls", "encoding", "codec",  "stored",    "encoded",
                                  "ratio", "minimum",  "maximum"};

std::string HexOf(const BlockInfo& block) {
  return absl::BytesToHexString(std::string(block.bytes.begin(), block.bytes.end()));
}

// The statistics of `block`; null if the file has no statistics per block.
const BlockStatistics* StatisticsOf(const FileStatistics* file, const BlockInfo& block) {
  const bool known = file != nullptr && block.index < file->blocks.size();
  return known ? &file->blocks[block.index] : nullptr;
}

Json ToJson(const BlockInfo& block, const FileInfo& info, const BlockStatistics* statistics) {
  Json json = {{"index", JsonInteger(block.index)}};
  json.update(JsonPointer(block.pointer));
  json["first_ordinal"] = JsonInteger(block.first_ordinal);
  json["rows"] = JsonInteger(block.num_rows);
  if (info.has_levels()) json["entries"] = JsonInteger(block.num_entries);
  json["nulls"] = JsonInteger(block.null_count);
  json["encoding"] = EncodingName(block.encoding);
  json["compressed"] = block.compressed;
  json["compression"] = CodecOf(block.compressed, info);
  json["stored"] = JsonInteger(block.stored_size_bytes);
  json["encoded"] = JsonInteger(block.encoded_size_bytes);
  if (statistics != nullptr) {
    const BoundTexts bounds = TextOfBounds(info.type, *statistics);
    json["minimum"] = JsonBound(bounds.min, statistics->min_exact);
    json["maximum"] = JsonBound(bounds.max, statistics->max_exact);
    json["nan"] = JsonInteger(statistics->nan_count);
  }
  return json;
}

// Returns the columns with their widths. Lines are printed one by one, so the widths are computed
// from the size of the file and its number of rows, which the numbers in a line seldom exceed.
// If the terminal is narrow, the bounds of values are shortened first, and then the names of
// encodings. If this is not enough, columns are left out: `cfile-dump stats` shows the bounds, too.
TextLines FormOf(const FileInfo& info, bool with_bounds) {
  const auto digits = [](uint64_t most) { return std::to_string(most).size(); };
  const size_t offset = digits(info.file_size_bytes), ordinal = digits(info.num_rows);
  constexpr size_t kMostBytes = 9, kMostBlocks = 7;
  const size_t bytes = std::min(offset, kMostBytes);
  std::vector<TextColumn> columns;
  std::vector<size_t> widths;
  const auto add = [&](const TextColumn& column, size_t width) {
    columns.push_back(column);
    widths.push_back(std::max(width, std::string_view(kHeads[widths.size()]).size()));
  };
  add({.right = true, .drop = 5}, std::min(ordinal, kMostBlocks));
  add({.right = true}, offset);
  add({.right = true}, bytes);
  add({.right = true}, ordinal);
  add({.right = true}, std::min(ordinal, kMostBytes));
  add({.right = true, .drop = 4}, std::min(ordinal, kMostBytes));
  constexpr size_t kEncodingCells = 12;
  add({.shorten = 2, .least = kEncodingCells, .drop = 8},
      std::max(kEncodingCells, EncodingName(info.encoding).size()));
  add({.drop = 7}, CompressionName(info.compression).size());
  add({.right = true, .drop = 1}, bytes);
  add({.right = true, .drop = 2}, kMostBytes);
  add({.right = true, .drop = 6}, 6);
  for (int bound = 0; with_bounds && bound < 2; ++bound) {
    add({.shorten = 1, .drop = 3}, kBoundCells);
  }
  return TextLines(std::move(columns), widths, OutputWidth());
}

void AppendLine(const TextLines& form, const BlockInfo& block, const FileInfo& info,
                const BlockStatistics* statistics, std::string& out) {
  const double ratio = Ratio(block.encoded_size_bytes, block.stored_size_bytes);
  std::vector<std::string> cells = {std::to_string(block.index),
                                    std::to_string(block.pointer.offset),
                                    std::to_string(block.pointer.size),
                                    std::to_string(block.first_ordinal),
                                    std::to_string(block.num_rows),
                                    std::to_string(block.null_count),
                                    EncodingName(block.encoding),
                                    CodecOf(block.compressed, info),
                                    std::to_string(block.stored_size_bytes),
                                    std::to_string(block.encoded_size_bytes),
                                    absl::StrFormat("%.2f", ratio)};
  if (statistics != nullptr) {
    const BoundTexts bounds = TextOfBounds(info.type, *statistics);
    cells.push_back(BoundInLine(bounds.min, kBoundBytes));
    cells.push_back(BoundInLine(bounds.max, kBoundBytes));
  }
  cells.resize(std::size(kHeads));
  form.Append(cells, out);
}

ExitCode PrintBlocks(const CommonOptions& common, bool with_bytes, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  // If the statistics are damaged, the blocks are shown without statistics, and the error is
  // returned at the end.
  const auto statistics = reader->Statistics();
  const FileStatistics* const known = statistics.ok() ? statistics->get() : nullptr;
  const TextLines form = FormOf(reader->info(), known != nullptr && !known->blocks.empty());
  std::optional<JsonList> list;
  if (common.json) {
    list.emplace(common.path, "blocks", output);
  } else {
    form.Append(std::vector<std::string>(std::begin(kHeads), std::end(kHeads)), output.text);
  }
  absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    const BlockStatistics* const of_block = StatisticsOf(known, block);
    if (list) {
      Json json = ToJson(block, reader->info(), of_block);
      if (with_bytes) json["bytes"] = HexOf(block);
      list->Add(json);
    } else {
      AppendLine(form, block, reader->info(), of_block, output.text);
      if (with_bytes) output.text += HexOf(block) + "\n";
    }
    return output.Drain();
  });
  status.Update(statistics.status());
  if (list) {
    list->Finish(status);
  } else {
    form.AppendNote(output.text);
  }
  return status.ok() ? output.Finish(kFine) : output.Fail(status);
}

}  // namespace

void AddBlocksCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "blocks", "List the data blocks, or show the bytes of one block",
      "offset and size are bytes in the file, with the checksum; stored is the size without it;\n"
      "encoded is the size before compression, and ratio is encoded / stored. rows includes\n"
      "nulls. codec is none for a block that is stored without compression.\n"
      "--json also has the entries if a row is a record of several values. minimum and maximum\n"
      "are printed for files that have statistics. They are bounds: long strings are cut, and\n"
      "--json then says that exact is false.\n\n"
      "With --block or --ordinal, the first table has the block as it is in the file; its offsets\n"
      "are those of the file. The second table has the block before compression; its offsets\n"
      "begin at 0. The first 8 bytes of each field are shown, in hexadecimal. Of a block with\n"
      "very many fields, the last ones are one field. A damaged block is described as far as\n"
      "possible, then the error is printed. With --ignore-checksums, a wrong checksum is not an\n"
      "error.\n\n"
      "Examples:\n"
      "  cfile-dump blocks keys.cfile\n"
      "  cfile-dump blocks flights --column carrier\n"
      "  cfile-dump blocks keys.cfile --block 3\n"
      "  cfile-dump blocks keys.cfile --ordinal 123456\n"
      "  cfile-dump blocks --json keys.cfile | jq '.blocks[] | select(.nulls > 0)'\n"
      "  tail -c +$((OFFSET + 1)) keys.cfile | head -c SIZE | xxd  # one block");
  command.aliases = {{.word = "block", .places = {"--block"}}};
  AddIgnoreChecksumsOption(command, common);
  AddColumnOptions(command, common, kOneColumn, kAllParts);
  struct Arguments {
    bool with_bytes = false;
    WhichBlock which;
  };
  const auto arguments = std::make_shared<Arguments>();
  command.Add("--block N", &arguments->which.index,
              "Show the bytes of this block, field by field; the first block has number 0",
              NumberIn(0, UINT64_MAX));
  command
      .Add("--ordinal N", &arguments->which.ordinal, "Show the block that holds this row",
           NumberIn(0, UINT64_MAX))
      .excludes = {"--block"};
  command
      .Add("--bytes", &arguments->with_bytes,
           "Show each block's bytes too, before compression, in hexadecimal")
      .excludes = {"--block", "--ordinal"};
  const Action list = OnEachFile([arguments](const CommonOptions& options, Output& output) {
    return PrintBlocks(options, arguments->with_bytes, output);
  });
  const Action show = OnFile([arguments](const CommonOptions& options, Output& output) {
    return PrintBlock(arguments->which, options, output);
  });
  SetAction(command, action, [=](const CommonOptions& options, Output& output) {
    const bool one = arguments->which.index || arguments->which.ordinal;
    return (one ? show : list)(options, output);
  });
}

}  // namespace cfile::tools
