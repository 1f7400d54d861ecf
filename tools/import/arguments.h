// The command line of cfile-import.
#pragma once

#include <optional>

#include "tools/command_line.h"
#include "tools/import/importer.h"
#include "tools/output.h"

namespace cfile::tools {

inline constexpr std::string_view kImportTool = "cfile-import";

struct Arguments {
  ImportOptions import;
  bool progress = false;
  bool summary = true;
  bool json = false;
  bool report = false;  // the summary counts the pages of Parquet
  bool why = false;     // the summary says why columns have their encodings
  bool quiet = false;   // no warnings
};

// Parses the command line. nullopt: there is nothing to import, because of --help, --version or an
// error. The text or the error has then been printed, and `exit_code` is set.
std::optional<Arguments> ParseArguments(int argc, char** argv, Output& output, ExitCode& exit_code);

}  // namespace cfile::tools
