#include "tools/dump/row_selection.h"

#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"

namespace cfile::tools {
namespace {

// The names of the chosen columns of a table.
absl::StatusOr<std::vector<std::string>> ChooseColumns(const TableReader& table,
                                                       std::vector<std::string> names) {
  if (names.empty()) {
    for (const ColumnSchema& column : table.schema().columns) names.push_back(column.name);
  }
  std::set<std::string_view> given;
  for (const std::string& name : names) {
    // A program that reads CSV or JSON cannot tell two columns with the same name apart.
    if (!given.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--columns: column ", NameAsWritten(name), " is given twice"));
    }
    CFILE_ASSIGN_OR_RETURN(const auto column, FindColumn(table, name));
    if (table.schema().columns[column].has_levels()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "column ", NameAsWritten(name), " is nested: cfile-dump rows --format jsonl shows it"));
    }
  }
  return names;
}

}  // namespace

absl::StatusOr<TableScan> RowSelection::NewScan(const Input& input) const {
  return input.file ? NewTableScan(*input.file, options) : input.table->NewScan(options);
}

absl::StatusOr<RowSelection> SelectRows(const Input& input, const RowChoice& choice) {
  RowSelection selection;
  Schema schema;
  if (input.file) {
    if (!choice.columns.empty()) {
      return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
    }
    if (input.file->info().has_levels()) {
      return absl::InvalidArgumentError(
          "the column is nested: its rows are records with any number of values");
    }
    schema.columns.push_back({.name = "value", .type = input.file->type()});
    selection.columns = schema.columns;
  } else {
    schema = input.table->schema();
    CFILE_ASSIGN_OR_RETURN(selection.options.columns, ChooseColumns(*input.table, choice.columns));
    for (const std::string& name : *selection.options.columns) {
      selection.columns.push_back(schema.columns[*schema.Find(name)]);
    }
  }
  CFILE_ASSIGN_OR_RETURN(selection.options.where, FilterOf(choice, schema));
  return selection;
}

absl::StatusOr<Filter> FilterOf(const RowChoice& choice, const Schema& schema) {
  if (!choice.where) return Filter();
  auto filter = FilterOfText(*choice.where, schema);
  if (filter.ok()) return filter;
  return absl::Status(filter.status().code(), absl::StrCat("--where: ", filter.status().message()));
}

Option& AddRowChoiceOptions(Command& command, RowChoice& choice) {
  Option& columns = command.AddNames(
      "--columns NAME,...", &choice.columns,
      "Only these columns of a table, in this order, or of nested records these groups and leaf "
      "columns; write a name with a comma in double quotes, as in '\"a,b\",c'");
  AddWhereOption(command, choice);
  return columns;
}

void AddWhereOption(Command& command, RowChoice& choice) {
  command.Add(
      "--where FILTER", &choice.where,
      "Only rows for which this is true: conditions, joined by AND and OR. The column of a file is "
      "called value. Blocks that cannot hold such a row are not read");
}

}  // namespace cfile::tools
