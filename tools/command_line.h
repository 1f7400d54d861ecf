// What the command-line tools share: exit codes and how errors are shown.
#pragma once

#include <cstddef>
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

// Prints "TOOL: MESSAGE" to stderr, as one line that is safe for a terminal, and returns the exit
// code.
ExitCode Report(std::string_view tool, const absl::Status& status);

// For CLI::Option::check: CLI11 takes -1 for an unsigned number.
std::string CheckUnsigned(const std::string& text);

// For CLI::Validator: replaces a size such as 64KiB or 1 m by its number of bytes; units are in
// powers of 1024. Returns what is wrong, or an empty string.
std::string ParseSize(std::string& text);

// `limits` of a schema of up to `max_leaves` columns, with groups in proportion.
void SetMaxLeaves(size_t max_leaves, RecordLimits& limits);

// A pipe that its reader closed (`cfile-dump ... | head`) ends the process quietly, with kFine.
// Call first in main.
void EndQuietlyOnClosedPipe();

}  // namespace cfile::tools
