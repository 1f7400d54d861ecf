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

// `message`, with the options of the command line in the place of the library's limits: "raise
// --max-block-size" for "raise max_block_size_bytes".
std::string WithOptionNames(std::string_view message);

// Prints "TOOL: MESSAGE", WithOptionNames, to stderr and returns the exit code.
ExitCode Report(std::string_view tool, const absl::Status& status);

// `limits` of a schema of up to `max_leaves` columns, with groups in proportion.
void SetMaxLeaves(size_t max_leaves, RecordLimits& limits);

// A pipe that its reader closed (`cfile-dump ... | head`) ends the process quietly, with kFine.
// Call first in main.
void EndQuietlyOnClosedPipe();

}  // namespace cfile::tools
