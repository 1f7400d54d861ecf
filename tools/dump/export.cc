// cfile-dump export: writes a table or a file in another format.
#include "tools/dump/export.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/dump/commands.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

constexpr size_t kMaxThreads = 256;

struct Format {
  std::string_view name;
  std::array<std::string_view, 2> extensions;  // of files, with the dot
  ExportFunction* write;
  bool is_text = true;      // may be written to a terminal
  bool has_fields = false;  // obeys --delimiter, --no-header and --print-import-options
  bool has_pages = false;   // obeys --compression, --row-group-rows, --page-version and --report
};

constexpr Format kFormats[] = {
    {.name = "csv", .extensions = {".csv", ".CSV"}, .write = ExportCsv, .has_fields = true},
    {.name = "tsv", .extensions = {".tsv", ".tab"}, .write = ExportTsv, .has_fields = true},
    {.name = "jsonl", .extensions = {".jsonl", ".ndjson"}, .write = ExportJsonLines},
#ifdef CFILE_WITH_PARQUET
    {.name = "parquet",
     .extensions = {".parquet", ".parq"},
     .write = ExportToParquet,
     .is_text = false,
     .has_pages = true},
#endif
};

struct CommandLine {
  std::string out = "-";
  std::string to;
  std::string delimiter;
  bool no_header = false;
  bool print_import_options = false;
  std::string compression = "auto";
  std::optional<uint64_t> row_group_rows;
  std::optional<uint64_t> page_version;
  bool report = false;
  ExportOptions options;
};

std::string FormatNames() {
  std::string names;
  for (const Format& format : kFormats) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(format.name));
  }
  return names;
}

// The format that --to names, or that the name of the file shows. Standard output is CSV by default.
absl::StatusOr<Format> ChooseFormat(const CommandLine& line) {
  for (const Format& format : kFormats) {
    if (line.to == format.name) return format;
    if (!line.to.empty()) continue;
    if (line.out == "-") return format;
    for (const std::string_view extension : format.extensions) {
      if (line.out.ends_with(extension)) return format;
    }
  }
  if (!line.to.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--to ", line.to, ": expected one of ", FormatNames()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the name of ", line.out, " does not show the format: add --to, with one of ",
                   FormatNames()));
}

// kInvalidArgument: the character would have to be quoted in numbers, dates and other values.
absl::StatusOr<char> ParseDelimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  constexpr std::string_view kDelimiters = " !#$%&'()*,/;<=>?[\\]^`{|}~\t";
  if (text.size() == 1 && kDelimiters.find(text[0]) != std::string_view::npos) return text[0];
  return absl::InvalidArgumentError(
      absl::StrCat("--delimiter '", text,
                   "': expected tab, or one ASCII character that is not a letter, a digit, "
                   "a quote or one of + - . : @ _"));
}

class StandardOutput final : public Sink {
 public:
  const std::string& name() const override { return name_; }

  absl::Status Append(std::span<const uint8_t> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (count >= 0) {
        bytes = bytes.subspan(static_cast<size_t>(count));
      } else if (errno == EPIPE) {
        EndByClosedPipe();  // the signal has not ended the process, because it is ignored
      } else if (errno != EINTR) {
        return absl::UnavailableError(
            absl::StrCat("cannot write to standard output: ", std::strerror(errno)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  const std::string name_ = "standard output";
};

// The options with which cfile-import gives the columns their names and types again.
absl::StatusOr<std::string> ImportOptions(const Input& input, const ExportOptions& options) {
  const auto selection = SelectRows(input, options.choice);
  if (!selection.ok()) return selection.status();
  std::string text = absl::StrCat("--header ", options.header ? "yes" : "no");
  // Without the option, cfile-import guesses the delimiter, and may take a character in the name of
  // a column for the delimiter.
  const char delimiter = options.delimiter == '\0' ? ',' : options.delimiter;
  absl::StrAppend(&text, " --delimiter ", delimiter == '\t' ? "tab" : ShellQuoted({&delimiter, 1}));
  for (size_t i = 0; i < selection->columns.size(); ++i) {
    const ColumnSchema& column = selection->columns[i];
    const std::string name = options.header ? column.name : absl::StrCat("column_", i + 1);
    absl::StrAppend(&text, " --type ", ShellQuoted(name + "=" + column.type.ToString()));
  }
  return text + "\n";
}

// kInvalidArgument, with the names of the formats that obey it: an option is not for this format.
absl::Status CheckOptions(const Format& format, const CommandLine& line) {
  struct Option {
    std::string_view name;
    bool given;
    bool obeyed;
    std::string_view formats;
  };
  constexpr std::string_view kText = "csv and tsv", kParquet = "parquet";
  const Option options[] = {
      {"--delimiter", !line.delimiter.empty(), format.has_fields, kText},
      {"--no-header", line.no_header, format.has_fields, kText},
      {"--print-import-options", line.print_import_options, format.has_fields, kText},
      {"--compression", line.compression != "auto", format.has_pages, kParquet},
      {"--row-group-rows", line.row_group_rows.has_value(), format.has_pages, kParquet},
      {"--page-version", line.page_version.has_value(), format.has_pages, kParquet},
      {"--report", line.report, format.has_pages, kParquet}};
  for (const Option& option : options) {
    if (!option.given || option.obeyed) continue;
    return absl::InvalidArgumentError(
        StrCat(option.name, " is for ", option.formats, ", but the format is ", format.name));
  }
  return absl::OkStatus();
}

// Sets the options of `line.options` from their texts.
absl::Status ReadOptions(CommandLine& line) {
  if (!line.delimiter.empty()) {
    CFILE_ASSIGN_OR_RETURN(line.options.delimiter, ParseDelimiter(line.delimiter));
  }
  line.options.header = !line.no_header;
  ParquetExportOptions& parquet = line.options.parquet;
  CFILE_ASSIGN_OR_RETURN(parquet.compression, ParseCompression(line.compression));
  parquet.max_row_group_rows = line.row_group_rows.value_or(parquet.max_row_group_rows);
  parquet.data_page_v2 = line.page_version.value_or(2) == 2;
  return absl::OkStatus();
}

absl::Status Export(const Format& format, const CommandLine& line, const CommonOptions& common,
                    const Input& input) {
  const bool to_file = line.out != "-";
  if (!to_file && !format.is_text && isatty(STDOUT_FILENO) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(format.name), " is not for a terminal: name a file to write"));
  }
  std::unique_ptr<Sink> sink;
  if (to_file) {
    CFILE_RETURN_IF_ERROR(CheckOutIsNotInput(common.path, line.out));
    CancelOnSignals();  // so that the temporary file is removed
    auto file = CreateFileAt(line.out);
    if (!file.ok()) return file.status();
    sink = *std::move(file);
  } else {
    sink = std::make_unique<StandardOutput>();
  }
  Progress progress(isatty(STDERR_FILENO) != 0 && (to_file || isatty(STDOUT_FILENO) == 0));
  progress.Begin("exporting", input.num_rows(), Progress::Unit::kRows);
  return format.write(input, common, line.options, std::move(sink), progress);
}

ExitCode RunExport(CommandLine line, const CommonOptions& common, Output& output) {
  const auto format = ChooseFormat(line);
  if (!format.ok()) return output.Fail(format.status());
  absl::Status status = CheckOptions(*format, line);
  status.Update(ReadOptions(line));
  if (!status.ok()) return output.Fail(status);
  std::string report;
  if (line.report) line.options.report = &report;
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  if (line.print_import_options) {
    if (format->name == "tsv" && line.options.delimiter == '\0') line.options.delimiter = '\t';
    const auto text = ImportOptions(*input, line.options);
    if (!text.ok()) return output.Fail(text.status());
    output.text += *text;
    return output.Finish(kFine);
  }
  status = Export(*format, line, common, *input);
  if (status.ok()) {
    if (line.out == "-") {
      std::fputs(report.c_str(), stderr);  // standard output has the file
      return kFine;
    }
    output.text += report;
    return output.Finish(kFine);
  }
  const ExitCode code = output.Fail(status);
  if (absl::IsCancelled(status)) EndByCaughtSignal();
  return code;
}

}  // namespace

void AddExportCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommandWithoutJson(
      app, common, "export", "Write a table or a file as CSV, TSV, JSON Lines or Parquet",
      "CSV is as in RFC 4180, in UTF-8, with LF at the ends of lines: a null is an empty field, "
      "and\n"
      "\"\" is the empty string. Fields with delimiters, quotes or line breaks are quoted. Values "
      "have\n"
      "the form that cfile-import reads: 2013-01-31T10:00:00Z, true, nan, inf; binary values are\n"
      "hexadecimal. Floats have all digits that are needed to read the same value again, and a\n"
      "point or an exponent: 1.0. TSV is the same with tabs instead of commas.\n"
      "JSON Lines has an object for each row, nested like the schema of the table. Nulls are left\n"
      "out; cfile-dump records explains the other forms.\n"
      "Parquet gets the blocks of the table as pages, which are not encoded again if possible. It\n"
      "gets all rows: --where is an error. The columns keep the order of the table. Key-value\n"
      "metadata and annotations of an imported Parquet file are written again, as far as they are\n"
      "true for the columns.\n\n"
      "Without OUT, the output goes to standard output. OUT gets its name when it is complete: an\n"
      "error or Ctrl-C leaves no part of it. OUT cannot be FILE, or inside the table FILE. Text\n"
      "does not depend on --threads. Each thread needs about 16 MiB of memory.\n\n"
      "CSV does not say which types the columns have. To import the text with the same types, "
      "give\n"
      "cfile-import the options that --print-import-options prints (see the last example).\n\n"
      "Examples:\n"
      "  cfile-dump export flights flights.csv\n"
      "  cfile-dump export flights | gzip >flights.csv.gz\n"
      "  cfile-dump export flights --columns 'day,\"a,b\"' --where 'month = 7' july.csv\n"
      "  cfile-dump export log log.jsonl\n"
      "  cfile-dump export flights flights.parquet --report\n"
      "  cfile-dump export flights out.parquet --compression snappy --page-version 1\n"
      "  cfile-dump export flights s3://bucket/flights.parquet\n"
      "  cfile-dump export keys.cfile --no-header\n"
      "  eval cfile-import flights.csv copy \\\n"
      "    \"$(cfile-dump export flights --print-import-options)\"");
  AddIgnoreChecksumsOption(command, common);
  auto line = std::make_shared<CommandLine>();
  command.Add("OUT", &line->out, "The file to write; - or none: standard output");
  command.Add("--to FORMAT", &line->to,
              "The format: " + FormatNames() +
                  " (default: as the name of OUT ends; csv for standard output)");
  AddRowChoiceOptions(command, line->options.choice);
  command.Add("--no-header", &line->no_header,
              "No line with the names of the columns in CSV and TSV");
  command.Add("--delimiter CHARACTER", &line->delimiter,
              "What separates the fields of CSV; 'tab' for a tab (default: ,)");
  command.Add("--compression CODEC", &line->compression,
              "The codec of the pages of Parquet: none, zstd, snappy, ...; auto "
              "(default): that of each block, so that its bytes can be copied");
  command.Add("--row-group-rows NUMBER", &line->row_group_rows,
              "The most rows in a row group of Parquet (default: 1,048,576)",
              NumberIn(1, INT64_MAX));
  command.Add("--page-version NUMBER", &line->page_version,
              "The version of the pages of Parquet: 1, or 2 (default), whose "
              "bytes can be copied more often",
              OneOf({"1", "2"}));
  command.Add("--report", &line->report,
              "Print how many pages of Parquet were copied, compressed again, "
              "and encoded again");
  command.Add("--print-import-options", &line->print_import_options,
              "Print the options for cfile-import instead, quoted for a shell");
  line->options.num_threads =
      std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  command.Add("--threads NUMBER", &line->options.num_threads,
              "Threads that format rows (default: one per core)", NumberIn(1, kMaxThreads));
  SetAction(command, action, [line](const CommonOptions& chosen, Output& output) {
    return RunExport(*line, chosen, output);
  });
}

}  // namespace cfile::tools
