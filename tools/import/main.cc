// cfile-import: imports a CSV file or JSON Lines into a table.
#include <signal.h>

#include <exception>
#include <string>

#include "tools/command_line.h"
#include "tools/import/arguments.h"
#include "tools/import/importer.h"
#include "tools/import/records_importer.h"
#include "tools/import/summary.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

ExitCode Run(const Arguments& arguments) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = arguments.json_lines ? ImportRecords(arguments.import, progress)
                                  : Import(arguments.import, progress);
  }
  if (!result.ok()) {
    const ExitCode code = Report(kImportTool, result.status());
    if (absl::IsCancelled(result.status())) EndByCaughtSignal();
    return code;
  }
  for (const std::string& warning : result->warnings) {
    if (!arguments.quiet) Warn(kImportTool, warning);
  }
  if (arguments.summary) {
    const std::string text = arguments.json ? SummaryJson(arguments.import, *result)
                                            : SummaryText(arguments.import, *result);
    return Print(kImportTool, text);
  }
  return kFine;
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  using namespace cfile::tools;
  OpenStandardStreams();
  signal(SIGPIPE, SIG_IGN);  // the import continues even if the reader of its output closes the pipe
  CancelOnSignals();
  RaiseOpenFileLimit();
  try {
    ExitCode exit_code = kFine;
    const std::optional<Arguments> arguments = ParseArguments(argc, argv, exit_code);
    if (arguments.has_value()) exit_code = Run(*arguments);
    return exit_code;
  } catch (const std::exception& error) {  // out of memory
    return Report(kImportTool, absl::ResourceExhaustedError(error.what()));
  }
}
