// cfile-dump blocks: one line per data block.
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "tools/dump/dump.h"

namespace cfile::tools {
namespace {

std::string Hex(const BlockInfo& block) {
  return absl::BytesToHexString(std::string(block.bytes.begin(), block.bytes.end()));
}

// `levels`: the file has them.
Json ToJson(const BlockInfo& block, bool levels) {
  Json json = {{"index", JsonInteger(block.index)}};
  json.update(JsonPointer(block.pointer));
  json["first_ordinal"] = JsonInteger(block.first_ordinal);
  json["rows"] = JsonInteger(block.num_values);
  if (levels) json["entries"] = JsonInteger(block.num_entries);
  json["nulls"] = JsonInteger(block.null_count);
  json["encoding"] = EncodingName(block.encoding);
  json["compressed"] = block.compressed;
  json["stored"] = JsonInteger(block.stored_size_bytes);
  json["encoded"] = JsonInteger(block.encoded_size_bytes);
  return json;
}

void AppendLine(const BlockInfo& block, std::string& out) {
  absl::StrAppendFormat(&out, "%7u %13u %9u %13u %9u %9u  %-12s %9u %9u %7.2f\n", block.index,
                        block.pointer.offset, block.pointer.size, block.first_ordinal,
                        block.num_values, block.null_count, EncodingName(block.encoding),
                        block.stored_size_bytes, block.encoded_size_bytes,
                        Ratio(block.encoded_size_bytes, block.stored_size_bytes));
}

ExitCode PrintBlocks(const CommonOptions& common, bool with_bytes, Output& output) {
  const auto reader = OpenFile(common);
  if (!reader.ok()) return output.Fail(reader.status());
  std::optional<JsonList> list;
  if (common.json) {
    list.emplace(common.path, "blocks", output);
  } else {
    absl::StrAppendFormat(&output.text, "%7s %13s %9s %13s %9s %9s  %-12s %9s %9s %7s\n", "index",
                          "offset", "size", "first_ordinal", "rows", "nulls", "encoding", "stored",
                          "encoded", "ratio");
  }
  const absl::Status status = VisitBlocks(*reader, [&](const BlockInfo& block) {
    if (list) {
      Json json = ToJson(block, reader->info().has_levels());
      if (with_bytes) json["bytes"] = Hex(block);
      list->Add(json);
    } else {
      AppendLine(block, output.text);
      if (with_bytes) output.text += Hex(block) + "\n";
    }
    output.Drain();
    return true;
  });
  if (list) list->Finish(status);
  return status.ok() ? output.Finish(kFine) : output.Fail(status);
}

}  // namespace

void AddBlocksCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "blocks", "List the data blocks",
      "offset and size are bytes in the file, the checksum included; stored is without it, encoded "
      "is before\n"
      "compression, and ratio is encoded / stored. rows counts nulls; --json adds the entries "
      "where a "
      "row is a\n"
      "record of several.\n\n"
      "Examples:\n"
      "  cfile-dump blocks keys.cfile\n"
      "  cfile-dump blocks --json keys.cfile | jq '.blocks[] | select(.nulls > 0)'\n"
      "  tail -c +$((OFFSET + 1)) keys.cfile | head -c SIZE | xxd      the bytes of a block");
  AddIgnoreChecksumsOption(*command, common);
  const auto with_bytes = std::make_shared<bool>(false);
  command->add_flag("--bytes", *with_bytes,
                    "Show each block's bytes too, before compression, in hexadecimal");
  command->callback([&action, with_bytes] {
    action = [with_bytes](const CommonOptions& options, Output& output) {
      return PrintBlocks(options, *with_bytes, output);
    };
  });
}

}  // namespace cfile::tools
