// Functions that the command-line tools share: exit codes, error messages, validators of options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/record_schema.h"

namespace cfile::tools {

// Exit codes of all tools. kCannotRead: the data may be valid, but it exceeds a limit, or needs
// something that this build does not have.
enum ExitCode : int { kFine = 0, kUsage = 1, kDamaged = 2, kIoError = 3, kCannotRead = 4 };

// kOk -> kFine; kDataLoss -> kDamaged; kOutOfRange (a limit), kUnimplemented -> kCannotRead;
// kInvalidArgument, kFailedPrecondition -> kUsage; all other codes, such as kNotFound and
// kPermissionDenied -> kIoError.
ExitCode ExitCodeOf(const absl::Status& status);

// Returns the exit code for `status`, which a check of a file or of a table has found. Does the
// same as ExitCodeOf, except that kNotFound -> kDamaged, because a table without one of its files
// is damaged.
ExitCode ExitCodeOfFinding(const absl::Status& status);

// Returns the worse of two exit codes. kDamaged is the worst exit code. Of other exit codes, the
// larger number is worse.
ExitCode Worse(ExitCode one, ExitCode other);

// Replaces the name of a limit of the library at the end of `message` by the command-line option:
// "raise max_block_size_bytes" becomes "raise --max-block-size".
std::string WithOptionNames(std::string_view message);

// Prints "TOOL: MESSAGE" to stderr, as one line that is safe for a terminal, and returns the exit
// code of `status`. The message has the option names of WithOptionNames.
ExitCode Report(std::string_view tool, const absl::Status& status);
// Prints "TOOL: warning: MESSAGE" to stderr.
void Warn(std::string_view tool, std::string message);

// Sets max_leaves of `limits`, and max_nodes to 10 nodes per leaf.
void SetMaxLeaves(size_t max_leaves, RecordLimits& limits);

// Opens /dev/null for each standard stream that the caller has closed. Otherwise a file that the
// tool opens later could get the descriptor of standard output, and output would be written into
// this file. Call first in main.
void OpenStandardStreams();

// Raises the limit of open files to the maximum that the system allows. While a table is written or
// read, each column is an open file, and the usual limit of a shell is 1,024 files. Call in main.
void RaiseOpenFileLimit();

// "7 pages copied, 0 compressed again, 1 encoded again": the counts of a ParquetReport.
std::string PagesText(uint64_t copied, uint64_t recompressed, uint64_t recoded);

// Returns `text` as one argument of a shell command, in quotes if the shell needs quotes. Text with
// control characters other than line feeds has the form $'e\x1b', which bash, zsh and ksh read.
std::string ShellQuoted(std::string_view text);

// Prints `text` to standard output. Returns kFine, or kIoError after a message on stderr. A pipe
// that its reader has closed is not an error. Precondition: SIGPIPE is ignored.
ExitCode Print(std::string_view tool, std::string_view text);

// Formats the help of a tool. Leaves out the validators and the exclusions of options, which CLI11
// prints otherwise. On a terminal, wraps the descriptions of options and subcommands at the width
// of the terminal.
class HelpFormatter : public CLI::Formatter {
 public:
  // `column`: the number of characters before the descriptions.
  explicit HelpFormatter(size_t column) { column_width(column); }
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  std::string Wrapped(const std::string& text) const;
};

// Validators for options. NumberIn accepts a number from `min` to `max`. It rejects -1, which CLI11
// alone would accept as an unsigned number. BytesIn accepts a number of bytes in this range, with
// or without a unit ("65536", "64KiB"). Pass it to CLI::Option::transform, because it replaces the
// text by the number.
CLI::Validator NumberIn(uint64_t min, uint64_t max);
CLI::Validator BytesIn(uint64_t min, uint64_t max);

// The maximum values of the options that set limits. All tools have the same maximum values.
// kMaxBytes is for blocks and metadata.
inline constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 40;
inline constexpr uint64_t kMaxDepth = 1000;
inline constexpr uint64_t kMaxLeaves = 10'000'000;

}  // namespace cfile::tools
