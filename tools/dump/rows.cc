// cfile-dump rows: rows of a file or a table, in any format, to standard output or to a file.
#include "tools/dump/commands.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/dump/explain_reads.h"
#include "tools/dump/row_text.h"
#include "tools/location.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

constexpr size_t kMaxThreads = 256;

struct Format {
  std::string_view name;
  std::array<std::string_view, 2> extensions;  // of files, with the dot
  RowFormat format = RowFormat::kText;         // unless has_pages
  char delimiter = ',';
  bool has_fields = false;  // obeys --delimiter, --no-header and --print-import-options
  bool has_pages = false;   // obeys --compression, --row-group-rows, --page-version and --report
};

constexpr Format kFormats[] = {
    {.name = "text", .extensions = {".txt", ".text"}},
    {.name = "csv", .extensions = {".csv", ".CSV"}, .format = RowFormat::kCsv, .has_fields = true},
    {.name = "tsv",
     .extensions = {".tsv", ".tab"},
     .format = RowFormat::kCsv,
     .delimiter = '\t',
     .has_fields = true},
    {.name = "jsonl", .extensions = {".jsonl", ".ndjson"}, .format = RowFormat::kJsonLines},
    {.name = "hex", .extensions = {".hex", ".HEX"}, .format = RowFormat::kHex},
#ifdef CFILE_WITH_PARQUET
    {.name = "parquet", .extensions = {".parquet", ".parq"}, .has_pages = true},
#endif
};

struct RowsOptions {
  RangeChoice range;
  RowChoice choice;
  std::string out = "-";
  std::string format;
  std::string delimiter;
  bool no_header = false;
  bool print_import_options = false;
  std::string compression = "auto";
  std::optional<uint64_t> row_group_rows;
  std::optional<uint64_t> page_version;
  bool report = false;
  bool explain = false;
  bool skip_damaged = false;
  bool schema = false;
  size_t num_threads = 1;

  bool to_file() const { return out != "-"; }
};

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

// The format that --format names, or that the name of the file shows. Standard output is text by
// default.
absl::StatusOr<Format> ChooseFormat(const RowsOptions& options, bool json) {
  std::string_view out = options.out;
  const bool packed = out.ends_with(".gz") || out.ends_with(".zst");
  if (packed) out = out.substr(0, out.rfind('.'));
  const std::string wanted =
      options.format.empty() && options.print_import_options ? "csv" : options.format;
  for (const Format& format : kFormats) {
    bool found = wanted == format.name || (wanted.empty() && (json || !options.to_file()));
    for (const std::string_view extension : format.extensions) {
      found |= wanted.empty() && out.ends_with(extension);
    }
    if (!found) continue;
    if (packed && format.has_pages) {
      return absl::InvalidArgumentError(
          StrCat(options.out, ": ", format.name, " is compressed inside: see --compression"));
    }
    if (json && !wanted.empty() && format.format != RowFormat::kJsonLines) {
      return absl::InvalidArgumentError(StrCat("--format ", wanted, " excludes --json"));
    }
    return format;
  }
  if (!wanted.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--format ", wanted, ": expected one of ",
                                                   absl::StrJoin(FormatNames(), ", "),
                                                   Suggestion(wanted, FormatNames())));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the name of ", options.out, " does not show the format: add --format, with one of ",
      absl::StrJoin(FormatNames(), ", ")));
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
absl::StatusOr<std::string> ImportOptions(const Input& input, const RowsOptions& options,
                                          char delimiter) {
  CFILE_ASSIGN_OR_RETURN(const auto selection, SelectRows(input, options.choice));
  const bool header = !options.no_header;
  std::string text = absl::StrCat("--header ", header ? "yes" : "no");
  // Without the option, cfile-import guesses the delimiter, and may take a character in the name of
  // a column for the delimiter.
  absl::StrAppend(&text, " --delimiter ", delimiter == '\t' ? "tab" : ShellQuoted({&delimiter, 1}));
  for (size_t i = 0; i < selection.columns.size(); ++i) {
    const ColumnSchema& column = selection.columns[i];
    const std::string name = header ? column.name : absl::StrCat("column_", i + 1);
    absl::StrAppend(&text, " --type ", ShellQuoted(name + "=" + column.type.ToString()));
  }
  return text + "\n";
}

// kInvalidArgument, with the names of the formats that obey it: an option is not for this format.
absl::Status CheckOptions(const Format& format, const RowsOptions& options) {
  struct Option {
    std::string_view name;
    bool given;
    bool obeyed;
    std::string_view formats;
  };
  constexpr std::string_view kText = "csv and tsv", kParquet = "parquet";
  const Option all[] = {
      {"--delimiter", !options.delimiter.empty(), format.has_fields, kText},
      {"--no-header", options.no_header, format.has_fields, kText},
      {"--print-import-options", options.print_import_options, format.has_fields, kText},
      {"--compression", options.compression != "auto", format.has_pages, kParquet},
      {"--row-group-rows", options.row_group_rows.has_value(), format.has_pages, kParquet},
      {"--page-version", options.page_version.has_value(), format.has_pages, kParquet},
      {"--report", options.report, format.has_pages, kParquet},
      {"--explain", options.explain, !format.has_pages, "text and JSON"}};
  for (const Option& option : all) {
    if (!option.given || option.obeyed) continue;
    return absl::InvalidArgumentError(
        StrCat(option.name, " is for ", option.formats, ", but the format is ", format.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Sink>> OpenSink(const RowsOptions& options,
                                               const CommonOptions& common) {
  if (!options.to_file()) return std::make_unique<StandardOutput>();
  CFILE_RETURN_IF_ERROR(CheckOutIsNotInput(common.path, options.out));
  CancelOnSignals();  // so that the temporary file is removed
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, CreateFileAt(options.out));
  return CompressedSink(options.out, std::move(sink));
}

// Returns what --report prints.
absl::StatusOr<std::string> ToParquet([[maybe_unused]] const Input& input,
                                      [[maybe_unused]] const RowsOptions& options,
                                      [[maybe_unused]] const CommonOptions& common,
                                      [[maybe_unused]] LostRows* lost,
                                      [[maybe_unused]] Progress& progress) {
#ifdef CFILE_WITH_PARQUET
  if (!options.to_file() && isatty(STDOUT_FILENO) != 0) {
    return absl::InvalidArgumentError("parquet is not for a terminal: name a file to write");
  }
  ParquetExportOptions parquet;
  CFILE_ASSIGN_OR_RETURN(parquet.compression, ParseCompression(options.compression));
  parquet.max_row_group_rows = options.row_group_rows.value_or(parquet.max_row_group_rows);
  parquet.data_page_v2 = options.page_version.value_or(2) == 2;
  ParquetRows rows{.choice = options.choice, .range = options.range, .lost = lost};
  if (!common.column.empty() && input.table) rows.choice.columns = {common.column};
  const RangeChoice& range = options.range;
  rows.all = !rows.choice.where && range.ordinal == 0 && !range.count && !range.tail &&
             !range.sample && range.from.empty() && range.to.empty() && !input.part &&
             !input.applies_rule() && lost == nullptr;
  rows.range.skips_damage = lost != nullptr;
  CFILE_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, OpenSink(options, common));
  return WriteParquet(input, rows, common, parquet, std::move(sink), progress);
#else
  return absl::UnimplementedError("this build has no Parquet");
#endif
}

// `lost`: null, or gets the rows that are left out because of damage.
absl::Status ToText(const Input& input, const Format& format, char delimiter,
                    const RowsOptions& options, const CommonOptions& common, LostRows* lost,
                    Progress& progress) {
  RowForm form{.format = format.format, .delimiter = delimiter, .header = !options.no_header};
  if (common.json && options.format.empty()) form.format = RowFormat::kJson;
  const bool shown = !options.to_file() && isatty(STDOUT_FILENO) != 0;
  if (shown && options.format.empty() && !common.json) form.width = OutputWidth();
  RangeChoice range = options.range;
  range.skips_damage = lost != nullptr;
  CFILE_ASSIGN_OR_RETURN(RowPlan plan, PlanRows(input, common, options.choice, range, form));
  if (lost != nullptr) plan = SkippingDamage(input, std::move(plan), *lost);
  CFILE_ASSIGN_OR_RETURN(const std::unique_ptr<Sink> sink, OpenSink(options, common));
  CFILE_RETURN_IF_ERROR(
      WriteRows(plan, options.explain ? 1 : options.num_threads, *sink, progress));
  return sink->Finish();
}

// Adds what helps against damage to `status`.
absl::Status WithAdvice(const absl::Status& status, const Input& input, const std::string& path) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::DataLossError(absl::StrCat(
      status.message(), "; --skip-damaged prints the other rows, ",
      input.table ? absl::StrCat("cfile-table repair --salvage ", ShellQuoted(path),
                                 " keeps them in the table")
                  : absl::StrCat("cfile-dump salvage ", ShellQuoted(path), " OUT copies them")));
}

Outcome PrintRows(const RowsOptions& options, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const Format format, ChooseFormat(options, common.json));
  CFILE_RETURN_IF_ERROR(CheckOptions(format, options));
  char delimiter = format.delimiter;
  if (!options.delimiter.empty()) {
    CFILE_ASSIGN_OR_RETURN(delimiter, ParseDelimiter(options.delimiter));
  }
  ReadLog log;
  CFILE_ASSIGN_OR_RETURN(const Input input,
                         OpenInput(common, options.explain ? log.observer() : nullptr));
  if (input.applies_rule() && (options.range.must_exist || options.range.ordinal > 0))
    return NeedsStoredRows(options.range.must_exist ? "--row" : "--ordinal");
  if (options.schema) {
    CFILE_ASSIGN_OR_RETURN(output.text, SchemaText(input, common.path));
    return kFine;
  }
  if (options.print_import_options) {
    CFILE_ASSIGN_OR_RETURN(output.text, ImportOptions(input, options, delimiter));
    return kFine;
  }
  Progress progress(isatty(STDERR_FILENO) != 0 &&
                    (options.to_file() || isatty(STDOUT_FILENO) == 0));
  progress.Begin("writing", input.rows().end, Progress::Unit::kRows);
  LostRows lost;
  LostRows* const skips = options.skip_damaged ? &lost : nullptr;
  const auto write = [&]() -> absl::StatusOr<std::string> {
    if (format.has_pages) return ToParquet(input, options, common, skips, progress);
    CFILE_RETURN_IF_ERROR(ToText(input, format, delimiter, options, common, skips, progress));
    return "";
  };
  const absl::StatusOr<std::string> report = write();
  progress.End();
  const uint64_t lost_rows = lost.Report();
  if (!report.ok() && !options.skip_damaged) return WithAdvice(report.status(), input, common.path);
  CFILE_RETURN_IF_ERROR(report.status());
  if (options.report && options.to_file()) {
    output.text = *report;
  } else if (options.report) {
    std::fputs(report->c_str(), stderr);  // standard output has the file
  } else if (options.explain && options.range.must_exist) {
    CFILE_RETURN_IF_ERROR(AppendExplanation(
        input, common, log, {.ordinal = input.rows().begin + options.range.ordinal}, output.text));
  } else if (options.explain) {
    log.Stop();
    std::string totals;
    AppendTotals(input.counters(), log, totals);
    std::fputs(totals.c_str(), stderr);  // standard output has the rows
  }
  if (lost_rows == 0) return kFine;
  Warn(kToolName, absl::StrCat(Plural(lost_rows, "row"), " with damaged values left out"));
  return kDamaged;
}

}  // namespace

void AddRowsCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "rows", "Print rows of a file or a table, or write them to a file",
      "On a terminal, columns are aligned; rows that are too wide have one value a line. "
      "Otherwise\n"
      "tabs separate the values. A null is the word null. Control characters, backslashes and\n"
      "bytes that are not UTF-8 are escaped as in C (\\n, \\x1b). Strings that could be misread "
      "are\n"
      "in double quotes: the empty string \"\", the string \"null\" and strings that begin with a\n"
      "double quote. Binary values are hexadecimal.\n\n"
      "Formats:\n"
      "  text     as above; JSON Lines if a column is nested\n"
      "  csv      RFC 4180, in UTF-8, with LF; a null is an empty field, and \"\" is the\n"
      "           empty string. cfile-import reads these values. Floats have all\n"
      "           digits to be read again, and a point or an exponent: 1.0\n"
      "  tsv      the same with tabs\n"
      "  jsonl    an object for each row, nested like the schema of the table; nulls\n"
      "           and repeated fields without elements are left out. Lists are\n"
      "           arrays, maps are objects, or arrays of objects if only the keys or\n"
      "           only the values are chosen\n"
      "  hex      the bytes of each value, numbers with the least byte first\n"
      "  parquet  blocks become pages, which are not encoded again if possible. Chosen\n"
      "           rows are first copied to a table in TMPDIR, or /tmp. The file has\n"
      "           the metadata of an imported Parquet file\n\n"
      "With --json each line is {\"schema_version\":1,\"ordinal\":0,\"values\":{\"COLUMN\":...}}, "
      "or\n"
      "\"value\":... for a file; a table with a merge rule has no ordinals. Strings that are not "
      "UTF-8 are {\"hex\":\"...\"}; nan and inf "
      "are\n"
      "strings. csv, tsv and hex refuse nested columns: a column is nested if it is repeated, or\n"
      "below an optional or repeated group. A single nested file has a line for each entry:\n"
      "repetition level, definition level, and the value, or - if there is none; Kudu's arrays "
      "are\n"
      "JSON arrays.\n\n"
      "A condition is one of:\n"
      "  COLUMN = VALUE            also != < <= > >=\n"
      "  COLUMN = COLUMN           also != < <= > >=; two columns of one type\n"
      "  COLUMN                    of true and false\n"
      "  COLUMN [NOT] BETWEEN VALUE AND VALUE\n"
      "  COLUMN [NOT] IN (VALUE, ...)\n"
      "  COLUMN IS [NOT] NULL\n"
      "  COLUMN [NOT] LIKE PATTERN [ESCAPE CHARACTER]\n"
      "                            % is any characters, _ is one; ILIKE: in any case\n"
      "  COLUMN [NOT] BEGINS TEXT  or CONTAINS\n"
      "  COLUMN ~ EXPRESSION       also !~; a regular expression of RE2\n"
      "AND, OR, NOT and parentheses combine conditions. As in SQL, only IS NULL is true for a\n"
      "null. VALUE is one or more words, or any text in single quotes ('O''Hare'), written as for\n"
      "`find`. COLUMN is a word, or any name in double quotes (\"First Name\").\n\n"
      "With --where, --limit, --tail and --sample choose among the rows that match. Only blocks\n"
      "with chosen rows are read; with --where, --sample tests all rows, and --tail begins with\n"
      "the last row.\n\n"
      "OUT gets its name when it is complete, and replaces a file of this name: an error or "
      "Ctrl-C\n"
      "leaves no part of it. A name that ends in .gz or .zst is compressed: flights.csv.gz. Text\n"
      "does not depend on --threads. Rows before damage are printed before the error.\n\n"
      "CSV does not say which types the columns have. To import the text with the same types, "
      "give\n"
      "cfile-import the options that --print-import-options prints (see the last example).\n\n"
      "Examples:\n"
      "  cfile-dump rows flights -n 10\n"
      "  cfile-dump rows flights --where \"carrier = 'UA' and month between 6 and 8\"\n"
      "  cfile-dump rows flights --from 2013-06-01 --to 2013-07-01 -o june.csv.gz\n"
      "  cfile-dump rows flights --columns 'day,\"a,b\"' --where 'month = 7' --format csv\n"
      "  cfile-dump rows log --row 1000 --columns sid,trans.uri\n"
      "  cfile-dump rows flights -o flights.parquet --report\n"
      "  cfile-dump rows flights -o s3://bucket/flights.jsonl\n"
      "  cfile-dump rows keys.cfile --sample 100 --seed 7\n"
      "  eval cfile-import flights.csv copy \\\n"
      "    \"$(cfile-dump rows flights --print-import-options)\"");
  command.aliases = {{.word = "values"},
                     {.word = "at", .places = {"--row"}},
                     {.word = "records", .options = {"--format", "jsonl"}},
                     {.word = "export",
                      .options = {"--format", "csv"},
                      .places = {"--output"},
                      .renamed = {{"--to", "--format"}}}};
  auto options = std::make_shared<RowsOptions>();
  AddRangeOptions(command, options->range);
  Option& columns = AddRowChoiceOptions(command, options->choice);
  columns.excludes = {"--column"};
  AddColumnOptions(command, common,
                   "Only this column of a table, printed like the column of a file", kRowsOfPart);
  command.Add("-o,--output OUT", &options->out,
              "The file to write, or an s3:// URL; - or none: standard output");
  command.Add("--format FORMAT", &options->format,
              absl::StrCat("The format: ", absl::StrJoin(FormatNames(), ", "),
                           " (default: as the name of OUT ends; text for standard output)"));
  command.Add("--no-header", &options->no_header,
              "No line with the names of the columns in CSV and TSV");
  command.Add("--delimiter CHARACTER", &options->delimiter,
              "What separates the fields of CSV; 'tab' for a tab (default: ,)");
  command.Add(
      "--skip-damaged", &options->skip_damaged,
      "Go on behind blocks with damaged values, and print which rows are left out; they do not "
      "count for --limit. The exit code is 2");
  AddExplainOption(command, options->explain);
  command.Add("--threads NUMBER", &options->num_threads,
              "Threads that format rows (default: one per core)", NumberIn(1, kMaxThreads));
  options->num_threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  command.Add("--compression CODEC", &options->compression,
              "The codec of the pages of Parquet: none, zstd, snappy, ...; auto "
              "(default): that of each block, so that its bytes can be copied");
  command.Add("--row-group-rows NUMBER", &options->row_group_rows,
              "The most rows in a row group of Parquet (default: 1,048,576)",
              NumberIn(1, INT64_MAX));
  command.Add("--page-version NUMBER", &options->page_version,
              "The version of the pages of Parquet: 1, or 2 (default), whose "
              "bytes can be copied more often",
              OneOf({"1", "2"}));
  command.Add("--report", &options->report,
              "Print how many pages of Parquet were copied, compressed again, "
              "and encoded again");
  command.Add("--print-import-options", &options->print_import_options,
              "Print the options for cfile-import instead, quoted for a shell");
  command.Add("--schema", &options->schema, "See summary --schema").group = "";
  SetRowsAction(command, common, action, With(options, PrintRows));
}

}  // namespace cfile::tools
