// The subcommands of cfile-dump.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

// The number of a block, or a row of the block; one of the two is set.
struct WhichBlock {
  std::optional<uint64_t> index = {};
  std::optional<uint64_t> ordinal = {};
};
// What options of `blocks`, `hexdump` and `stats` print of the file at common.path: the bytes of a
// block, field by field; the message of the header or of the footer; the values of the dictionary.
Outcome PrintBlock(const WhichBlock& which, const CommonOptions& common, Output& output);
Outcome PrintMetadata(bool header, const CommonOptions& common, Output& output);
Outcome PrintDictionary(const CommonOptions& common, Output& output);

struct SummaryOptions {
  std::string order = "schema";  // of the columns of a table; or "size", the largest first
  bool schema = false;           // print the schema instead
};
// `options` must live until the command line is parsed.
void AddSummaryOptions(Command& command, SummaryOptions& options);
// cfile-dump without a subcommand: prints a summary of a file or a table.
Outcome PrintSummary(const SummaryOptions& options, const CommonOptions& common, Output& output);
void AddSummaryCommand(Command& app, CommonOptions& common, Action& action);

}  // namespace cfile::tools
