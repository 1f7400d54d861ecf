// cfile-import: imports CSV, JSON, Arrow IPC or Parquet into a table.
#include <signal.h>

#include <exception>
#include <string>

#include "tools/command_line.h"
#include "tools/import/arguments.h"
#include "tools/import/arrow_importer.h"
#include "tools/import/importer.h"
#include "tools/import/input_format.h"
#include "tools/import/parquet_importer.h"
#include "tools/import/records_importer.h"
#include "tools/import/summary.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

absl::StatusOr<ImportResult> ImportAny(const ImportOptions& options, Progress& progress) {
  const absl::StatusOr<InputFormat> format = FindInputFormat(options);
  if (!format.ok()) return format.status();
  switch (*format) {
    case InputFormat::kCsv:
      return Import(options, progress);
    case InputFormat::kJson:
      return ImportRecords(options, progress);
    case InputFormat::kParquet:
#ifdef CFILE_WITH_PARQUET
      return ImportParquetFiles(options, progress);
#else
      return absl::InternalError("FindInputFormat refuses Parquet");
#endif
    case InputFormat::kArrowIpc:
      break;
  }
#ifdef CFILE_WITH_ARROW_IPC
  return ImportArrowIpc(options, progress);
#else
  return absl::InternalError("FindInputFormat refuses Arrow IPC");
#endif
}

ExitCode Run(const Arguments& arguments) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = ImportAny(arguments.import, progress);
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
                                            : SummaryText(arguments.import, *result,
                                                          arguments.report);
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
