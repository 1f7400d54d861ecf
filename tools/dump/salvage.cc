// cfile-dump salvage: copies the readable rows of a torn or damaged file into a new file.
#include "tools/dump/commands.h"

#include "cfile/salvage.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/dump/dump.h"
#include "tools/location.h"

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
  if (!report.has_footer)
    text += "  torn: the footer is missing, so the number of rows is not known\n";
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
  const absl::Status free = CheckOutIsFree(arguments.out, arguments.force);
  if (!free.ok()) return output.Fail(free);
  SalvageOptions options = arguments.options;
  options.reader = OptionsOf(common);
  auto torn = OpenSourceAt(common.path);
  if (!torn.ok()) return output.Fail(torn.status());
  auto sink = NewFileSink(arguments.out);
  if (!sink.ok()) return output.Fail(sink.status());
  const auto report = Salvage(*torn, *std::move(sink), options);
  if (!report.ok()) return output.Fail(ExplainDamage(report.status(), **torn));
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
      "FILE is the temporary file that a killed writer left next to the file that it was\n"
      "writing (.NAME.NUMBER-NUMBER.cfile-tmp), or a file that `verify` finds damaged. For a\n"
      "table, run it for each file of a part: name the file with --column, or by its path if\n"
      "table.cft is damaged.\n"
      "OUT gets every row of every complete block, and the type, encoding, codec and metadata\n"
      "of FILE. The output says which bytes are lost and, if it is known, which rows. The rows\n"
      "after a gap move up.\n"
      "OUT appears when it is complete. The exit code is 0 if nothing was lost. It is 2 if\n"
      "anything was lost or may have been lost, which is always so without a footer: OUT exists\n"
      "then, unless an error says that FILE cannot be read at all.\n\n"
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
      "The values ascend: OUT gets a value index. (Without this option OUT gets one if the "
      "footer says that FILE had one.)");
  command->add_flag_callback(
      "--unsorted", [arguments] { arguments->options.value_index = false; },
      "OUT gets no value index, even if FILE had one: the values that are left do not ascend");
  command->add_flag("--force", arguments->force, "Replace OUT if it exists");
  command->callback([&action, arguments] {
    action = OnFile([arguments](const CommonOptions& chosen, Output& output) {
      return SalvageFile(chosen, *arguments, output);
    });
  });
}

}  // namespace cfile::tools
