// cfile-dump records: rows of a table as nested records, in JSON Lines.
#include "tools/dump/commands.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/records.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_selection.h"
#include "tools/records/json_printer.h"

namespace cfile::tools {
namespace {

struct RecordsOptions {
  uint64_t ordinal = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();
  std::vector<std::string> columns;
  bool schema = false;
};

ExitCode PrintRecords(const RecordsOptions& options, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  if (!input->table) {
    return output.Fail(absl::InvalidArgumentError(
        absl::StrCat(common.path, " is a single column, but only tables have records")));
  }
  auto reader = RecordReader::Open(*input->table, options.columns);
  if (!reader.ok()) return output.Fail(reader.status());
  const RecordSchema& schema = reader->schema();
  if (options.schema) {
    output.text += TerminalSafeLines(schema.ToString());
    return output.Finish(kFine);
  }
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  if (!options.columns.empty()) leaves = schema.SelectLeaves(options.columns).value();
  if (absl::Status status = reader->Seek(options.ordinal); !status.ok()) {
    return output.Fail(status);
  }
  size_t start = 0;  // where the record, or the unwritten rest of a long one, begins in output.text
  JsonPrinter printer(schema, leaves, output.text, [&] {
    output.Flush();
    start = 0;
  });
  for (uint64_t i = 0; i < options.count; ++i) {
    if (!output.Drain()) break;
    start = output.text.size();
    const absl::StatusOr<bool> more = reader->Next(printer);
    if (!more.ok()) {
      output.text.resize(start);  // drop what is not written yet
      return output.Fail(more.status());
    }
    if (!*more) break;
  }
  return output.Finish(kFine);
}

}  // namespace

void AddRecordsCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "records", "Print the records of a table as JSON Lines, nested like its schema",
      "Lists are arrays and maps are objects. Dates, times and similar types are strings.\n"
      "Integers are numbers of any size. Fields that are missing or null, and repeated fields\n"
      "without elements, are left out; null elements of lists and null values in maps are\n"
      "printed. cfile-import reads these records again. If --columns selects only the keys or\n"
      "only the values of a map, it is an array of objects with that one field.\n"
      "A damaged record is not printed, except that a part of a record of more than 1 MiB may\n"
      "be.\n\n"
      "Examples:\n"
      "  cfile-dump records log --ordinal 1000 --count 10\n"
      "  cfile-dump records log --columns sid,trans.uri\n"
      "  cfile-dump records log --schema");
  AddIgnoreChecksumsOption(*command, common);
  auto options = std::make_shared<RecordsOptions>();
  command
      ->add_option("--ordinal", options->ordinal, "Where to begin; the first record has ordinal 0")
      ->type_name("N")
      ->check(NumberIn(0, UINT64_MAX));
  command->add_option("--count", options->count, "How many at most")
      ->type_name("N")
      ->check(NumberIn(0, UINT64_MAX));
  AddColumnsOption(
      *command, options->columns,
      "Only these leaf columns, or groups with everything in them; write a path with a comma "
      "in double quotes")
      ->type_name("PATH,...");
  command->add_flag("--schema", options->schema, "Print the schema instead");
  command->callback([&action, options] {
    action = [options](const CommonOptions& chosen, Output& output) {
      return PrintRecords(*options, chosen, output);
    };
  });
}

}  // namespace cfile::tools
