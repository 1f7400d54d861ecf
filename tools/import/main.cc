// cfile-import: imports a CSV file or JSON Lines into a table.
#include <signal.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "cfile/status.h"
#include "tools/command_line.h"
#include "tools/import/arguments.h"
#include "tools/import/importer.h"
#include "tools/import/records_importer.h"
#include "tools/import/summary.h"
#include "tools/input/input_file.h"

namespace cfile::tools {
namespace {

volatile sig_atomic_t caught_signal = 0;

void SetUpSignals() {
  // The import continues even if the reader of its output closes the pipe.
  signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    caught_signal = signal;
    Progress::Cancel();
  };
  // The handler stays installed: a terminal that is closed may send SIGHUP twice, and the second
  // one must not end the process before it has removed its files. Ctrl-\ (SIGQUIT) still ends the
  // process at once.
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, or a job in the background
    sigaction(signal, &action, nullptr);
  }
}

// The directory for temporary files: TMPDIR, or the directory that has, or gets, the table.
std::string SpoolDirectory(const std::string& table) {
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const std::filesystem::path parent = (std::filesystem::path(table) / ".").parent_path();
  return parent.parent_path().empty() ? "." : parent.parent_path().string();
}

absl::StatusOr<ImportResult> ImportFile(const Arguments& arguments, Progress& progress) {
  const ImportOptions& options = arguments.import;
  if (!options.append) {
    CFILE_RETURN_IF_ERROR(CheckOutputIsFree(options.output));
  }
  progress.Begin("reading", 0);
  CFILE_ASSIGN_OR_RETURN(
      const InputFile file,
      OpenInputFile({.path = options.input,
                     .charset = options.charset,
                     .max_bytes = options.max_input_bytes,
                     .spool_directory = SpoolDirectory(options.output),
                     .map = !arguments.json_lines,
                     .progress = [&](uint64_t bytes) { return progress.Update(bytes, 0); }}));
  CFILE_ASSIGN_OR_RETURN(ImportResult result, arguments.json_lines
                                                  ? ImportRecords(options, file, progress)
                                                  : Import(options, file, progress));
  result.stored_bytes = file.stored_bytes;
  result.packing = file.packing;
  result.charset = file.charset;
  return result;
}

ExitCode Run(const Arguments& arguments) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = ImportFile(arguments, progress);
  }
  if (!result.ok()) {
    const ExitCode code = Report(kImportTool, result.status());
    if (absl::IsCancelled(result.status())) {
      signal(caught_signal, SIG_DFL);
      raise(caught_signal);  // so that the shell sees what ended the process
    }
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
  SetUpSignals();
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
