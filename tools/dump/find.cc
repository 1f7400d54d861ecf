// cfile-dump find: where a key is, or would be.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/dump/column_text.h"
#include "tools/dump/rows.h"

namespace cfile::tools {
namespace {

struct FindOptions {
  std::string key;
  std::string column;
};

// The column to search in: the one asked for, else the only one with a value index.
absl::StatusOr<size_t> ChooseColumn(const TableReader& table, const std::string& name) {
  if (!name.empty()) return FindColumn(table, name);
  std::optional<size_t> only;
  for (size_t column = 0; column < table.schema().columns.size() && table.num_parts() > 0;
       ++column) {
    const auto reader = table.OpenColumn(0, column);
    if (!reader.ok()) return reader.status();
    if (!reader->info().value_index_root) continue;
    if (only)
      return absl::InvalidArgumentError(
          "several columns have a value index: choose one with --column NAME");
    only = column;
  }
  if (!only) return absl::FailedPreconditionError("no column of the table has a value index");
  return *only;
}

absl::StatusOr<std::unique_ptr<ColumnText>> OpenColumnToSearch(const Input& input,
                                                               const std::string& name) {
  if (input.file) {
    if (!name.empty())
      return absl::InvalidArgumentError("--column is for tables, and this is a single column");
    return NewColumnText(*input.file);
  }
  const auto column = ChooseColumn(*input.table, name);
  if (!column.ok()) return column.status();
  return NewColumnText(*input.table, *column);
}

ExitCode PrintFound(const FindOptions& options, const CommonOptions& common, Output& output) {
  const auto input = OpenInput(common);
  if (!input.ok()) return output.Fail(input.status());
  const auto column = OpenColumnToSearch(*input, options.column);
  if (!column.ok()) return output.Fail(column.status());
  const auto found = (*column)->Find(options.key);
  if (!found.ok()) return output.Fail(found.status());

  const bool end = found->ordinal == NumRows(*input);
  std::string value;
  if (!end) {
    const absl::Status status =
        (*column)->AppendNext(common.json ? Form::kJson : Form::kText, value);
    if (!status.ok()) return output.Fail(status);
  }
  if (common.json) {
    Json document = JsonDocument(common.path);
    document["ordinal"] = JsonInteger(found->ordinal);
    document["exact"] = found->exact;
    document["end"] = end;
    output.text = document.dump();
    output.text.pop_back();
    absl::StrAppend(&output.text, ",\"value\":", end ? "null" : value, "}\n");
  } else {
    absl::StrAppend(&output.text, "ordinal  ", found->ordinal,
                    end ? " (the end: all values are less)" : "", "\nexact    ",
                    found->exact ? "yes" : "no", "\n");
    if (!end) absl::StrAppend(&output.text, "value    ", value, "\n");
  }
  return output.Finish(kFine);
}

}  // namespace

void AddFindCommand(CLI::App& app, CommonOptions& common, Action& action) {
  CLI::App* command = AddCommand(
      app, common, "find", "Find the first value that is not less than a key, with the value index",
      "KEY is written as `cfile-dump values` prints it, but strings without escapes and quotes. "
      "Prints the\n"
      "ordinal, whether the value there equals KEY, and the value. If all values are less, the "
      "ordinal is the\n"
      "number of rows. A KEY that begins with a dash and is no number stands behind --.\n\n"
      "Examples:\n"
      "  cfile-dump find keys.cfile apple\n"
      "  cfile-dump find --column time flights 2013-01-31T10:00:00Z\n"
      "  cfile-dump at flights $(cfile-dump find --json flights -5 | jq .ordinal)");
  AddIgnoreChecksumsOption(*command, common);
  auto options = std::make_shared<FindOptions>();
  command->add_option("KEY", options->key, "The key to look for")->required()->type_name("");
  command
      ->add_option("--column", options->column,
                   "Of a table; by default the only one with a value index")
      ->type_name("NAME");
  command->callback([&action, options] {
    action = [options](const CommonOptions& chosen, Output& output) {
      return PrintFound(*options, chosen, output);
    };
  });
}

}  // namespace cfile::tools
