// cfile-import: makes a table of a CSV file or of JSON Lines.
#include <signal.h>

#include <cstdio>
#include <exception>

#include "tools/command_line.h"
#include "tools/import/arguments.h"
#include "tools/import/importer.h"
#include "tools/import/records_importer.h"
#include "tools/import/summary.h"

namespace cfile::tools {
namespace {

volatile sig_atomic_t caught_signal = 0;

void CancelOnSignal() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    caught_signal = signal;
    Progress::Cancel();
  };
  action.sa_flags = SA_RESETHAND;  // the second Ctrl-C ends the process at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

ExitCode Run(const Arguments& arguments) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = arguments.json_lines ? ImportRecords(arguments.import, progress)
                                  : Import(arguments.import, progress);
  }
  if (!result.ok()) return Report(kImportTool, result.status());
  if (arguments.summary) {
    const std::string text = arguments.json ? SummaryJson(arguments.import, *result)
                                            : SummaryText(arguments.import, *result);
    std::fputs(text.c_str(), stdout);
  }
  return kFine;
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  using namespace cfile::tools;
  EndQuietlyOnClosedPipe();
  try {
    ExitCode exit_code = kFine;
    const std::optional<Arguments> arguments = ParseArguments(argc, argv, exit_code);
    if (!arguments.has_value()) return exit_code;
    CancelOnSignal();
    exit_code = Run(*arguments);
    if (caught_signal != 0 && exit_code != kFine) raise(caught_signal);  // the shell wants to know
    return exit_code;
  } catch (const std::exception& error) {  // out of memory
    return Report(kImportTool, absl::ResourceExhaustedError(error.what()));
  }
}
