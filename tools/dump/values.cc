// cfile-dump values: the values in order.
#include "tools/dump/commands.h"

#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/dump/explain_reads.h"
#include "tools/dump/rows.h"

namespace cfile::tools {
namespace {

struct ValuesOptions {
  RangeChoice range;
  RowChoice choice;
  std::string format = kRowFormats[0];
  bool explain = false;
};

ExitCode PrintValues(const ValuesOptions& options, const CommonOptions& common, Output& output) {
  ReadLog log;
  const auto input = OpenInput(common, options.explain ? log.observer() : nullptr);
  if (!input.ok()) return output.Fail(input.status());
  const absl::Status status =
      AppendRows(*input, common, options.choice, options.range, options.format, output);
  if (!status.ok()) return output.Fail(status);
  const ExitCode code = output.Finish(kFine);
  if (options.explain) {
    log.Stop();
    std::string totals;
    AppendTotals(input->counters(), log, totals);
    std::fputs(totals.c_str(), stderr);  // standard output has the rows
  }
  return code;
}

}  // namespace

void AddValuesCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "values",
      "Print the values, one per line; for a table its rows, with tabs between values",
      "A null is printed as null. Strings are printed as they are, except that control\n"
      "characters, backslashes and bytes that are not UTF-8 are escaped as in C (\\n, \\t,\n"
      "\\\\, \\x1b). Strings that could be misread are in double quotes: the empty string \"\",\n"
      "the string \"null\" and strings that begin with a double quote. Binary values are\n"
      "hexadecimal. The first line of a table has the names of the columns.\n"
      "With --json each line is an object:\n"
      "{\"schema_version\":1,\"ordinal\":0,\"value\":\"apple\"}. For a table it has\n"
      "\"values\":{\"COLUMN\":...} instead of \"value\". Strings that are not UTF-8 are\n"
      "{\"hex\":\"...\"}; nan and inf are strings.\n\n"
      "Kudu's arrays are printed as JSON arrays. In any other nested file, such as a file of a\n"
      "table with records, each entry is a line: repetition level, definition level, and the\n"
      "value, or - if there is no value. `records` prints whole records. Only --ordinal, --count\n"
      "and --head choose the records of a nested file.\n\n"
      "A condition is COLUMN = VALUE (or != < <= > >=), COLUMN = COLUMN (of one type), COLUMN (of\n"
      "true and false), COLUMN [NOT] BETWEEN VALUE AND VALUE, COLUMN [NOT] IN (VALUE, ...), "
      "COLUMN\n"
      "[NOT] LIKE PATTERN [ESCAPE CHARACTER] (or ILIKE, without regard to case), COLUMN [NOT]\n"
      "BEGINS PREFIX, COLUMN [NOT] CONTAINS PART, COLUMN ~ EXPRESSION (or !~; a regular "
      "expression\n"
      "of RE2) or COLUMN IS [NOT] NULL. AND, OR, NOT and parentheses combine conditions. In a\n"
      "pattern % stands for any characters and _ for one. As in SQL, only IS\n"
      "NULL is true for a null. VALUE is one or more words, or any text in single quotes\n"
      "('O''Hare'), written as for `find`. COLUMN is a word, or any name in double quotes\n"
      "(\"First Name\").\n\n"
      "With --where, --head, --tail and --sample choose among the rows that match. Only blocks\n"
      "with chosen rows are read; with --where, --sample tests all rows, and --tail begins with\n"
      "the last row. The formats csv, tsv and jsonl are those of `export`, which is faster for a\n"
      "whole table.\n\n"
      "Examples:\n"
      "  cfile-dump values --head 10 keys.cfile\n"
      "  cfile-dump values --sample 100 --seed 7 --format csv flights\n"
      "  cfile-dump values --from 2013-06-01 --to 2013-07-01 flights\n"
      "  cfile-dump values --where 'value >= 1007' keys.cfile\n"
      "  cfile-dump values --where \"carrier = 'UA' and month between 6 and 8\" flights\n"
      "  cfile-dump values flights --where \\\n"
      "    \"delay > 600 or (month = 7 and carrier in (HA, F9))\"\n"
      "  cfile-dump values --ordinal 1000000 --count 10 --columns year,carrier flights");
  AddIgnoreChecksumsOption(command, common);
  auto options = std::make_shared<ValuesOptions>();
  AddRangeOptions(command, options->range);
  std::vector<std::string> formats(std::begin(kRowFormats), std::end(kRowFormats));
  command
      .Add("--format FORMAT", &options->format,
           "text (default), csv, tsv, jsonl, or hex: the bytes of each value in "
           "hexadecimal digits, numbers with the least byte first",
           OneOf(std::move(formats)))
      .excludes = {"--json"};
  command.Add("--explain", &options->explain,
              "Print to standard error how many bytes and blocks were read");
  AddColumnOptions(command, common,
                   "Only this column of a table, printed like the column of a file; for a nested "
                   "column, write --part, too, or use `records` with --columns",
                   kPartOfColumn);
  AddRowChoiceOptions(command, options->choice).excludes = {"--column"};
  SetAction(command, action, [options](const CommonOptions& chosen, Output& output) {
    return PrintValues(*options, chosen, output);
  });
}

}  // namespace cfile::tools
