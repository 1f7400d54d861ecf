// What the command-line tools share: exit codes and how errors are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/record_schema.h"

namespace cfile::tools {

// Exit codes of all tools.
enum ExitCode : int { kFine = 0, kUsage = 1, kDamaged = 2, kIoError = 3, kUnsupported = 4 };

// kDataLoss -> kDamaged; kUnimplemented -> kUnsupported; kInvalidArgument, kOutOfRange,
// kFailedPrecondition -> kUsage; everything else, kNotFound and kPermissionDenied among it ->
// kIoError.
ExitCode ExitCodeOf(const absl::Status& status);

// `message`, with the options of the command line in the place of the library's limits: "raise
// --max-block-size" for "raise max_block_size_bytes".
std::string WithOptionNames(std::string_view message);

// Prints "TOOL: MESSAGE", WithOptionNames, to stderr, as one line that is safe for a terminal, and
// returns the exit code.
ExitCode Report(std::string_view tool, const absl::Status& status);
// Prints "TOOL: warning: MESSAGE" to stderr.
void Warn(std::string_view tool, std::string message);

// `limits` of a schema of up to `max_leaves` columns, with groups in proportion.
void SetMaxLeaves(size_t max_leaves, RecordLimits& limits);

// Opens /dev/null in the place of standard streams that the caller has closed, so that no file that
// the tool opens later takes their numbers and what is printed ends up in it. Call first in main.
void OpenStandardStreams();

// Each column of a table is an open file while the table is written or read; a shell's usual limit
// is 1,024 files. This takes the most that the system allows. Call in main.
void RaiseOpenFileLimit();

// Prints `text` to standard output: kFine, or kIoError with a message on stderr. A reader that has
// closed the pipe has read what it wanted: that is no error. Precondition: SIGPIPE is ignored.
ExitCode Print(std::string_view tool, std::string_view text);

// For CLI::Option::transform, because CLI11 takes -1 for an unsigned number: a number from `min` to
// `max`, and one of bytes with or without a unit ("65536", "64KiB").
CLI::Validator NumberIn(uint64_t min, uint64_t max);
CLI::Validator BytesIn(uint64_t min, uint64_t max);

// The same ranges in all tools. kMaxBytes: of blocks and of metadata.
inline constexpr uint64_t kMaxBytes = (uint64_t{1} << 31) - 1;
inline constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 40;
inline constexpr uint64_t kMaxDepth = 1000;
inline constexpr uint64_t kMaxLeaves = 10'000'000;

}  // namespace cfile::tools
