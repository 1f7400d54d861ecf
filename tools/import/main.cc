// cfile-import: imports CSV, JSON, Arrow IPC or Parquet into a table.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#ifdef CFILE_WITH_ARROW_IPC
#include "cfile/arrow_ipc.h"
#endif
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "tools/command_line.h"
#include "tools/file_format.h"
#include "tools/import/column_options.h"
#include "tools/import/columnar_importer.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"
#include "tools/import/importer.h"
#include "tools/import/records_importer.h"
#include "tools/input/input_file.h"
#include "tools/location.h"
#include "tools/progress.h"
#include "tools/temporary_folder.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

bool IsNumber(const ColumnType& type) {
  return type == ColumnType{.data_type = type.data_type} &&
         (type.data_type <= DataType::kInt64 || type == ColumnType::Float() ||
          type == ColumnType::Double());
}

constexpr char kNestedTable[] =
    "the columns of nested records cannot change: import all inputs into a new table";

using ImportFunction = absl::FunctionRef<absl::StatusOr<ImportResult>(const ImportOptions&)>;

absl::StatusOr<ImportResult> Evolve(const ImportOptions& options, bool is_text,
                                    ImportFunction import) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTableOf(options));
  const Schema& schema = table.schema();
  if (!IsFlat(schema)) return absl::UnimplementedError(StrCat(options.output, ": ", kNestedTable));
  CFILE_ASSIGN_OR_RETURN(const TemporaryFolder folder,
                         TemporaryFolder::Create(options.temporary_directory));
  ImportOptions rows = options;
  rows.append = false;
  rows.output = folder.Path("rows");
  rows.table = TableLocation(rows.output);
  rows.temporary_directory = rows.output;
  CFILE_ASSIGN_OR_RETURN(rows.sorted_by, OrderOfTable(options, table));
  rows.nulls_last = schema.key_columns.empty() || !schema.nulls_last.empty();
  for (const ColumnSchema& column : schema.columns) {
    if (is_text && !IsNumber(column.type))
      rows.types.try_emplace(column.name, TextType{.type = column.type});
  }
  CFILE_ASSIGN_OR_RETURN(ImportResult result, import(rows));
  CFILE_ASSIGN_OR_RETURN(const TableReader imported, OpenTableOf(rows));
  if (!IsFlat(imported.schema())) {
    return absl::UnimplementedError(
        StrCat(options.input, ": nested columns cannot be added; --columns leaves them out",
               is_text ? ", --type COLUMN=json keeps their text" : ""));
  }
  CFILE_ASSIGN_OR_RETURN(result.warnings,
                         AppendTable(options.table, imported, [&](const ColumnSchema& column) {
                           return OptionsOfColumn(options, column.name, /*value_index=*/false);
                         }));
  return result;
}

// Returns the advice to the user whose rows the table refuses with `error`.
absl::StatusOr<std::string_view> HowToFit(const ImportOptions& options, std::string_view error,
                                          ImportFunction import) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTableOf(options));
  if (!IsFlat(table.schema())) return kNestedTable;
  if (error.ends_with(", an object") || error.ends_with(", an array"))
    return "--evolve with --type COLUMN=json makes a column of its text";
  ImportOptions naming = options;
  naming.append = false;
  naming.names_only = true;
  CFILE_ASSIGN_OR_RETURN(const ImportResult input, import(naming));
  return input.records ? "nested columns cannot be added: --evolve with --columns leaves them out"
                       : "--evolve changes the columns of the table so that the rows fit";
}

// Calls import(options). With --evolve, if the rows do not fit the columns of the table: imports
// the input into a temporary table, and appends this one with AppendTable (cfile/table_columns.h).
// `is_text`: values of the input have no types, so they get the types of the table, except
// integers, float and double, which may need a wider type. Without --evolve, the error says if this
// option helps.
absl::StatusOr<ImportResult> AppendInput(const ImportOptions& options, bool is_text,
                                         ImportFunction import) {
  // A plain append would skip rows that do not fit.
  if (options.evolve && options.skip_bad_rows > 0) return Evolve(options, is_text, import);
  absl::StatusOr<ImportResult> result = import(options);
  if (!absl::IsInvalidArgument(result.status())) return result;
  if (options.evolve) return Evolve(options, is_text, import);
  if (!IsUnfitRows(result.status())) return result;
  const std::string error(result.status().message());
  const auto advice = HowToFit(options, error, import);
  return advice.ok() ? absl::InvalidArgumentError(StrCat(error, "; ", *advice)) : result;
}

enum class InputFormat : uint8_t { kCsv, kJson, kArrowIpc, kParquet };

// Enough for the blanks before the first key of pretty-printed JSON.
constexpr uint64_t kHeadBytes = 4096;

// True if a file with this name is JSON, perhaps with .gz or .zst at its end.
bool HasJsonName(std::string_view path) { return HasJsonExtension(WithoutPackingSuffix(path)); }

// `source`: the input, decompressed. Arrow IPC and Parquet are recognised by their content. JSON
// has one of the names .jsonl, .ndjson and .json, or begins like a record or an array of records: {
// or [{ and then a " (with --schema also {, [ or nothing). All other input is CSV.
// kInvalidArgument: the input is a Feather file of version 1. Other errors are those of reading.
absl::StatusOr<InputFormat> FindInputFormat(const ImportOptions& options, const Source& source) {
  CFILE_ASSIGN_OR_RETURN(const std::string head,
                         ReadBytes(source, 0, std::min(kHeadBytes, source.size())));
  const uint64_t tail_size = std::min<uint64_t>(4, source.size());
  CFILE_ASSIGN_OR_RETURN(const std::string tail,
                         ReadBytes(source, source.size() - tail_size, tail_size));
  if (IsParquet(head, tail)) return InputFormat::kParquet;
#ifdef CFILE_WITH_ARROW_IPC
  CFILE_ASSIGN_OR_RETURN(const ArrowIpcFormat format, RecognizeArrowIpc(source));
  const bool is_arrow = format != ArrowIpcFormat::kNone;
#else
  const bool is_arrow = head.starts_with("ARROW1") || head.starts_with("\xff\xff\xff\xff");
#endif
  if (is_arrow) return InputFormat::kArrowIpc;
  // With a schema, brackets are enough.
  const size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool brackets = first == std::string::npos || head[first] == '{' || head[first] == '[';
  const bool is_json = HasJsonName(options.input) || BeginsLikeJson(head) ||
                       (!options.schema_path.empty() && brackets);
  return is_json ? InputFormat::kJson : InputFormat::kCsv;
}

bool IsText(InputFormat format) {
  return format == InputFormat::kCsv || format == InputFormat::kJson;
}

// Takes the types of the columns of CSV, and the merge rule, from --schema; those of --type come
// first.
absl::Status TakeTypes(ImportOptions& options) {
  if (options.schema_path.empty()) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const RecordSchema schema, ReadSchema(options));
  for (const size_t leaf : schema.leaves()) {
    const RecordNode& node = schema.nodes()[leaf];
    if (node.parent != 0 || node.repetition == Repetition::kRepeated) {
      return absl::InvalidArgumentError(StrCat(options.schema_path, ": ", schema.Path(leaf),
                                               " is nested, but ", options.input, " is CSV"));
    }
    if (!options.columns.empty() &&
        std::ranges::find(options.columns, node.name) == options.columns.end())
      continue;
    const TextType type{
        .type = node.type, .decimal_comma = options.dialect.decimal_comma, .option = "--schema"};
    options.types.try_emplace(node.name, type);
    if (node.repetition == Repetition::kRequired) options.not_null.insert(node.name);
  }
  return absl::OkStatus();
}

absl::StatusOr<ImportResult> ImportWith(InputFormat format, ImportOptions options,
                                        const InputFile& file, const TextParts& parts,
                                        Progress& progress) {
  [[maybe_unused]] const auto lacks = [&](const char* name) {
    return absl::UnimplementedError(
        StrCat(options.input, ": this is ", name, ", which was not built into this program"));
  };
  switch (format) {
    case InputFormat::kCsv:
      CFILE_RETURN_IF_ERROR(TakeTypes(options));
      return Import(options, file, parts, progress);
    case InputFormat::kJson:
      return ImportRecords(options, file, progress);
    case InputFormat::kParquet:
#ifdef CFILE_WITH_PARQUET
      return ImportParquetFiles(options, file, progress);
#else
      return lacks("Parquet");
#endif
    default:
#ifdef CFILE_WITH_ARROW_IPC
      return ImportArrowIpc(options, file, progress);
#else
      return lacks("Arrow IPC");
#endif
  }
}

absl::StatusOr<ImportResult> ImportAs(InputFormat format, const ImportOptions& options,
                                      const InputFile& file, const TextParts& parts,
                                      Progress& progress) {
  const auto import = [&](const ImportOptions& chosen) {
    return ImportWith(format, chosen, file, parts, progress);
  };
  const auto start = std::chrono::steady_clock::now();
  auto result = options.append ? AppendInput(options, IsText(format), import) : import(options);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (result.ok()) result->seconds = time.count();
  return result;
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

// How many bytes at the beginning of a text of CSV are the first line.
size_t HeaderSize(const ImportOptions& options, std::string_view text) {
  CsvReader reader("", text, options.dialect);
  while (reader.offset() < text.size() &&
         (text[reader.offset()] == '\n' || text[reader.offset()] == '\r'))
    reader.SeekToRange(reader.offset() + 1, reader.size());
  return reader.offset() == text.size() ? text.size() : reader.RecordEnd(reader.offset(), 0);
}

// Reads several files as one, and sets `format` to the format that all of them have.
absl::StatusOr<JoinedFiles> OpenSeveral(const std::vector<std::string>& paths,
                                        const ImportOptions& options,
                                        const InputFileOptions& reading, InputFormat& format) {
  std::string first;
  return JoinFiles(
      paths, reading, [&](const InputFile& file, std::string_view text) -> absl::StatusOr<size_t> {
        ImportOptions named = options;
        named.input = file.source->name();
        CFILE_ASSIGN_OR_RETURN(const InputFormat found, FindInputFormat(named, *file.source));
        if (first.empty()) format = found;
        if (!IsText(found)) {
          return absl::InvalidArgumentError(
              StrCat(named.input,
                     ": several files of Parquet or Arrow IPC must be local and not compressed"));
        }
        if (found != format) {
          return absl::InvalidArgumentError(
              StrCat(named.input, ": files that are imported together have one format, that of ",
                     paths[0]));
        }
        first = named.input;
        const bool has_header = found == InputFormat::kCsv && options.header != Header::kNo;
        return has_header ? HeaderSize(options, text) : 0;
      });
}

// The format of several files, or of a directory, that are not text; nullopt: they are text, or one
// file.
absl::StatusOr<std::optional<InputFormat>> FindCommonFormat(const ImportOptions& options,
                                                            const std::vector<std::string>& files) {
  std::error_code error;
  if (options.inputs.size() == 1 && files[0] == options.input) return std::nullopt;
  if (!std::filesystem::is_regular_file(files[0], error)) return std::nullopt;
  CFILE_ASSIGN_OR_RETURN(const auto source, OpenPreadSource(files[0]));
  CFILE_ASSIGN_OR_RETURN(const InputFormat format, FindInputFormat(options, *source));
  if (IsText(format)) return std::nullopt;
  return format;
}

// Returns the names of the columns of a file. Reads at most 1 MiB of CSV or JSON.
absl::StatusOr<std::vector<std::string>> NamesIn(ImportOptions options, const std::string& path,
                                                 Progress& progress) {
  const std::filesystem::path folders =
      std::filesystem::path(path).lexically_relative(options.input).parent_path();
  options.input = path;
  CFILE_ASSIGN_OR_RETURN(const InputFile file,
                         OpenInputFile({.path = path,
                                        .max_bytes = 1 << 20,
                                        .cut = true,
                                        .spool_directory = SpoolDirectory(options.output),
                                        .map = true,
                                        .progress = [](uint64_t) { return absl::OkStatus(); }}));
  CFILE_ASSIGN_OR_RETURN(const InputFormat format, FindInputFormat(options, *file.source));
  CFILE_ASSIGN_OR_RETURN(ImportResult found, ImportWith(format, options, file, nullptr, progress));
  for (const std::string folder : folders) {
    if (const size_t end = folder.find('='); end != folder.npos && format == InputFormat::kParquet)
      found.names.push_back(folder.substr(0, end));
  }
  return found.names;
}

// Returns the names of the columns of the first 1,000 files, each once, except of files that it
// cannot read.
ImportResult FindNames(const ImportOptions& options, std::vector<std::string> files,
                       Progress& progress) {
  ImportResult found;
  std::set<std::string> known;
  files.resize(std::min<size_t>(files.size(), 1000));
  for (const std::string& path : files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;  // a pipe would be waited for
    const auto names = NamesIn(options, path, progress);
    if (!names.ok()) continue;
    for (const std::string& name : *names)
      if (known.insert(name).second) found.names.push_back(name);
  }
  return found;
}

absl::StatusOr<ImportResult> ImportFile(ImportOptions options, Progress& progress) {
  CFILE_ASSIGN_OR_RETURN(options.table, TableAt(options.output));
  options.temporary_directory =
      IsUrl(options.output) ? SpoolDirectory(options.output) : options.output;
  if (options.append && !IsUrl(options.output) && !std::filesystem::exists(options.output)) {
    return absl::NotFoundError(
        StrCat("there is no table ", options.output, " yet: leave out --append to make it"));
  }
  if (!options.names_only) CFILE_RETURN_IF_ERROR(CheckOutput(options));
  const uint64_t bytes_before = options.append ? BytesOf(options.table) : 0;
  CFILE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FindFiles(options.inputs));
  if (options.names_only) return FindNames(options, files, progress);
  CFILE_ASSIGN_OR_RETURN(const auto common_format, FindCommonFormat(options, files));
  InputFormat format = common_format.value_or(InputFormat::kCsv);
  TextParts parts;
  InputFile file;
  if (common_format) {
    std::error_code error;
    const bool partitioned = format == InputFormat::kParquet && options.inputs.size() == 1 &&
                             std::filesystem::is_directory(options.input, error);
    if (!partitioned) options.files = files;
  } else {
    options.input = files[0];
    progress.Begin("reading", 0);
    const InputFileOptions reading{
        .path = options.input,
        .charset = options.charset,
        .max_bytes = options.max_input_bytes,
        .spool_directory = SpoolDirectory(options.output),
        .map = !HasJsonName(options.input),
        .progress = [&](uint64_t bytes) { return progress.Update(bytes, 0); }};
    if (files.size() > 1) {
      CFILE_ASSIGN_OR_RETURN(JoinedFiles joined, OpenSeveral(files, options, reading, format));
      file = std::move(joined.file);
      parts = std::move(joined.parts);
    } else {
      CFILE_ASSIGN_OR_RETURN(file, OpenInputFile(reading));
      CFILE_ASSIGN_OR_RETURN(format, FindInputFormat(options, *file.source));
    }
  }
  if (!IsText(format) && !file.charset.empty()) {
    return absl::InvalidArgumentError(
        StrCat("--charset is for text; ", file.source->name(), " is not text"));
  }
  CFILE_ASSIGN_OR_RETURN(ImportResult result, ImportAs(format, options, file, parts, progress));
  result.table_bytes = std::max(BytesOf(options.table), bytes_before) - bytes_before;
  result.stored_bytes = file.stored_bytes;
  result.packing = file.packing;
  result.charset = file.charset;
  return result;
}

// The input was cut while it was read, so that a page of its mapping has no bytes.
volatile sig_atomic_t input_was_cut = 0;
uintptr_t page_bytes = 0;

// Without this, SIGBUS would kill the process, which would leave files behind. The page gets zeros,
// and the import ends soon.
void CancelOnCutInput() {
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    void* const page =
        static_cast<char*>(info->si_addr) - reinterpret_cast<uintptr_t>(info->si_addr) % page_bytes;
    if (mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      _exit(kIoError);
    input_was_cut = 1;
    Progress::Cancel();
  };
  sigaction(SIGBUS, &action, nullptr);
}

// Names the option with which an input with this error can be imported. "" if there is no such
// option, or if the user gave it already.
std::string_view Hint(const ImportOptions& options, std::string_view error) {
  const auto has = [error](std::string_view part) { return error.find(part) != error.npos; };
  const auto digit = [error](size_t at) {
    return at < error.size() && std::isdigit(static_cast<unsigned char>(error[at])) != 0;
  };
  if (options.skip_bad_rows == 0 && has("as in the header, but found")) {
    return options.dialect.pad
               ? "; --skip-bad-rows N skips such rows"
               : "; --pad takes rows with too few fields, --skip-bad-rows N skips wrong rows";
  }
  const size_t comma = error.find(',');
  if (!options.dialect.decimal_comma && has(": expected a number") && comma != 0 &&
      digit(comma - 1) && digit(comma + 1))
    return "; --decimal-comma reads numbers such as 1.234,5";
  if (options.at.empty() && has(":1: invalid JSON: an object or an array does not end"))
    return "; --at PATH reads the array at this path of one JSON text";
  if (options.append && has(": string expected, found an"))
    return "; --type COLUMN=json keeps the text of objects and arrays";
  if (options.skip_bad_rows == 0 &&
      (has(": invalid JSON: ") || has(": a record must be an object")))
    return "; --skip-bad-rows N skips such records";
  return "";
}

Outcome Run(const Arguments& arguments, Output& output) {
  absl::StatusOr<ImportResult> result = absl::UnknownError("");
  {
    Progress progress(arguments.progress);
    result = ImportFile(arguments.import, progress);
  }
  if (input_was_cut != 0) {
    return absl::UnavailableError(
        StrCat(arguments.import.input, ": the file was cut while it was read"));
  }
  if (!result.ok()) {
    const absl::Status& error = result.status();
    return absl::Status(error.code(),
                        StrCat(error.message(), Hint(arguments.import, error.ToString())));
  }
  if (arguments.import.names_only) {
    for (const std::string& name : result->names) output.text += TerminalSafe(name) + "\n";
    return kFine;
  }
  for (const std::string& warning : result->warnings) {
    if (!arguments.quiet) Warn(kImportTool, warning);
  }
  if (arguments.summary) {
    Summary(arguments.import, *result, arguments.json, arguments.report, arguments.why)
        .PrintTo(output);
  }
  return kFine;
}

}  // namespace
}  // namespace cfile::tools

int main(int argc, char** argv) {
  using namespace cfile::tools;
  CancelOnSignals();
  CancelOnCutInput();
  return RunTool(kImportTool, [&] {
    Output output(kImportTool);
    output.IgnoreClosedPipe();  // the import goes on even if nobody reads its output
    ExitCode exit_code = kFine;
    const std::optional<Arguments> arguments = ParseArguments(argc, argv, output, exit_code);
    return arguments ? output.Finish(Run(*arguments, output)) : exit_code;
  });
}
