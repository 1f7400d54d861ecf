// cfile-dump records: the rows of a table as nested records. The default format is JSON Lines.
#include "tools/dump/commands.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/records.h"
#include "tools/dump/dump.h"
#include "tools/dump/row_ranges.h"
#include "tools/dump/row_selection.h"
#include "tools/dump/rows.h"
#include "tools/records/json_printer.h"

namespace cfile::tools {
namespace {

constexpr char kJsonLines[] = "jsonl";

struct RecordsOptions {
  RangeChoice range;
  RowChoice choice;  // its columns may also be groups
  std::string format = kJsonLines;
  bool schema = false;
};

// kInvalidArgument: one of `leaves` is nested, so a record may have several values of this column,
// and one field of a line cannot hold them.
absl::Status CheckFlat(const Schema& schema, std::span<const size_t> leaves,
                       const std::string& format) {
  for (const size_t leaf : leaves) {
    const ColumnSchema& column = schema.columns[leaf];
    if (!column.has_levels()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "column ", NameAsWritten(column.name), " is nested, so a field of ", format,
        " cannot hold it: use --format jsonl, or choose other columns with --columns"));
  }
  return absl::OkStatus();
}

ExitCode PrintRecords(const RecordsOptions& options, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  if (!input->table) {
    return output.Fail(absl::InvalidArgumentError(
        absl::StrCat(common.path,
                     " is a single column, but only tables have records: cfile-dump "
                     "values ",
                     ShellQuoted(common.path), " shows its values")));
  }
  const std::vector<std::string>& columns = options.choice.columns;
  auto reader = RecordReader::Open(*input->table, columns);
  if (!reader.ok()) return output.Fail(reader.status());
  const RecordSchema& schema = reader->schema();
  if (options.schema) {
    output.text += TerminalSafeLines(schema.ToString());
    return output.Finish(kFine);
  }
  std::vector<size_t> leaves(schema.leaves().size());
  std::iota(leaves.begin(), leaves.end(), size_t{0});
  if (!columns.empty()) leaves = schema.SelectLeaves(columns).value();
  if (options.format != kJsonLines) {
    absl::Status status = CheckFlat(input->table->schema(), leaves, options.format);
    RowChoice choice{.where = options.choice.where};
    for (const size_t leaf : leaves) {
      choice.columns.push_back(input->table->schema().columns[leaf].name);
    }
    if (status.ok()) {
      status = AppendRows(*input, common, choice, options.range, options.format, output);
    }
    return status.ok() ? output.Finish(kFine) : output.Fail(status);
  }
  // The scan finds the ordinals of the records.
  RowSelection selection{.options = {.columns = std::vector<std::string>()}, .columns = {}};
  auto where = FilterOf(options.choice, input->table->schema());
  if (!where.ok()) return output.Fail(where.status());
  selection.options.where = *std::move(where);
  auto ranges = ChooseRows(*input, common, options.range, selection);
  if (!ranges.ok()) return output.Fail(ranges.status());
  RangeScan scan(*input, std::move(selection), *std::move(ranges));
  size_t start = 0;  // where the record, or the unwritten rest of a long one, begins in output.text
  JsonPrinter printer(schema, leaves, output.text, [&] {
    output.Flush();
    start = 0;
  });
  while (true) {
    const auto rows = scan.Next();
    if (!rows.ok()) return output.Fail(rows.status());
    if (rows->batch == nullptr) break;
    for (size_t row = rows->begin; row < rows->end; ++row) {
      if (!output.Drain()) return output.Finish(kFine);
      start = output.text.size();
      absl::Status status;
      const uint64_t ordinal = rows->batch->ordinal(row);
      if (ordinal != reader->record()) status = reader->Seek(ordinal);
      if (status.ok()) status = reader->Next(printer).status();
      if (status.ok()) continue;
      output.text.resize(start);  // drop what is not written yet
      return output.Fail(status);
    }
  }
  return output.Finish(kFine);
}

}  // namespace

void AddRecordsCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "records", "Print the records of a table as JSON Lines, nested like its schema",
      "JSON Lines are the same with and without --json: each line is a record and nothing else,\n"
      "so the line has no schema_version. The fields are in the order of the schema.\n"
      "Lists are arrays and maps are objects. Dates, times and similar types are strings.\n"
      "Integers are numbers of any size. Fields that are missing or null, and repeated fields\n"
      "without elements, are left out; null elements of lists and null values in maps are\n"
      "printed. cfile-import reads these records again. If --columns selects only the keys or\n"
      "only the values of a map, it is an array of objects with that one field.\n"
      "A damaged record is not printed, except that a part of a record of more than 1 MiB may\n"
      "be. --where is explained by cfile-dump values --help; a column that is repeated cannot be\n"
      "compared.\n\n"
      "The formats csv, tsv and hex are those of `values`: a line has one field for each leaf\n"
      "column. They refuse nested columns. A column is nested if it is repeated, or if it is in a\n"
      "group that is optional or repeated. `export --print-import-options` prints the options\n"
      "with which cfile-import makes the same table of the csv.\n\n"
      "Examples:\n"
      "  cfile-dump records log --ordinal 1000 --count 10\n"
      "  cfile-dump records log --columns sid,trans.uri --where 'trans.status >= 500'\n"
      "  cfile-dump records log --sample 100 --seed 7\n"
      "  cfile-dump records log --columns sid --format csv\n"
      "  cfile-dump records log --schema");
  AddIgnoreChecksumsOption(command, common);
  auto options = std::make_shared<RecordsOptions>();
  AddRangeOptions(command, options->range);
  Option& columns = AddRowChoiceOptions(command, options->choice);
  columns.form = "PATH,...";
  columns.help =
      "Only these leaf columns, or groups with everything in them; write a path with a comma in "
      "double quotes";
  std::vector<std::string> formats = {kJsonLines};
  for (const std::string format : kRowFormats) {
    if (format != "text" && format != kJsonLines) formats.push_back(format);
  }
  command
      .Add("--format FORMAT", &options->format,
           "jsonl (default), csv, tsv, or hex: the bytes of each value in hexadecimal "
           "digits",
           OneOf(std::move(formats)))
      .excludes = {"--json"};
  command.Add("--schema", &options->schema, "Print the schema instead").excludes = {"--format"};
  SetAction(command, action, [options](const CommonOptions& chosen, Output& output) {
    return PrintRecords(*options, chosen, output);
  });
}

}  // namespace cfile::tools
