// cfile-import: imports CSV, JSON, Arrow IPC or Parquet into a table.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "cfile/status.h"
#include "tools/command_line.h"
#include "tools/import/appending.h"
#include "tools/import/arguments.h"
#include "tools/import/arrow_importer.h"
#include "tools/import/importer.h"
#include "tools/import/input_format.h"
#include "tools/import/parquet_importer.h"
#include "tools/import/records_importer.h"
#include "tools/import/summary.h"
#include "tools/input/input_file.h"
#include "tools/location.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

bool IsText(InputFormat format) {
  return format == InputFormat::kCsv || format == InputFormat::kJson;
}

absl::StatusOr<ImportResult> ImportWith(InputFormat format, const ImportOptions& options,
                                        const InputFile& file, Progress& progress) {
  switch (format) {
    case InputFormat::kCsv:
      return Import(options, file, progress);
    case InputFormat::kJson:
      return ImportRecords(options, file, progress);
    case InputFormat::kParquet:
#ifdef CFILE_WITH_PARQUET
      return ImportParquetFiles(options, file, progress);
#else
      return absl::InternalError("FindInputFormat refuses Parquet");
#endif
    case InputFormat::kArrowIpc:
      break;
  }
#ifdef CFILE_WITH_ARROW_IPC
  return ImportArrowIpc(options, file, progress);
#else
  return absl::InternalError("FindInputFormat refuses Arrow IPC");
#endif
}

absl::StatusOr<ImportResult> ImportAs(InputFormat format, const ImportOptions& options,
                                      const InputFile& file, Progress& progress) {
  const auto import = [&](const ImportOptions& chosen) {
    return ImportWith(format, chosen, file, progress);
  };
  return options.append ? AppendInput(options, IsText(format), import) : import(options);
}

// The directory for temporary files: TMPDIR, or the directory that has, or gets, the table.
std::string SpoolDirectory(const std::string& table) {
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  if (IsUrl(table)) return "/tmp";
  const std::filesystem::path parent = (std::filesystem::path(table) / ".").parent_path();
  return parent.parent_path().empty() ? "." : parent.parent_path().string();
}

// The bytes of all files of a table; 0 if they cannot be listed.
uint64_t BytesOf(const TableLocation& table) {
  uint64_t bytes = 0;
  const auto files = table.storage()->List("");
  if (!files.ok()) return 0;
  for (const StorageEntry& file : *files) bytes += file.size_bytes;
  return bytes;
}

absl::StatusOr<ImportResult> ImportFile(ImportOptions options, Progress& progress) {
  CFILE_ASSIGN_OR_RETURN(options.table, TableAt(options.output));
  options.temporary_directory =
      IsUrl(options.output) ? SpoolDirectory(options.output) : options.output;
  CFILE_RETURN_IF_ERROR(CheckOutput(options));
  std::error_code error;
  const uint64_t bytes_before = options.append ? BytesOf(options.table) : 0;
  if (std::filesystem::is_directory(options.input, error)) {
    CFILE_ASSIGN_OR_RETURN(ImportResult result,
                           ImportAs(InputFormat::kParquet, options, {}, progress));
    result.table_bytes = std::max(BytesOf(options.table), bytes_before) - bytes_before;
    return result;
  }
  progress.Begin("reading", 0);
  CFILE_ASSIGN_OR_RETURN(
      const InputFile file,
      OpenInputFile({.path = options.input,
                     .charset = options.charset,
                     .max_bytes = options.max_input_bytes,
                     .spool_directory = SpoolDirectory(options.output),
                     .map = !HasJsonName(options.input),
                     .progress = [&](uint64_t bytes) { return progress.Update(bytes, 0); }}));
  CFILE_ASSIGN_OR_RETURN(const InputFormat format, FindInputFormat(options, *file.source));
  if (!IsText(format) && !file.charset.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--charset is for text; ", file.source->name(), " is not text"));
  }
  CFILE_ASSIGN_OR_RETURN(ImportResult result, ImportAs(format, options, file, progress));
  result.table_bytes = std::max(BytesOf(options.table), bytes_before) - bytes_before;
  result.stored_bytes = file.stored_bytes;
  result.packing = file.packing;
  result.charset = file.charset;
  return result;
}

ExitCode Run(const Arguments& arguments) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = ImportFile(arguments.import, progress);
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
    const std::string text = arguments.json
                                 ? SummaryJson(arguments.import, *result)
                                 : SummaryText(arguments.import, *result, arguments.report);
    return Print(kImportTool, text);
  }
  return kFine;
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  using namespace cfile::tools;
  OpenStandardStreams();
  signal(SIGPIPE,
         SIG_IGN);  // the import continues even if the reader of its output closes the pipe
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
