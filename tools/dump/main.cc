// cfile-dump: shows what is in a CFile or a table, and whether it is valid.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/command_line.h"
#include "tools/dump/commands.h"
#include "tools/dump/dump.h"
#include "tools/location.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

constexpr char kHelp[] =
    "Without a subcommand, a summary is printed. `cfile-dump SUBCOMMAND --help` explains each\n"
    "subcommand. To open a file that has the name of a subcommand, write a path: cfile-dump\n"
    "./values\n\n"
    "Exit codes: 0 success, 1 wrong use, 2 damaged, 3 input or output failed, 4 above a limit\n"
    "(the error names the option to raise), or needs something that this build does not have.\n"
    "`diff` has its own codes.\n"
    "What can be read of a damaged file is printed before the error. Commands that print blocks\n"
    "or rows one after another stop at the first damaged block. `report` and `verify` go on, and\n"
    "`salvage` copies the blocks that are complete. If the reader of a pipe closes it, cfile-dump\n"
    "ends with SIGPIPE; verify and salvage run to their end.\n\n"
    "Examples:\n"
    "  cfile-dump keys.cfile\n"
    "  cfile-dump flights --column carrier\n"
    "  cfile-dump values --ordinal 1000 --count 10 keys.cfile\n"
    "  cfile-dump find keys.cfile apple\n"
    "  cfile-dump export flights flights.csv\n"
    "  cfile-dump records --columns sid,trans.uri log\n"
    "  cfile-dump whatif flights --column carrier\n"
    "  cfile-dump diff flights copy\n"
    "  cfile-dump verify flights";

class DumpHelpFormatter final : public HelpFormatter {
 public:
  DumpHelpFormatter() : HelpFormatter(24) {}

  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() != nullptr) return "\n" + Formatter::make_usage(app, name);
    return "\nUsage: cfile-dump [OPTIONS] FILE\n       cfile-dump SUBCOMMAND [OPTIONS] FILE ...\n";
  }

  // On a terminal, wraps the paragraphs of the text at the width of the terminal.
  std::string make_footer(const CLI::App* app) const override {
    const std::optional<size_t> width = OutputWidth();
    const std::string footer = CLI::Formatter::make_footer(app);
    if (!width) return footer;
    // Only lines that follow each other at the margin are a paragraph: other lines are examples and
    // items of lists.
    std::string result, paragraph;
    const auto end_paragraph = [&] {
      if (!paragraph.empty()) absl::StrAppend(&result, tools::Wrapped(paragraph, *width), "\n");
      paragraph.clear();
    };
    for (const absl::string_view line : absl::StrSplit(footer, '\n')) {
      if (line.empty() || line.front() == ' ') {
        end_paragraph();
        absl::StrAppend(&result, line, "\n");
      } else {
        absl::StrAppend(&paragraph, paragraph.empty() ? "" : " ", line);
      }
    }
    end_paragraph();
    if (!result.empty()) result.pop_back();
    return result;
  }
};

ExitCode Misuse(const CLI::App& app, const std::string& message) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen[0]->get_name() + " ";
  std::fprintf(stderr, "cfile-dump: %s\nSee cfile-dump %s--help\n", TerminalSafe(message).c_str(),
               command.c_str());
  return kUsage;
}

bool Exists(const std::string& path) {
  if (IsUrl(path)) return true;
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

// The error of a command line without a subcommand, or with the subcommand after the file. Empty:
// there is no error.
std::string WrongArguments(const CLI::App& app, const std::vector<std::string>& files) {
  const auto chosen = app.get_subcommands();
  if (files.empty()) return chosen.empty() ? "a FILE or a subcommand is missing" : "";
  if (!chosen.empty()) {
    const std::string& name = chosen[0]->get_name();
    return absl::StrCat("write the subcommand before the file: cfile-dump ", name, " ", files[0],
                        " (a file named '", name, "' is written ./", name, ")");
  }
  std::string names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    absl::StrAppend(&names, " ", command->get_name());
  if (!Exists(files[0]) &&
      (files.size() > 1 || files[0].find_first_of("./") == std::string::npos)) {
    return absl::StrCat("'", files[0], "' is neither a file nor a subcommand; the subcommands are",
                        names);
  }
  return files.size() > 1 ? absl::StrCat("expected one file, found also '", files[1], "'") : "";
}

// The error of a command line that cannot be parsed. `files`: the arguments of the option FILE.
std::string TextOf(const CLI::ParseError& error, const CLI::App& app,
                   std::span<const char* const> arguments, const std::vector<std::string>& files) {
  const std::vector<std::string> unexpected = app.remaining(/*recurse=*/true);
  const auto option = std::find_if(unexpected.begin(), unexpected.end(),
                                   [](const std::string& each) { return each.starts_with("-"); });
  const std::string wrong = files.empty() ? "" : WrongArguments(app, files);
  if (option != unexpected.end()) {
    // The value of an unknown option looks like a file. But after a FILE that does not exist, the
    // file may be a misspelled subcommand, and the option may be an option of this subcommand.
    const auto place_of = [&](const std::string& text) {
      return std::find(arguments.begin(), arguments.end(), text);
    };
    const bool comes_first = !files.empty() && place_of(*option) < place_of(files[0]);
    const bool is_file = !files.empty() && app.get_subcommands().empty() && Exists(files[0]);
    if (wrong.empty() || comes_first || is_file) return "unknown option " + *option;
  }
  if (!wrong.empty()) return wrong;
  if (unexpected.empty()) return error.what();
  return absl::StrCat(unexpected.size() == 1 ? "unexpected argument: " : "unexpected arguments: ",
                      absl::StrJoin(unexpected, " "));
}

int Run(int argc, char** argv) {
  CommonOptions common;
  SummaryOptions summary;
  Action action = [&summary](const CommonOptions& options, Output& to) {
    return PrintSummary(summary, options, to);
  };
  std::vector<std::string> files;

  CLI::App app("Shows what is in a CFile, or in a table of CFiles, and whether it is valid.",
               std::string(kToolName));
  app.formatter(std::make_shared<DumpHelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help");
  CLI::Option* file_option = app.add_option("FILE", files, kFileOrTable)->type_name("");
  AddJsonOption(app, common);
  AddIgnoreChecksumsOption(app, common);
  AddColumnOptions(app, common, kOneColumn, kAllParts);
  AddSummaryOptions(app, summary);
  AddLimitOptions(app, common);
  app.set_version_flag("--version", absl::StrCat("cfile-dump ", CFILE_VERSION),
                       "Print the version");
  app.require_subcommand(0, 1);
  app.footer(HelpWithUrls(kHelp));
  AddSummaryCommand(app, common, action);
  AddHeaderCommand(app, common, action);
  AddFooterCommand(app, common, action);
  AddBlocksCommand(app, common, action);
  AddBlockCommand(app, common, action);
  AddHexdumpCommand(app, common, action);
  AddIndexCommand(app, common, action);
  AddDictionaryCommand(app, common, action);
  AddStatsCommand(app, common, action);
  AddValuesCommand(app, common, action);
  AddAtCommand(app, common, action);
  AddFindCommand(app, common, action);
  AddExplainCommand(app, common, action);
  AddExportCommand(app, common, action);
  AddRecordsCommand(app, common, action);
  AddReportCommand(app, common, action);
  AddVerifyCommand(app, common, action);
#ifdef CFILE_WITH_SALVAGE
  AddSalvageCommand(app, common, action);
#endif
  AddWhatIfCommand(app, common, action);
  AddRewriteCommand(app, common, action);
  AddConcatCommand(app, common, action);
  AddDiffCommand(app, common, action);

  Output output;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    app.exit(help, text, text);
    output.text = text.str();
    return output.Finish(kFine);
  } catch (const CLI::ParseError& error) {
    const std::span<const char* const> arguments(argv, static_cast<size_t>(argc));
    const std::vector<std::string> given =
        file_option->count() > 0 ? file_option->results() : std::vector<std::string>();
    const ExitCode code = Misuse(app, TextOf(error, app, arguments, given));
    return app.got_subcommand("diff") ? TroubleOfDiff(code) : code;
  }
  if (const std::string wrong = WrongArguments(app, files); !wrong.empty()) {
    return Misuse(app, wrong);
  }
  for (const CLI::App* command : app.get_subcommands()) {
    if (common.json && command->get_option_no_throw("--json") == nullptr) {
      return Misuse(app, absl::StrCat(command->get_name(), " has no --json"));
    }
  }
  if (!files.empty()) common.path = files[0];
  return action(common, output);
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  cfile::tools::OpenStandardStreams();
  cfile::tools::RaiseOpenFileLimit();
  try {
    return cfile::tools::Run(argc, argv);
  } catch (const std::exception& error) {  // out of memory
    return cfile::tools::Report("cfile-dump", absl::ResourceExhaustedError(error.what()));
  }
}
