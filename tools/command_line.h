// Functions that the command-line tools share: exit codes and messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/options.h"

namespace cfile::tools {

// Exit codes of all tools. kCannotRead: the data may be valid, but it exceeds a limit, or needs
// something that this build does not have.
enum ExitCode : int { kFine = 0, kUsage = 1, kDamaged = 2, kIoError = 3, kCannotRead = 4 };

// kOk -> kFine; kDataLoss -> kDamaged; kOutOfRange (a limit), kUnimplemented -> kCannotRead;
// kInvalidArgument, kFailedPrecondition, kAlreadyExists (an output) -> kUsage; all other codes,
// such as kNotFound (an input, or a file of a table) and kPermissionDenied -> kIoError.
ExitCode ExitCodeOf(const absl::Status& status);

// As ExitCodeOf, for a `status` that a check of a file or of a table has found: kNotFound ->
// kDamaged, because a table without one of its files is damaged.
ExitCode ExitCodeOfFinding(const absl::Status& status);

// Returns the worse of two exit codes: kDamaged, otherwise the larger number.
ExitCode Worse(ExitCode one, ExitCode other);

// Replaces the name of a limit of the library at the end of `message` by the command-line option:
// "raise max_block_size_bytes" becomes "raise --max-block-size". Also replaces
// "ReaderOptions::stored_rows" by "--stored-rows".
std::string WithOptionNames(std::string_view message);

// Prints "TOOL: MESSAGE" to stderr, as one line that is safe for a terminal and has the names of
// WithOptionNames, and returns the exit code of `status`.
ExitCode Report(std::string_view tool, const absl::Status& status);
// Prints "TOOL: warning: MESSAGE" to stderr.
void Warn(std::string_view tool, std::string message);

// Prints "TOOL: MESSAGE" to stderr, then a line that points to the help of `command`, such as
// "cfile-dump rows". The message may have several lines. Returns kUsage.
ExitCode Misuse(std::string_view tool, std::string_view command, std::string_view message);

// Sets max_leaves of `limits`, and max_nodes to 10 nodes per leaf.
void SetMaxLeaves(size_t max_leaves, RecordLimits& limits);

// Calls `run`, the whole work of a tool, and returns its exit code. An exception, which stands for
// a lack of memory, is an error. Before, makes sure that
// - the standard streams are open: otherwise a file that the tool opens later could get the
//   descriptor of standard output, and output would be written into this file;
// - as many files may be open as the system allows: each column of a table that is written or read
//   is an open file, and the usual limit of a shell is 1,024 files.
int RunTool(std::string_view tool, const std::function<ExitCode()>& run);

// "7 pages copied, 0 compressed again, 1 encoded again": the counts of a ParquetReport.
std::string PagesText(uint64_t copied, uint64_t recompressed, uint64_t recoded);

// Returns `text` as one argument of a shell command, in quotes if the shell needs quotes. Text with
// control characters other than line feeds has the form $'e\x1b', which bash, zsh and ksh read.
std::string ShellQuoted(std::string_view text);

}  // namespace cfile::tools
