// The command line of cfile-import.
#pragma once

#include <optional>

#include "tools/command_line.h"
#include "tools/import/importer.h"

namespace cfile::tools {

inline constexpr std::string_view kImportTool = "cfile-import";

struct Arguments {
  ImportOptions import;
  bool json_lines = false;  // the input is no CSV
  bool progress = false;
  bool summary = true;
  bool json = false;
  bool quiet = false;  // no warnings
};

// Prints what is asked for (--help, --version) or what is wrong, and sets `exit_code`, if it
// returns nullopt.
std::optional<Arguments> ParseArguments(int argc, char** argv, ExitCode& exit_code);

}  // namespace cfile::tools
