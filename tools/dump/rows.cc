#include "tools/dump/rows.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/dump/column_text.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

struct Column {
  std::string name;
  std::unique_ptr<ColumnText> text;
};

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

}  // namespace

ExitCode PrintRows(const Input& input, const CommonOptions& common, RowChoice choice,
                   uint64_t ordinal, uint64_t count, Output& output) {
  if (!common.column.empty() && input.table) choice.columns = {common.column};
  auto selection = SelectRows(input, choice);
  if (!selection.ok()) return output.Fail(selection.status());
  selection->options.range.begin = ordinal;
  selection->options.limit = count;
  auto scan = selection->NewScan(input);
  if (!scan.ok()) return output.Fail(scan.status());
  std::vector<Column> columns;
  for (const ColumnSchema& column : selection->columns) {
    columns.push_back(
        {common.column.empty() ? column.name : "value", NewColumnText(column.type)});
  }
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

}  // namespace cfile::tools
