// cfile-dump report: one HTML page about a file or a table.
#pragma once

#include "tools/dump/dump.h"

namespace cfile::tools {

// Adds the subcommand, as the functions of tools/dump/commands.h do.
void AddReportCommand(CLI::App& app, CommonOptions& common, Action& action);

}  // namespace cfile::tools
