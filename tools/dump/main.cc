// cfile-dump: shows what is in a CFile or a table, and whether it is valid.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/filter.h"
#include "tools/command_line.h"
#include "tools/dump/commands.h"
#include "tools/dump/dump.h"
#include "tools/location.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

constexpr char kHelp[] =
    "Without a subcommand, a summary is printed. `cfile-dump SUBCOMMAND --help` explains each\n"
    "subcommand. To open a file that has the name of a subcommand, write a path: cfile-dump\n"
    "./rows\n\n"
    "Exit codes: 0 success, 1 wrong use, 2 damaged, 3 input or output failed, 4 above a limit\n"
    "(the error names the option to raise), or needs something that this build does not have.\n"
    "`diff` and `find` have 1 for another result, too.\n"
    "What can be read of a damaged file is printed before the error. Commands that print blocks\n"
    "or rows one after another stop at the first damaged block; `rows --skip-damaged`, `report`\n"
    "and `verify` go on, and `salvage` copies the blocks that are complete. If the reader of a\n"
    "pipe closes it, cfile-dump ends with SIGPIPE; verify and salvage run to their end.\n\n"
    "Examples:\n"
    "  cfile-dump keys.cfile\n"
    "  cfile-dump flights --column carrier\n"
    "  cfile-dump rows flights --where 'dep_delay > 60' -n 10\n"
    "  cfile-dump rows flights -o flights.csv.gz\n"
    "  cfile-dump find keys.cfile apple\n"
    "  cfile-dump count flights --by carrier\n"
    "  cfile-dump whatif flights --column carrier\n"
    "  cfile-dump diff flights copy\n"
    "  cfile-dump verify flights";

bool Exists(const std::string& path) {
  if (IsUrl(path)) return true;
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

// The error of a command line without a subcommand, or with the subcommand after the file. Empty:
// there is no error.
std::string WrongArguments(const Command& tool, const Parsed& parsed) {
  const std::vector<std::string>& files = parsed.arguments;
  if (files.empty()) return parsed.chosen == nullptr ? "a FILE or a subcommand is missing" : "";
  if (parsed.chosen != nullptr) {
    const std::string& name = parsed.chosen->name;
    return absl::StrCat("write the subcommand before the file: cfile-dump ", name, " ", files[0],
                        " (a file named '", name, "' is written ./", name, ")");
  }
  if (!Exists(files[0]) &&
      (files.size() > 1 || files[0].find_first_of("./") == std::string::npos)) {
    std::vector<std::string> names;
    for (const Command& command : tool.subcommands) names.push_back(command.name);
    return absl::StrCat("'", files[0], "' is neither a file nor a subcommand; the subcommands are ",
                        absl::StrJoin(names, " "), Suggestion(files[0], names));
  }
  return files.size() > 1 ? absl::StrCat("expected one file, found also '", files[1], "'") : "";
}

// The error of a command line that cannot be parsed. `arguments`: the whole command line.
std::string TextOf(const Command& tool, const Parsed& parsed,
                   const std::vector<std::string>& arguments) {
  const std::vector<std::string>& files = parsed.arguments;
  const std::vector<std::string>& unexpected = parsed.unexpected;
  const auto option = std::find_if(unexpected.begin(), unexpected.end(),
                                   [](const std::string& each) { return each.starts_with("-"); });
  const std::string wrong = files.empty() ? "" : WrongArguments(tool, parsed);
  if (option != unexpected.end()) {
    // The value of an unknown option looks like a file. But after a FILE that does not exist, the
    // file may be a misspelled subcommand, and the option may be an option of this subcommand.
    const auto place_of = [&](const std::string& text) {
      return std::find(arguments.begin(), arguments.end(), text);
    };
    const bool comes_first = !files.empty() && place_of(*option) < place_of(files[0]);
    const bool is_file = !files.empty() && parsed.chosen == nullptr && Exists(files[0]);
    if (wrong.empty() || comes_first || is_file)
      return absl::StrCat("unknown option ", *option,
                          OptionSuggestion(*option, tool, parsed.chosen));
  }
  if (!wrong.empty()) return wrong;
  if (unexpected.empty()) return parsed.error;
  return absl::StrCat(unexpected.size() == 1 ? "unexpected argument: " : "unexpected arguments: ",
                      absl::StrJoin(unexpected, " "));
}

ExitCode Run(int argc, char** argv) {
  CommonOptions common;
  SummaryOptions summary;
  Action action = [&summary](const CommonOptions& options, Output& to) {
    return PrintSummary(summary, options, to);
  };
  std::vector<std::string> files;

  Command tool{
      .name = std::string(kToolName),
      .description = "Shows what is in a CFile, or in a table of CFiles, and whether it is valid.",
      .footer = HelpWithUrls(kHelp),
      .help_column = 24,
      .usage = "cfile-dump [OPTIONS] FILE\n       cfile-dump SUBCOMMAND [OPTIONS] FILE ..."};
  tool.Add("FILE", &files, kFileOrTable);
  AddJsonOption(tool, common);
  AddIgnoreChecksumsOption(tool, common);
  AddColumnOptions(tool, common, kOneColumn, kAllParts);
  AddSummaryOptions(tool, summary);
  AddLimitOptions(tool, common);
  tool.Add("--version", absl::StrCat("cfile-dump ", CFILE_VERSION), "Print the version");
  AddSummaryCommand(tool, common, action);
  AddRowsCommand(tool, common, action);
  AddFindCommand(tool, common, action);
  AddCountCommand(tool, common, action);
  AddBlocksCommand(tool, common, action);
  AddIndexCommand(tool, common, action);
  AddHexdumpCommand(tool, common, action);
  AddStatsCommand(tool, common, action);
  AddExplainCommand(tool, common, action);
  AddWhatIfCommand(tool, common, action);
  AddVerifyCommand(tool, common, action);
#ifdef CFILE_WITH_SALVAGE
  AddSalvageCommand(tool, common, action);
#endif
  AddDiffCommand(tool, common, action);
  AddRewriteCommand(tool, common, action);
  AddReportCommand(tool, common, action);

  Output output(kToolName);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Parsed parsed = Parse(tool, arguments);
  if (!parsed.note.empty()) std::fprintf(stderr, "%s\n", parsed.note.c_str());
  if (parsed.text) {
    output.text = *parsed.text;
    return output.Finish(kFine);
  }
  const Command* const chosen = parsed.chosen;
  std::string wrong =
      parsed.error.empty() ? WrongArguments(tool, parsed) : TextOf(tool, parsed, arguments);
  const auto is_json = [](const Option& option) { return option.name == "--json"; };
  if (wrong.empty() && chosen != nullptr && common.json &&
      std::none_of(chosen->options.begin(), chosen->options.end(), is_json)) {
    wrong = chosen->name + " has no --json";
  }
  if (!wrong.empty()) {
    const std::string command = chosen == nullptr ? "" : " " + chosen->name;
    const ExitCode code =
        Misuse(kToolName, absl::StrCat("cfile-dump", command), TerminalSafe(wrong));
    const bool is_diff = chosen != nullptr && chosen->name == "diff" && !parsed.error.empty();
    return is_diff ? TroubleOfDiff(code) : code;
  }
  if (!files.empty()) common.path = files[0];
  return output.Finish(action(common, output));
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  return cfile::tools::RunTool(cfile::tools::kToolName,
                               [&] { return cfile::tools::Run(argc, argv); });
}
