#include "tools/dump/rows.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/dump/column_text.h"
#include "tools/where.h"
#include "tools/where_parser.h"

namespace cfile::tools {
namespace {

struct Column {
  std::string name;
  std::unique_ptr<ColumnText> text;
};

// Names of the columns of a table that the user chose. Empty: all columns.
absl::StatusOr<std::vector<std::string>> ChooseColumns(const TableReader& table,
                                                       const std::string& only,
                                                       std::vector<std::string> names) {
  if (!only.empty()) names = {only};
  if (names.empty()) {
    for (const ColumnSchema& column : table.schema().columns) names.push_back(column.name);
  }
  for (const std::string& name : names) {
    const auto column = FindColumn(table, name);
    if (!column.ok()) return column.status();
    if (table.schema().columns[*column].has_levels()) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", NameAsWritten(name), " is nested: cfile-dump records shows it"));
    }
  }
  return names;
}

void AppendTextRow(const std::vector<Column>& columns, size_t row, std::string& out) {
  for (const Column& column : columns) {
    if (&column != columns.data()) out += '\t';
    column.text->Append(row, Form::kText, out);
  }
  out += '\n';
}

void AppendJsonRow(const std::vector<Column>& columns, bool table, uint64_t ordinal, size_t row,
                   std::string& out) {
  absl::StrAppend(&out, "{\"schema_version\":1,\"ordinal\":", ordinal,
                  table ? ",\"values\":{" : ",");
  for (const Column& column : columns) {
    if (&column != columns.data()) out += ',';
    AppendJsonName(column.name, out);
    out += ':';
    column.text->Append(row, Form::kJson, out);
  }
  out += table ? "}}\n" : "}\n";
}

// Begins a scan of the rows, and makes the columns of its batches.
absl::StatusOr<TableScan> BeginScan(const Input& input, const CommonOptions& common,
                                    const std::vector<std::string>& names, TableScanOptions options,
                                    const std::optional<std::string>& where,
                                    std::vector<Column>& columns) {
  Schema schema;
  if (input.file) {
    if (!names.empty())
      return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
    if (input.file->info().has_levels()) {
      return absl::InvalidArgumentError(
          "the column is nested: its rows are records with any number of values");
    }
    schema.columns.push_back({.name = "value", .type = input.file->type()});
  } else {
    schema = input.table->schema();
    auto chosen = ChooseColumns(*input.table, common.column, names);
    if (!chosen.ok()) return chosen.status();
    options.columns = *std::move(chosen);
  }
  if (where) {
    auto filter = FilterOfText(*where, schema);
    if (!filter.ok()) return filter.status();
    options.where = *std::move(filter);
  }
  auto scan = input.file ? NewTableScan(*input.file, options) : input.table->NewScan(options);
  if (!scan.ok()) return scan.status();
  for (const size_t column : scan->columns()) {
    columns.push_back({common.column.empty() ? schema.columns[column].name : "value",
                       NewColumnText(schema.columns[column].type)});
  }
  return scan;
}

}  // namespace

ExitCode PrintRows(const Input& input, const CommonOptions& common,
                   const std::vector<std::string>& names, uint64_t ordinal, uint64_t count,
                   const std::optional<std::string>& where, Output& output) {
  std::vector<Column> columns;
  TableScanOptions options{.limit = count};
  options.range.begin = ordinal;
  auto scan = BeginScan(input, common, names, std::move(options), where, columns);
  if (!scan.ok()) return output.Fail(scan.status());
  const uint64_t num_rows = input.num_rows();
  if (ordinal > num_rows) {
    return output.Fail(
        absl::OutOfRangeError(absl::StrCat("ordinal ", ordinal, " is beyond the end: ", common.path,
                                           " has ", Plural(num_rows, "row"))));
  }
  const bool table = input.table.has_value() && common.column.empty();
  if (table && !common.json) {
    for (const Column& column : columns) {
      if (&column != columns.data()) output.text += '\t';
      AppendPrintable(column.name, output.text);
    }
    output.text += '\n';
  }
  for (const auto& batch : scan->Batches()) {
    if (!batch.ok()) return output.Fail(batch.status());
    for (size_t i = 0; i < columns.size(); ++i) columns[i].text->Open(*batch, i);
    for (size_t row = 0; row < batch->num_rows(); ++row) {
      if (common.json) {
        AppendJsonRow(columns, table, batch->ordinal(row), row, output.text);
      } else {
        AppendTextRow(columns, row, output.text);
      }
      if (!output.Drain()) return output.Finish(kFine);
    }
  }
  return output.Finish(kFine);
}

CLI::Option* AddColumnsOption(CLI::App& command, std::vector<std::string>& names,
                              const std::string& help) {
  const auto add = [&names](const CLI::results_t& lists) {
    for (const std::string& list : lists) {
      const auto parsed = ParseNames(list);
      if (!parsed.ok()) {
        throw CLI::ValidationError(
            std::string(parsed.status().message().data(), parsed.status().message().size()));
      }
      names.insert(names.end(), parsed->begin(), parsed->end());
    }
    return true;
  };
  return command.add_option("--columns", add, help)
      ->type_name("NAME,...")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

}  // namespace cfile::tools
