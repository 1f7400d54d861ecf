#include "tools/import/arguments.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/import/csv_reader.h"
#include "tools/input/input_file.h"
#include "tools/location.h"
#include "tools/time_format.h"

namespace cfile::tools {
namespace {

constexpr size_t kMaxThreads = 256;
constexpr uint64_t kMinMemoryBytes = 64 << 10;
constexpr uint64_t kMaxBadRows = 10'000'000;  // they take about 60 bytes of memory each

constexpr char kDescription[] =
    "Imports CSV, JSON, Arrow IPC or Parquet into a table: a directory with one CFile per "
    "column.\n";

constexpr char kFooter[] = R"(Input:
  A CSV file as in RFC 4180. The file is read twice and must not change in between. A pipe, a file
  that is compressed with gzip or zstd, and text in another charset than UTF-8 are first converted
  and copied to a temporary file: in the directory that the variable TMPDIR names, otherwise beside
  OUT_TABLE. Compression is recognised by the first bytes. The first line has the names of the
  columns (see --header). A column without a name is named column_N, where N counts from 1. The second
  column with the same name is named NAME_2, or with the next free number.
  An unquoted empty field is a null; "" is the empty string.
  Types that are not given are inferred from all values of the column: int32, int64, double, bool,
  date, timestamp(us,UTC) or timestamp(us), otherwise string; the column is nullable if it has
  nulls. Numbers with leading zeros or a plus sign, such as zip codes, stay strings.

  JSON Lines has an object on each line, nested as the schema says (cfile/record_schema.h explains
  the notation). An array of objects is read in the same way. A file is JSON if its name ends in
  .jsonl, .ndjson or .json, if it begins like JSON, or with --schema. A record that is not valid JSON
  is an error, and so is an object that repeats a key. A schema that is not given is inferred from
  all records and printed. Integers are then int64, or the first of uint64, decimal(38,0) and string
  that holds all integers of the field. Numbers with a fraction or an exponent are double; numbers
  too near to 0 for a double become 0. Strings are dates or timestamps if all strings of the field
  have the form that CSV needs. Options name a column by its path, as in --type trip.day=date.

  Parquet is recognised by its content. A directory is read as one table of Parquet files: folders
  named COLUMN=VALUE become columns, names that begin with . or _ are skipped, and links are
  refused. Pages keep their encodings and their compression, and are copied where that is possible,
  unless --for, --encoding or --compression ask for others. INT96 becomes timestamp(ns);
  --type COLUMN=int96 keeps it as it is, and --type COLUMN=binary takes strings that are not UTF-8.
  A new table keeps the key-value metadata of the file, or the pairs that all files of a directory
  have; with --append the table keeps its own.

Output:
  A new table, or with --append a new part of a table. After an error or Ctrl-C nothing is added.

Types:
  bool int8 int16 int32 int64 int128 int96 uint8 uint16 uint32 uint64 float double
  decimal(10,2) string varchar binary fixed(20) uuid date time(ms) timestamp(us,UTC)
  timestamp(ns)
  binary, fixed and int96 are read as hexadecimal digits.
  Dates and times may have a format: 'date(%d.%m.%Y)', 'time(ms;%H.%M)',
  'timestamp(us,UTC;%d/%b/%Y:%H:%M:%S %z)', with these conversions:
  %Y %y year, %m %b %B month, %d %e day, %j day of the year, %H %I %p hour, %M minute, %S second,
  %f fraction, %z zone, %s seconds since 1970, %a %A weekday (ignored), %F %T %D %R, %%

Exit codes:
  0 success, 1 wrong use or an error in the input file, 2 damaged table, 3 input or output
  failed, 4 above a limit, or needs something that this build does not have

Examples:
  cfile-import flights.csv flights
  cfile-import flights.csv flights --null NA --sorted-by time_hour --compression zstd
  cfile-import flights.csv flights --sorted-by carrier --sorted-by flight
  cfile-import flights.csv flights --for size
  cfile-import prices.csv prices --type 'price=decimal(10,2)' --encoding sku=prefix
  cfile-import today.csv prices --append
  cfile-import sales.csv.gz sales --type 'day=date(%d.%m.%Y)' --skip-bad-rows 10
  unzip -p data.zip data.txt | cfile-import - data --charset latin-1 --names id,name --no-header
  cfile-import records.jsonl records --schema record.schema
  cfile-import trips.jsonl trips --sorted-by trip.day --type 'trip.day=date(%d.%m.%Y)'
  cfile-import flights.parquet flights --report)";

CLI::ParseError Wrong(const std::string& option, const std::string& text, std::string_view reason) {
  return CLI::ValidationError(option + " " + text, std::string(reason));
}

// The error of LayoutArguments::Read. If this build lacks an encoding or a codec, the exit code is
// kCannotRead.
class WrongLayout final : public CLI::ParseError {
 public:
  explicit WrongLayout(const absl::Status& status)
      : ParseError("WrongLayout", std::string(status.message()), ExitCodeOf(status)) {}
};

template <typename T>
T ValueOrThrow(absl::StatusOr<T> value, const std::string& option, const std::string& text) {
  if (!value.ok()) {
    const absl::string_view message = value.status().message();
    throw Wrong(option, text, {message.data(), message.size()});
  }
  return *std::move(value);
}

std::optional<char> ParseDelimiter(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || static_cast<uint8_t>(text[0]) >= 0x80 || text == "\"" || text == "\n" ||
      text == "\r") {
    throw Wrong("--delimiter", text, "expected one ASCII character, or tab");
  }
  return text[0];
}

// Parses COLUMN=TYPE into `types`. The format of a date may contain =, too, so this function takes the
// last = that a type follows.
void ParseType(const std::string& text, std::map<std::string, TextType>& types) {
  std::string column, type;
  if (!SplitColumnOption(text, column, type)) throw Wrong("--type", text, "expected COLUMN=TYPE");
  absl::StatusOr<TextType> parsed = ParseTextType(type);
  const std::string last = column;
  for (std::string begin, rest; !parsed.ok() && SplitColumnOption(column, begin, rest);
       column = begin) {
    type = rest + "=" + type;
    if (absl::StatusOr<TextType> longer = ParseTextType(type); longer.ok()) parsed = longer;
  }
  if (!parsed.ok()) column = last;
  types[column] = ValueOrThrow(std::move(parsed), "--type", text);
}

// Parses names that are separated by commas, as in the first line of a CSV file.
std::vector<std::string> ParseNames(const std::string& text) {
  CsvReader reader("--names", text, ',');
  const absl::StatusOr<bool> found = ValueOrThrow(reader.Next(), "--names", text);
  std::vector<std::string> names;
  for (const CsvField& field : reader.fields()) names.emplace_back(field.text);
  if (!*found || reader.offset() != reader.size()) {
    throw Wrong("--names", text, "expected the names, separated by commas");
  }
  return names;
}

}  // namespace

std::optional<Arguments> ParseArguments(int argc, char** argv, ExitCode& exit_code) {
  Arguments arguments;
  ImportOptions& import = arguments.import;
  import.num_threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  std::string delimiter = "auto", nulls, header = "auto", progress = "auto", names;
  bool no_header = false;
  std::vector<std::string> types, not_null;
  LayoutArguments layout;
  CLI::App app(kDescription, std::string(kImportTool));
  app.footer(HelpWithUrls(kFooter));
  app.formatter(std::make_shared<HelpFormatter>(34));
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", absl::StrCat(std::string(kImportTool), " ", CFILE_VERSION),
                       "Print the version");
  app.add_option("IN", import.input, "The file to read, its URL, or - for standard input")
      ->required()
      ->type_name("");
  app.add_option(
         "OUT_TABLE", import.output,
         "The table: a directory that does not exist yet, with --append one that does; or an "
         "s3:// URL")
      ->required()
      ->type_name("");

  const auto repeatable = [&app](const std::string& name, std::vector<std::string>& values,
                                 const std::string& form, const std::string& help) {
    return AddRepeatableOption(app, name, values, form, help);
  };
  CLI::Option* schema_option =
      app.add_option("--schema", import.schema_path, "The schema of JSON")->type_name("FILE");
  app.add_option("--charset", import.charset,
                 "The charset of the text: utf-8, utf-16, utf-16le, utf-16be,\nlatin-1, or another "
                 "name of iconv such as windows-1252;\nauto (default): UTF-8, or UTF-16 or UTF-32 "
                 "if the first\nbytes show it")
      ->type_name("NAME");
  app.add_option(
         "--delimiter", delimiter,
         "What separates fields; 'tab' for a tab; auto (default):\nthe one of comma, tab, "
         "semicolon and pipe with which the\nmost of the first lines have as many fields as "
         "the first\nline, at least two")
      ->type_name("CHARACTER");
  CLI::Option* header_option =
      app.add_option(
             "--header", header,
             "Whether the first line has the names of the columns: yes, no (they are\ncolumn_1, "
             "column_2, ...) or auto (default): no if all its fields are values\nof the types of "
             "their columns, and not all of these types are string")
          ->type_name("WHEN")
          ->check(CLI::IsMember({"auto", "yes", "no"}).description(""));
  app.add_flag("--no-header", no_header, "The same as --header no")->excludes(header_option);
  app.add_option("--names", names,
                 "The names of the columns, separated by commas, in place\nof those in the first "
                 "line or of column_1, column_2, ...")
      ->type_name("NAME,...");
  app.add_option(
         "--skip-bad-rows", import.skip_bad_rows,
         "Skip up to NUMBER rows that have another number of fields,\nwrong quotes, a value "
         "that is not of the given type, text\nthat is not UTF-8, or a null that the column "
         "does not\nallow, and report them (default: 0)")
      ->type_name("NUMBER")
      ->check(NumberIn(0, kMaxBadRows));
  repeatable("--null", import.null_texts, "TEXT",
             "Another text that means null unless quoted, e.g. NA");
  repeatable("--type", types, "COLUMN=TYPE", "The type of a column, perhaps with a format");
  CLI::Option* not_null_option =
      repeatable("--not-null", not_null, "COLUMN", "A null in this column is an error");
  layout.AddTo(app);
  constexpr char kLimits[] =
      "Limits (an error names the limit to raise; readers need the same limits)";
  const auto size_limit = [&](const char* name, size_t& value, const char* help) {
    app.add_option(name, value, help)
        ->type_name("BYTES")
        ->transform(BytesIn(1, kMaxBytes))
        ->group(kLimits);
  };
  app.add_option("--max-input-bytes", import.max_input_bytes,
                 "Input that comes from a pipe, from compressed data or from\nanother charset "
                 "(default: no limit)")
      ->type_name("BYTES")
      ->transform(BytesIn(1, kMaxIndexBytes))
      ->group(kLimits);
  size_limit("--max-block-size", import.max_block_size_bytes,
             "Size of a block, and so of a value (default: 16MiB)");
  size_t max_page_size_bytes = 0;
  size_limit("--max-page-size", max_page_size_bytes,
             "Of Parquet: size of a page of the input (default: 1GiB)");
  size_limit("--max-metadata-size", import.max_metadata_size_bytes,
             "Size of header, footer and table.cft (default: 16MiB)");
  app.add_option("--max-depth", import.record_limits.max_depth,
                 "Depth of nested groups (default: 64)")
      ->type_name("LEVELS")
      ->check(NumberIn(1, kMaxDepth))
      ->group(kLimits);
  size_t max_leaves = import.record_limits.max_leaves;
  app.add_option("--max-leaves", max_leaves,
                 "Leaf columns in the schema of records (default: 10,000)")
      ->type_name("NUMBER")
      ->check(NumberIn(1, kMaxLeaves))
      ->group(kLimits);
  repeatable(
      "--sorted-by", import.sorted_by, "COLUMN",
      "Sort the rows by this column and index it, so that\nits values can be found by key; if "
      "given again,\nalso sort rows with equal values by the next column");
  app.add_option("--memory", import.memory_bytes,
                 "Memory for sorting (default: 1GiB). Rows that need more\nare sorted in runs, "
                 "which take space in OUT_TABLE\nuntil they are merged")
      ->type_name("BYTES")
      ->transform(BytesIn(kMinMemoryBytes, kMaxIndexBytes));
  CLI::Option* nulls_option =
      app.add_option("--nulls", nulls,
                     "Where rows with a null in a --sorted-by column go:\nlast (default) or first; "
                     "--not-null makes nulls errors")
          ->type_name("WHERE")
          ->check(CLI::IsMember({"first", "last"}).description(""))
          ->needs(app.get_option("--sorted-by"));
  repeatable(
      "--columns", import.columns, "COLUMN",
      "Of Parquet: import only this column, and others for which\nthis option is given again");
  app.add_flag(
      "--part-per-row-group", import.part_per_row_group,
      "Of Parquet: each row group becomes a part of the table,\nand keeps its dictionaries");
  app.add_flag(
      "--report", arguments.report,
      "Of Parquet: print how many pages were copied, compressed\nagain, and encoded again");
  app.add_flag("--append", import.append,
               "Add a part to OUT_TABLE, with the columns and types of OUT_TABLE")
      ->excludes(not_null_option)
      ->excludes(nulls_option)
      ->excludes(schema_option);
  app.add_option("--threads", import.num_threads,
                 "Threads that read CSV and encode columns (default: one per core)")
      ->type_name("NUMBER")
      ->check(NumberIn(1, kMaxThreads));
  app.add_option("--progress", progress, "auto (default: on a terminal), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
  app.add_flag("--json", arguments.json, "Print the summary as JSON");
  app.add_flag("--quiet", arguments.quiet, "Print only errors, and JSON with --json");

  try {
    app.parse(argc, argv);
    if (const absl::Status status = layout.Read(import); !status.ok()) throw WrongLayout(status);
    import.delimiter = ParseDelimiter(delimiter);
    if (import.block_size_bytes > import.max_block_size_bytes / 2) {
      throw Wrong("--block-size", std::to_string(import.block_size_bytes),
                  "it is above half of --max-block-size");
    }
    SetMaxLeaves(max_leaves, import.record_limits);
    if (max_page_size_bytes > 0) import.max_page_size_bytes = max_page_size_bytes;
    for (const std::string& text : types) ParseType(text, import.types);
    if (!names.empty()) import.names = ParseNames(names);
    if (no_header) header = "no";
    if (import.append && !names.empty() && header == "auto") {
      throw Wrong("--names", names,
                  "with --append say whether there is a header: --header yes or no");
    }
    import.not_null.insert(not_null.begin(), not_null.end());
  } catch (const CLI::Success& wish) {
    std::ostringstream text;
    app.exit(wish, text);
    exit_code = Print(kImportTool, text.str());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s\nSee cfile-import --help\n", kImportTool.data(), error.what());
    exit_code = error.get_exit_code() == kCannotRead ? kCannotRead : kUsage;
    return std::nullopt;
  }
  if (import.input == "/dev/stdin") import.input = "-";
  import.header = header == "yes" ? Header::kYes : header == "no" ? Header::kNo : Header::kAuto;
  import.nulls_last = nulls != "first";
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  arguments.progress =
      !arguments.quiet && (progress == "always" || (progress == "auto" && on_terminal));
  arguments.summary = !arguments.quiet || arguments.json;
  return arguments;
}

}  // namespace cfile::tools
