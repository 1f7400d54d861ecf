// cfile-dump salvage: copies the readable rows of a torn or damaged file into a new file.
#include "cfile/salvage.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/dump/dump.h"

namespace cfile::tools {
namespace {

struct SalvageArguments {
  std::string out;
  bool force = false;
  SalvageOptions options;
};

const char* NameOf(SalvageReport::Dictionary dictionary) {
  switch (dictionary) {
    case SalvageReport::Dictionary::kFound:
      return "found";
    case SalvageReport::Dictionary::kLost:
      return "lost";
    default:
      return "none needed";
  }
}

void AddText(const SalvageReport& report, std::string& text) {
  absl::StrAppend(&text, "  ", Plural(report.rows, "row"), " of ",
                  Plural(report.blocks, "data block"), ", ", report.bytes, " of ",
                  Plural(report.info.file_size_bytes, "byte"), "\n");
  if (!report.has_footer) text += "  torn: without its footer; how many rows it had is not known\n";
  if (report.dictionary != SalvageReport::Dictionary::kNone)
    absl::StrAppend(&text, "  dictionary ", NameOf(report.dictionary), "\n");
  for (const LostBytes& lost : report.lost) {
    absl::StrAppend(&text, "  lost bytes ", lost.begin, " to ", lost.end - 1, ": ",
                    TerminalSafe(WithOptionNames(lost.reason)), "\n");
  }
  if (report.more_lost.count > 0) {
    absl::StrAppend(&text, "  and ", report.more_lost.count, " more, ",
                    Plural(report.more_lost.bytes, "byte"), "\n");
  }
  for (const OrdinalRange& rows : report.missing)
    absl::StrAppend(&text, "  missing rows ", rows.begin, " to ", rows.end - 1, "\n");
}

Json ToJson(const std::string& path, const std::string& out, const SalvageReport& report) {
  Json document = JsonDocument(path);
  document["out"] = JsonBytes(out);
  document["complete"] = report.complete();
  document["has_footer"] = report.has_footer;
  document["rows"] = JsonInteger(report.rows);
  document["data_blocks"] = JsonInteger(report.blocks);
  document["bytes"] = JsonInteger(report.bytes);
  document["size"] = JsonInteger(report.info.file_size_bytes);
  document["dictionary"] = NameOf(report.dictionary);
  Json& lost = document["lost"] = Json::array();
  for (const LostBytes& bytes : report.lost) {
    lost.push_back({{"begin", JsonInteger(bytes.begin)},
                    {"end", JsonInteger(bytes.end)},
                    {"reason", JsonBytes(WithOptionNames(bytes.reason))}});
  }
  document["more_lost"] = {{"count", JsonInteger(report.more_lost.count)},
                           {"bytes", JsonInteger(report.more_lost.bytes)}};
  Json& missing = document["missing"] = Json::array();
  for (const OrdinalRange& rows : report.missing) {
    missing.push_back(
        {{"first_ordinal", JsonInteger(rows.begin)}, {"last_ordinal", JsonInteger(rows.end - 1)}});
  }
  return document;
}

ExitCode SalvageFile(const CommonOptions& common, const SalvageArguments& arguments,
                     Output& output) {
  output.IgnoreClosedPipe();
  std::error_code ignored;
  if (!arguments.force &&
      std::filesystem::exists(std::filesystem::symlink_status(arguments.out, ignored))) {
    return output.Fail(absl::InvalidArgumentError(
        absl::StrCat(arguments.out, " exists already; --force replaces it")));
  }
  SalvageOptions options = arguments.options;
  options.reader = OptionsOf(common);
  auto torn = OpenPreadSource(common.path);
  if (!torn.ok()) return output.Fail(torn.status());
  auto sink = NewFileSink(arguments.out);
  if (!sink.ok()) return output.Fail(sink.status());
  const auto report = Salvage(*std::move(torn), *std::move(sink), options);
  if (!report.ok()) return output.Fail(report.status());
  if (common.json) {
    absl::StrAppend(&output.text, ToJson(common.path, arguments.out, *report).dump(2), "\n");
  } else {
    absl::StrAppend(&output.text, Printable(arguments.out), ": ",
                    report->complete() ? "all that was in " : "what is left of ",
                    Printable(common.path), "\n");
    AddText(*report, output.text);
  }
  return output.Finish(report->complete() ? kFine : kDamaged);
}

}  // namespace

void AddSalvageCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "salvage", "Write what is left of a torn or damaged file into a new one",
      "FILE is the temporary file that a killed writer leaves beside the name it was to get\n"
      "(.NAME.NUMBER-NUMBER.cfile-tmp), or one that `verify` finds damaged; of a table do it for "
      "each file of a part: with --column, or by its path if table.cft is damaged.\n"
      "Every row that stands in a whole block gets into OUT, with its type, encoding, codec and "
      "metadata; what is\n"
      "lost is printed, as bytes and, where it is known, as rows. Rows behind a gap move up. OUT "
      "appears when it is\n"
      "whole. Ends with 0 if nothing was lost and with 2 if anything was or may have been, as "
      "always without a footer;\n"
      "OUT is there then, unless an error says that FILE cannot be read at all.\n\n"
      "Examples:\n"
      "  cfile-dump salvage .keys.cfile.4711-0.cfile-tmp keys.cfile --sorted\n"
      "  cfile-dump salvage flights --column carrier carrier.cfile\n"
      "  cfile-dump salvage --json damaged.cfile repaired.cfile | jq .missing",
      "A torn or damaged .cfile, or with --column the directory of a table");
  AddColumnOptions(*command, common, kOneColumn, kOnlyPart);
  const auto arguments = std::make_shared<SalvageArguments>();
  command->add_option("OUT", arguments->out, "The new file")->required()->type_name("");
  command->add_flag_callback(
      "--sorted", [arguments] { arguments->options.value_index = true; },
      "The values ascend: OUT gets an index by value. (Only a footer says whether FILE had one; "
      "with it that is kept.)");
  command->add_flag_callback(
      "--unsorted", [arguments] { arguments->options.value_index = false; },
      "OUT gets no index by value, though FILE had one: what is left of it does not ascend");
  command->add_flag("--force", arguments->force, "Replace OUT if it exists");
  command->callback([&action, arguments] {
    action = OnFile([arguments](const CommonOptions& chosen, Output& output) {
      return SalvageFile(chosen, *arguments, output);
    });
  });
}

}  // namespace cfile::tools
