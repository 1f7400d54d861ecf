// The subcommands of cfile-dump.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// Each function adds one subcommand. If the user chooses this subcommand, parsing the command line
// sets `action` to the function that runs it.
void AddBlocksCommand(Command& app, CommonOptions& common, Action& action);
void AddHexdumpCommand(Command& app, CommonOptions& common, Action& action);
void AddStatsCommand(Command& app, CommonOptions& common, Action& action);
void AddIndexCommand(Command& app, CommonOptions& common, Action& action);
void AddRowsCommand(Command& app, CommonOptions& common, Action& action);
void AddCountCommand(Command& app, CommonOptions& common, Action& action);
void AddFindCommand(Command& app, CommonOptions& common, Action& action);
void AddExplainCommand(Command& app, CommonOptions& common, Action& action);
void AddVerifyCommand(Command& app, CommonOptions& common, Action& action);
void AddSalvageCommand(Command& app, CommonOptions& common, Action& action);
void AddReportCommand(Command& app, CommonOptions& common, Action& action);
void AddWhatIfCommand(Command& app, CommonOptions& common, Action& action);
void AddRewriteCommand(Command& app, CommonOptions& common, Action& action);
void AddDiffCommand(Command& app, CommonOptions& common, Action& action);

// The exit code of `diff` if the values differ. diff(1) has the same exit code.
inline constexpr ExitCode kDifferent = static_cast<ExitCode>(1);
// The exit code of `diff` after an error with the exit code `code`. Wrong use has the exit code 2,
// because 1 is kDifferent.
inline ExitCode TroubleOfDiff(ExitCode code) {
  return code == kUsage ? static_cast<ExitCode>(2) : code;
}

struct SummaryOptions {
  std::string order = "schema";  // of the columns of a table; or "size", the largest first
  bool schema = false;           // print the schema instead
};
// `options` must live until the command line is parsed.
void AddSummaryOptions(Command& command, SummaryOptions& options);
// cfile-dump without a subcommand: prints a summary of a file or a table.
Outcome PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output);
void AddSummaryCommand(Command& app, CommonOptions& common, Action& action);

// Returns the schema in the notation of Parquet (cfile/record_schema.h), which `cfile-import
// --schema` takes. kInvalidArgument: `input` is a single file.
absl::StatusOr<std::string> SchemaText(const Input& input, const std::string& path);

}  // namespace cfile::tools
