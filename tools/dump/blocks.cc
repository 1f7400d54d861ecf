// cfile-dump blocks: one line per data block.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "tools/dump/bounds.h"
#include "tools/dump/dump.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

constexpr size_t kBoundBytes = 24;
constexpr size_t kBoundCells = kBoundBytes + 3;  // with "..."

std::string Hex(const BlockInfo& block) {
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

// `bound_width`: see BoundWidth.
void AppendLine(const BlockInfo& block, const FileInfo& info, const BlockStatistics* statistics,
                size_t bound_width, std::string& out) {
  absl::StrAppendFormat(&out, "%7u %13u %9u %13u %9u %9u  %-12s %-6s %9u %9u %7.2f",
                        block.index, block.pointer.offset, block.pointer.size, block.first_ordinal,
                        block.num_rows, block.null_count, EncodingName(block.encoding),
                        CodecOf(block.compressed, info), block.stored_size_bytes,
                        block.encoded_size_bytes,
                        Ratio(block.encoded_size_bytes, block.stored_size_bytes));
  if (statistics != nullptr) {
    const BoundTexts bounds = TextOfBounds(info.type, *statistics);
    out += BoundColumns(BoundInLine(bounds.min, kBoundBytes), BoundInLine(bounds.max, kBoundBytes),
                        bound_width);
  }
  out += '\n';
}

ExitCode PrintBlocks(const CommonOptions& common, bool with_bytes, Output& output) {
  const auto reader = OpenFileAt(common.path, OptionsOf(common));
  if (!reader.ok()) return output.Fail(reader.status());
  // If the statistics are damaged, the blocks are shown without statistics, and the error is
  // returned at the end.
  const auto statistics = reader->Statistics();
  const FileStatistics* const known = statistics.ok() ? statistics->get() : nullptr;
  std::optional<JsonList> list;
  size_t bound_width = 0;
  if (common.json) {
    list.emplace(common.path, "blocks", output);
  } else {
    const std::string header = absl::StrFormat(
        "%7s %13s %9s %13s %9s %9s  %-12s %-6s %9s %9s %7s", "index", "offset", "size",
        "first_ordinal", "rows", "nulls", "encoding", "codec", "stored", "encoded", "ratio");
    output.text += header;
    if (known != nullptr && !known->blocks.empty()) {
      bound_width = BoundWidth(header.size(), kBoundCells);
      output.text += BoundColumns("minimum", "maximum", bound_width);
    }
    output.text += '\n';
  }
  absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    const BlockStatistics* const of_block = StatisticsOf(known, block);
    if (list) {
      Json json = ToJson(block, reader->info(), of_block);
      if (with_bytes) json["bytes"] = Hex(block);
      list->Add(json);
    } else {
      AppendLine(block, reader->info(), of_block, bound_width, output.text);
      if (with_bytes) output.text += Hex(block) + "\n";
    }
    return output.Drain();
  });
  status.Update(statistics.status());
  if (list) list->Finish(status);
  return status.ok() ? output.Finish(kFine) : output.Fail(status);
}

}  // namespace

void AddBlocksCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "blocks", "List the data blocks",
      "offset and size are bytes in the file, with the checksum; stored is the size without it;\n"
      "encoded is the size before compression, and ratio is encoded / stored. rows includes\n"
      "nulls. codec is none for a block that is stored without compression.\n"
      "--json also has the entries if a row is a record of several values. minimum and maximum\n"
      "are printed for files that have statistics. They are bounds: long strings are cut, and\n"
      "--json then says that exact is false.\n\n"
      "Examples:\n"
      "  cfile-dump blocks keys.cfile\n"
      "  cfile-dump blocks flights --column carrier\n"
      "  cfile-dump blocks --json keys.cfile | jq '.blocks[] | select(.nulls > 0)'\n"
      "  tail -c +$((OFFSET + 1)) keys.cfile | head -c SIZE | xxd      the bytes of a block");
  AddIgnoreChecksumsOption(*command, common);
  AddColumnOptions(*command, common, kOneColumn, kAllParts);
  const auto with_bytes = std::make_shared<bool>(false);
  command->add_flag("--bytes", *with_bytes,
                    "Show each block's bytes too, before compression, in hexadecimal");
  command->callback([&action, with_bytes] {
    action = OnEachFile([with_bytes](const CommonOptions& options, Output& output) {
      return PrintBlocks(options, *with_bytes, output);
    });
  });
}

}  // namespace cfile::tools
