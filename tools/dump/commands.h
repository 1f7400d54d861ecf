// The subcommands of cfile-dump.
#pragma once

#include "tools/dump/dump.h"

namespace cfile::tools {

// Each function adds one subcommand. If the user chooses this subcommand, parsing the command line
// sets `action` to the function that runs it.
void AddHeaderCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddFooterCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddBlocksCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddBlockCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddHexdumpCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddDictionaryCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddStatsCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddIndexCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddValuesCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddAtCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddFindCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddExplainCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddExportCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddRecordsCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddVerifyCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddSalvageCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddReportCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddWhatIfCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddRewriteCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddConcatCommand(CLI::App& app, CommonOptions& common, Action& action);
void AddDiffCommand(CLI::App& app, CommonOptions& common, Action& action);

// The exit code of `diff` if the values differ. diff(1) has the same exit code.
inline constexpr ExitCode kDifferent = static_cast<ExitCode>(1);
// The exit code of `diff` after an error with the exit code `code`. Wrong use has the exit code 2,
// because 1 is kDifferent.
inline ExitCode TroubleOfDiff(ExitCode code) {
  return code == kUsage ? static_cast<ExitCode>(2) : code;
}

struct SummaryOptions {
  bool by_size = false;  // the columns of a table are sorted by size
};
// `options` must live until the command line is parsed.
void AddSummaryOptions(CLI::App& command, SummaryOptions& options);
// cfile-dump without a subcommand: prints a summary of a file or a table.
ExitCode PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output);
void AddSummaryCommand(CLI::App& app, CommonOptions& common, Action& action);

}  // namespace cfile::tools
