// Where commands write: checks of output paths, and the end of a pipe.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace cfile::tools {

// Call this before a command replaces `out` by something else than the data that it reads from
// `path`. kInvalidArgument: `out` is the same file, or is inside the directory of the table.
absl::Status CheckOutIsNotInput(const std::string& path, const std::string& out);

// Ends the process by SIGPIPE, also if the signal is ignored.
void EndByClosedPipe();

}  // namespace cfile::tools
