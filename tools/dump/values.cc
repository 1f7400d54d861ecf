// cfile-dump values: the values in order.
#include "tools/dump/commands.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "tools/dump/rows.h"

namespace cfile::tools {
namespace {

struct ValuesOptions {
  uint64_t ordinal = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();
  RowChoice choice;
};

ExitCode PrintValues(const ValuesOptions& options, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  return PrintRows(*input, common, options.choice, options.ordinal, options.count, output);
}

}  // namespace

void AddValuesCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
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
      "A condition is COLUMN = VALUE (or != < <= > >=), COLUMN [NOT] BETWEEN VALUE AND VALUE,\n"
      "COLUMN [NOT] IN (VALUE, ...), COLUMN [NOT] LIKE 'PREFIX%', COLUMN [NOT] BEGINS PREFIX or\n"
      "COLUMN IS [NOT] NULL. AND, OR, NOT and parentheses combine conditions. As in SQL, only IS\n"
      "NULL is true for a null. VALUE is one or more words, or any text in single quotes\n"
      "('O''Hare'), written as for `find`. COLUMN is a word, or any name in double quotes\n"
      "(\"First Name\").\n\n"
      "Examples:\n"
      "  cfile-dump values keys.cfile | head\n"
      "  cfile-dump values --where 'value >= 1007' keys.cfile\n"
      "  cfile-dump values --where \"carrier = 'UA' and month between 6 and 8\" --columns "
      "day,carrier flights\n"
      "  cfile-dump values --where \"dep_delay > 600 or (month = 7 and carrier in (HA, F9))\" "
      "flights\n"
      "  cfile-dump values --ordinal 1000000 --count 10 --columns year,carrier flights");
  AddIgnoreChecksumsOption(*command, common);
  auto options = std::make_shared<ValuesOptions>();
  command
      ->add_option("--ordinal", options->ordinal, "Where to begin; the first value has ordinal 0")
      ->type_name("N")
      ->check(NumberIn(0, UINT64_MAX));
  command->add_option("--count", options->count, "How many at most")
      ->type_name("N")
      ->check(NumberIn(0, UINT64_MAX));
  AddColumnOptions(*command, common,
                   "Only this column of a table, printed like the column of a file", kAllParts);
  AddRowChoiceOptions(*command, options->choice)->excludes("--column");
  command->callback([&action, options] {
    action = [options](const CommonOptions& chosen, Output& output) {
      return PrintValues(*options, chosen, output);
    };
  });
}

}  // namespace cfile::tools
