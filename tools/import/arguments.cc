#include "tools/import/import_options.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cfile/status.h"
#include "tools/command.h"
#include "tools/import/csv_reader.h"
#include "tools/input/input_file.h"
#include "tools/location.h"

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
  Several files of one format are imported as one. First lines of CSV must be equal, or have no
  names. Folders COLUMN=VALUE count only of one directory of Parquet.
  An unquoted empty field is a null; "" is the empty string.
  Types that are not given are inferred from all values of the column: int32, int64, double, bool,
  date, timestamp(us,UTC) or timestamp(us), otherwise string. Columns are nullable, except with
  --not-null, and except columns of --sorted-by without nulls. Numbers with leading zeros or a plus
  sign, such as zip codes, stay strings.

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
  unless --for, --encoding or --compression ask for others. INT96 becomes timestamp(ns),
  with --type COLUMN='timestamp(us)' a time of any year, and with --type COLUMN=int96 it stays as
  it is. --type COLUMN=binary takes strings that are not UTF-8.
  A new table keeps the key-value metadata of the file, or the pairs that all files of a directory
  have; with --append the table keeps its own.

Output:
  A new table, or with --append a new part of a table. After an error or Ctrl-C nothing is added.

Types:
  bool int8 int16 int32 int64 int128 int96 uint8 uint16 uint32 uint64 float double
  decimal(10,2) string varchar binary fixed(20) uuid date time(ms) timestamp(us,UTC)
  timestamp(ns) json
  json is a string with the text of any JSON value, also of objects and arrays.
  binary, fixed and int96 are read as hexadecimal digits.
  Dates and times may have a format: 'date(%d.%m.%Y)', 'time(ms;%H.%M)',
  'timestamp(us,UTC;%d/%b/%Y:%H:%M:%S %z)', with these conversions:
  %Y %y year, %m %b %B month, %d %e day, %j day of the year, %H %I %p hour, %M minute, %S second,
  %f fraction, %z zone, %s seconds since 1970, %a %A weekday (ignored), %F %T %D %R, %%
  The format epoch is a number of units since 1970: 'timestamp(ms,UTC;epoch)'.

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
  cfile-import january.csv february.csv 'day-*.csv' prices
  cfile-import sales.csv.gz sales --type 'day=date(%d.%m.%Y)' --skip-bad-rows 10
  unzip -p data.zip data.txt | cfile-import - data --charset latin-1 --names id,name --no-header
  cfile-import records.jsonl records --schema record.schema
  cfile-import trips.jsonl trips --sorted-by trip.day --type 'trip.day=date(%d.%m.%Y)'
  cfile-import flights.parquet flights --report)";

absl::Status Wrong(const std::string& option, const std::string& text, std::string_view reason) {
  return absl::InvalidArgumentError(StrCat(option, " ", text, ": ", reason));
}

// Parses the character of an option; `none` stands for 0.
absl::Status ParseCharacter(const std::string& option, const std::string& text, char& character) {
  if (text == "tab" || text == "\\t") {
    character = '\t';
  } else if (text == "none" && option != "--delimiter") {
    character = 0;
  } else if (text.size() != 1 || static_cast<uint8_t>(text[0]) >= 0x80 || text == "\n" ||
             text == "\r") {
    return Wrong(option, text,
                 option == "--delimiter" ? "expected one ASCII character, or tab"
                                         : "expected one ASCII character, or none");
  } else {
    character = text[0];
  }
  return absl::OkStatus();
}

absl::Status ParseDialect(const std::string& delimiter, const std::string& quote,
                          const std::string& escape, const std::string& comment,
                          ImportOptions& import) {
  CsvDialect& dialect = import.dialect;
  CFILE_RETURN_IF_ERROR(ParseCharacter("--quote", quote, dialect.quote));
  CFILE_RETURN_IF_ERROR(ParseCharacter("--escape", escape, dialect.escape));
  CFILE_RETURN_IF_ERROR(ParseCharacter("--comment", comment, dialect.comment));
  if (delimiter != "auto") {
    char character = 0;
    CFILE_RETURN_IF_ERROR(ParseCharacter("--delimiter", delimiter, character));
    import.delimiter = character;
  }
  std::string taken;
  for (const auto& [option, character] :
       {std::pair("--delimiter", import.delimiter.value_or(0)), std::pair("--quote", dialect.quote),
        std::pair("--escape", dialect.escape), std::pair("--comment", dialect.comment)}) {
    if (character == 0) continue;
    if (taken.find(character) != std::string::npos) {
      return Wrong(option, std::string(1, character),
                   "another of --delimiter, --quote, --escape and --comment is this character");
    }
    taken += character;
  }
  return absl::OkStatus();
}

// Divides the places of the command line into inputs and the table, which is the last one.
absl::Status TakePlaces(std::vector<std::string> places, ImportOptions& import) {
  if (places.size() < 2) return absl::InvalidArgumentError("OUT_TABLE is required");
  import.output = std::move(places.back());
  places.pop_back();
  if (import.output == "-") {
    return absl::InvalidArgumentError(
        "OUT_TABLE -: a table is a directory and cannot be standard output; cfile-dump rows "
        "writes them there");
  }
  for (std::string& place : places) {
    if (place == "/dev/stdin") place = "-";
  }
  if (places.size() > 1 && std::ranges::count(places, "-") > 0)
    return absl::InvalidArgumentError("IN -: standard input cannot be one of several inputs");
  import.input = places[0];
  import.inputs = std::move(places);
  return absl::OkStatus();
}

// Parses COLUMN=TYPE into `types`. The format of a date may contain =, too, so this function takes
// the last = that a type follows.
absl::Status ParseType(const std::string& text, std::map<std::string, TextType>& types) {
  std::string column, type;
  if (!SplitColumnOption(text, column, type)) return Wrong("--type", text, "expected COLUMN=TYPE");
  absl::StatusOr<TextType> parsed = ParseTextType(type);
  for (std::string begin, rest; !parsed.ok() && SplitColumnOption(column, begin, rest);
       column = begin) {
    type = rest + "=" + type;
    if (absl::StatusOr<TextType> longer = ParseTextType(type); longer.ok()) parsed = longer;
  }
  if (!parsed.ok()) return Wrong("--type", text, std::string(parsed.status().message()));
  types[column] = *std::move(parsed);
  return absl::OkStatus();
}

// Parses names that are separated by commas, as in the first line of a CSV file.
absl::StatusOr<std::vector<std::string>> ParseNames(const std::string& text) {
  CsvReader reader("--names", text, ',');
  const absl::StatusOr<bool> found = reader.Next();
  if (!found.ok()) return Wrong("--names", text, std::string(found.status().message()));
  std::vector<std::string> names;
  for (const CsvField& field : reader.fields()) names.emplace_back(field.text);
  if (!*found || reader.offset() != reader.size()) {
    return Wrong("--names", text, "expected the names, separated by commas");
  }
  return names;
}

}  // namespace

std::optional<Arguments> ParseArguments(int argc, char** argv, Output& output,
                                        ExitCode& exit_code) {
  Arguments arguments;
  ImportOptions& import = arguments.import;
  import.num_threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  std::string delimiter = "auto", quote = "\"", escape = "none", comment = "none";
  std::string nulls, header = "auto", progress = "auto", names;
  bool no_header = false;
  std::string at;
  std::vector<std::string> places;
  std::vector<std::string> types, not_null;
  LayoutArguments layout;
  Command tool{.name = std::string(kImportTool),
               .description = kDescription,
               .footer = HelpWithUrls(kFooter),
               .help_column = 34};
  tool.Add("--version", absl::StrCat(tool.name, " ", CFILE_VERSION), "Print the version");
  tool.Add("IN ... OUT_TABLE", &places,
           "IN: the file to read, its URL, or - for standard input; several files,\na pattern "
           "such as 'day-*.csv', or a directory of files.\nOUT_TABLE: a directory that does not "
           "exist yet, with --append one that does;\nor an s3:// URL")
      .required = true;

  tool.Add(
      "--schema FILE", &import.schema_path,
      "The schema of JSON, or of CSV without nesting, as\n`cfile-dump summary --schema` prints it");
  tool.Add("--at PATH", &at,
           "Of JSON: where the array of the records is in the document,\nfor example /results");
  tool.Add("--charset NAME", &import.charset,
           "The charset of the text: utf-8, utf-16, utf-16le, utf-16be,\nlatin-1, or another "
           "name of iconv such as windows-1252;\nauto (default): UTF-8, or UTF-16 or UTF-32 "
           "if the first\nbytes show it");
  tool.Add("--delimiter CHARACTER", &delimiter,
           "What separates fields; 'tab' for a tab; auto (default):\nthe one of comma, tab, "
           "semicolon and pipe with which the\nmost of the first lines have as many fields as "
           "the first\nline, at least two");
  tool.Add(
      "--quote CHARACTER", &quote,
      "What stands around fields, and twice for itself inside them\n(default: \"); none: quotes "
      "are text");
  tool.Add("--escape CHARACTER", &escape,
           "The character after this one stands for itself, and an unquoted\nfield of it and N is "
           "a null: --escape '\\' (default: none)");
  tool.Add("--comment CHARACTER", &comment, "Skip lines that begin with it (default: none)");
  tool.Add("--skip-lines NUMBER", &import.dialect.skip_lines, "Skip lines at the beginning",
           NumberIn(0, UINT32_MAX));
  tool.Add("--pad", &import.dialect.pad,
           "Rows with too few fields have nulls at their end, and empty\nfields beyond the last "
           "column are left out");
  tool.Add("--decimal-comma", &import.dialect.decimal_comma,
           "Numbers are written as 1.234,5, 1 234,5 or 1'234,5");
  tool.Add("--header WHEN", &header,
           "Whether the first line has the names of the columns: yes, no (they are\ncolumn_1, "
           "column_2, ...) or auto (default): no if all its fields are values\nof the types of "
           "their columns, and not all of these types are string",
           OneOf({"auto", "yes", "no"}));
  tool.Add("--no-header", &no_header, "The same as --header no").excludes = {"--header"};
  tool.Add("--names NAME,...", &names,
           "The names of the columns, separated by commas, in place\nof those in the first "
           "line or of column_1, column_2, ...");
  tool.Add("--skip-bad-rows NUMBER", &import.skip_bad_rows,
           "Skip up to NUMBER rows that have another number of fields,\nwrong quotes, a value "
           "that is not of the given type, text\nthat is not UTF-8, or a null that the column "
           "does not\nallow, and report them (default: 0); of JSON, records that are\nno JSON or "
           "do not fit the given types or schema",
           NumberIn(0, kMaxBadRows));
  tool.Add("--null TEXT", &import.null_texts,
           "Another text that means null unless quoted. In columns of numbers, times\nand bools, "
           "NA, N/A, null, NULL, - and blanks always do");
  tool.Add("--type COLUMN=TYPE", &types, "The type of a column, perhaps with a format");
  tool.Add("--not-null COLUMN", &not_null, "A null in this column is an error");
  layout.AddTo(tool);
  constexpr char kLimits[] =
      "Limits (an error names the limit to raise; readers need the same limits)";
  const auto size_limit = [&](const char* spec, size_t& value, const char* help) {
    tool.Add(spec, &value, help, BytesIn(1, kMaxBytes)).group = kLimits;
  };
  tool.Add("--max-input-bytes BYTES", &import.max_input_bytes,
           "Input that comes from a pipe, from compressed data or from\nanother charset "
           "(default: no limit)",
           BytesIn(1, kMaxIndexBytes))
      .group = kLimits;
  size_limit("--max-block-size BYTES", import.max_block_size_bytes,
             "Size of a block, and so of a value (default: 16MiB)");
  size_t max_page_size_bytes = 0;
  size_limit("--max-page-size BYTES", max_page_size_bytes,
             "Of Parquet: size of a page of the input (default: 1GiB)");
  size_limit("--max-metadata-size BYTES", import.max_metadata_size_bytes,
             "Size of header, footer and table.cft (default: 16MiB)");
  tool.Add("--max-depth LEVELS", &import.record_limits.max_depth,
           "Depth of nested groups (default: 64)", NumberIn(1, kMaxDepth))
      .group = kLimits;
  size_t max_leaves = import.record_limits.max_leaves;
  tool.Add("--max-leaves NUMBER", &max_leaves,
           "Leaf columns in the schema of records (default: 10,000)", NumberIn(1, kMaxLeaves))
      .group = kLimits;
  tool.Add("--sorted-by COLUMN", &import.sorted_by,
           "Sort the rows by this column and index it, so that\nits values can be found by key; if "
           "given again,\nalso sort rows with equal values by the next column");
  tool.Add("--memory BYTES", &import.memory_bytes,
           "Memory for sorting (default: 1GiB). Rows that need more\nare sorted in runs, "
           "which take space in OUT_TABLE\nuntil they are merged",
           BytesIn(kMinMemoryBytes, kMaxIndexBytes));
  tool.Add("--nulls WHERE", &nulls,
           "Where rows with a null in a --sorted-by column go:\nlast (default) or first; "
           "--not-null makes nulls errors",
           OneOf({"first", "last"}))
      .needs = "--sorted-by";
  tool.Add("--merge RULE", &import.merge.rule,
           "newest: rows that are appended later replace older rows with\nequal values in the "
           "--sorted-by columns, which must differ\nin the rows of one import",
           OneOf({"newest"}))
      .needs = "--sorted-by";
  tool.Add("--deleted-column COLUMN", &import.merge.deleted_column,
           "If this bool column is true in the newest row of a key,\nthe key was deleted")
      .needs = "--merge";
  tool.Add("--time-column COLUMN", &import.merge.time_column,
           "The column for `cfile-table time-bound`, stored as int32 or\nint64")
      .needs = "--merge";
  tool.AddNames(
      "--columns NAME,...", &import.columns,
      "Import only these columns; of JSON, fields of the records. A\nname with a comma is "
      "in double quotes");
  tool.Add("--part-per-row-group", &import.part_per_row_group,
           "Of Parquet: each row group becomes a part of the table,\nand keeps its dictionaries");
  tool.Add(
      "--why", &arguments.why,
      "Print the encoding and the size of each column, and why\nit was chosen, in place of the "
      "first rows");
  tool.Add("--report", &arguments.report,
           "Of Parquet: print how many pages were copied, compressed\nagain, and encoded again");
  tool.Add("--append", &import.append,
           "Add a part to OUT_TABLE, with the columns and types of OUT_TABLE")
      .excludes = {"--not-null", "--nulls", "--schema", "--merge"};
  tool.Add("--evolve", &import.evolve,
           "With --append, change the columns of OUT_TABLE so that\nthe rows fit: nulls, wider "
           "numbers, new columns, and nulls\nin columns that the input lacks")
      .needs = "--append";
  tool.Add("--print-names", &import.names_only, "").group = "";
  tool.Add("--threads NUMBER", &import.num_threads,
           "Threads that read CSV and encode columns (default: one per core)",
           NumberIn(1, kMaxThreads));
  tool.Add("--progress WHEN", &progress, "auto (default: on a terminal), always or never",
           OneOf({"auto", "always", "never"}));
  tool.Add("--json", &arguments.json, "Print the summary as JSON");
  tool.Add("--quiet", &arguments.quiet, "Print only errors, and JSON with --json");

  const auto read_texts = [&]() -> absl::Status {
    CFILE_RETURN_IF_ERROR(layout.Read(import));
    CFILE_RETURN_IF_ERROR(TakePlaces(std::move(places), import));
    CFILE_RETURN_IF_ERROR(ParseDialect(delimiter, quote, escape, comment, import));
    if (import.block_size_bytes > import.max_block_size_bytes / 2) {
      return Wrong("--block-size", std::to_string(import.block_size_bytes),
                   "it is above half of --max-block-size");
    }
    for (const std::string& text : types) CFILE_RETURN_IF_ERROR(ParseType(text, import.types));
    for (auto& [column, type] : import.types) type.decimal_comma = import.dialect.decimal_comma;
    if (!names.empty()) {
      CFILE_ASSIGN_OR_RETURN(import.names, ParseNames(names));
    }
    import.at = absl::StrSplit(at, '/', absl::SkipEmpty());
    if (no_header) header = "no";
    if (import.append && !names.empty() && header == "auto") {
      return Wrong("--names", names,
                   "with --append say whether there is a header: --header yes or no");
    }
    return absl::OkStatus();
  };
  const Parsed parsed = Parse(tool, {argv + 1, argv + argc});
  if (parsed.text) {
    output.text = *parsed.text;
    exit_code = output.Finish(kFine);
    return std::nullopt;
  }
  const absl::Status status =
      parsed.error.empty() ? read_texts() : absl::InvalidArgumentError(parsed.error);
  if (!status.ok()) {
    Misuse(kImportTool, kImportTool, std::string(status.message()));
    exit_code = ExitCodeOf(status);  // kCannotRead if this build lacks an encoding or a codec
    return std::nullopt;
  }
  SetMaxLeaves(max_leaves, import.record_limits);
  if (max_page_size_bytes > 0) import.max_page_size_bytes = max_page_size_bytes;
  import.not_null.insert(not_null.begin(), not_null.end());
  import.header = header == "yes" ? Header::kYes : header == "no" ? Header::kNo : Header::kAuto;
  import.nulls_last = nulls != "first";
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  arguments.progress =
      !arguments.quiet && (progress == "always" || (progress == "auto" && on_terminal));
  arguments.summary = !arguments.quiet || arguments.json;
  return arguments;
}

}  // namespace cfile::tools
