#include "tools/dump/rows.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/dump/column_text.h"
#include "tools/dump/level_rows.h"
#include "tools/dump/line_text.h"
#include "tools/utf8.h"

namespace cfile::tools {
namespace {

// Prints rows in one format.
class RowPrinter {
 public:
  virtual ~RowPrinter() = default;
  // Appends what comes before the rows.
  virtual void AppendHeader(std::string& out) = 0;
  // From now on, AppendSome appends these rows.
  virtual void Open(const BatchRows& rows) = 0;
  // Appends one or more rows. Returns false if all rows are appended already.
  virtual bool AppendSome(std::string& out) = 0;
};

struct Column {
  std::string name;
  std::unique_ptr<ColumnText> text;
};

// Prints values in a form of tools/dump/column_text.h.
class ValuePrinter final : public RowPrinter {
 public:
  // `table`: the rows are those of a table, so the names of the columns are printed, too.
  ValuePrinter(const std::vector<ColumnSchema>& columns, Form form, bool table)
      : form_(form), table_(table) {
    for (const ColumnSchema& column : columns) {
      columns_.push_back({table ? column.name : "value", NewColumnText(column.type)});
    }
  }

  void AppendHeader(std::string& out) override {
    if (!table_ || form_ == Form::kJson) return;
    for (const Column& column : columns_) {
      if (&column != columns_.data()) out += '\t';
      AppendPrintable(column.name, out);
    }
    out += '\n';
  }

  void Open(const BatchRows& rows) override {
    rows_ = rows;
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].text->Open(*rows.batch, i);
  }

  bool AppendSome(std::string& out) override {
    if (rows_.begin == rows_.end) return false;
    const size_t row = rows_.begin++;
    if (form_ == Form::kJson) {
      AppendObject(row, out);
      return true;
    }
    for (const Column& column : columns_) {
      if (&column != columns_.data()) out += '\t';
      column.text->Append(row, form_, out);
    }
    out += '\n';
    return true;
  }

 private:
  void AppendObject(size_t row, std::string& out) {
    absl::StrAppend(&out, "{\"schema_version\":1,\"ordinal\":", rows_.batch->ordinal(row),
                    table_ ? ",\"values\":{" : ",");
    for (const Column& column : columns_) {
      if (&column != columns_.data()) out += ',';
      AppendJsonName(column.name, out);
      out += ':';
      column.text->Append(row, form_, out);
    }
    out += table_ ? "}}\n" : "}\n";
  }

  const Form form_;
  const bool table_;
  std::vector<Column> columns_;
  BatchRows rows_;
};

// Prints rows in a form of tools/dump/line_text.h.
class LinePrinter final : public RowPrinter {
 public:
  LinePrinter(const std::vector<ColumnSchema>& columns, const LineForm& form)
      : header_(form.json ? "" : CsvHeader(columns, form.delimiter)), text_(form, columns) {}

  void AppendHeader(std::string& out) override { out += header_; }
  void Open(const BatchRows& rows) override { text_.Open(*rows.batch, rows.begin, rows.end); }
  bool AppendSome(std::string& out) override {
    if (text_.done()) return false;
    text_.Append(out);
    return true;
  }

 private:
  const std::string header_;
  LineText text_;
};

std::unique_ptr<RowPrinter> NewPrinter(const std::vector<ColumnSchema>& columns,
                                       const std::string& format, bool json, bool table) {
  if (!json && format == "csv") return std::make_unique<LinePrinter>(columns, LineForm());
  if (!json && format == "tsv")
    return std::make_unique<LinePrinter>(columns, LineForm{.delimiter = '\t'});
  if (!json && format == "jsonl")
    return std::make_unique<LinePrinter>(columns, LineForm{.json = true});
  const Form form = json ? Form::kJson : format == "hex" ? Form::kHex : Form::kText;
  return std::make_unique<ValuePrinter>(columns, form, table);
}

// kInvalidArgument: a column of `names` is nested; no names: a column of `table`. The message names
// the command that prints whole records.
absl::Status CheckFlat(const TableReader& table, const CommonOptions& common,
                       const RangeChoice& range, const std::vector<std::string>& names) {
  std::vector<ColumnSchema> columns;
  std::vector<std::string> written;
  for (const std::string& name : names) {
    CFILE_ASSIGN_OR_RETURN(const size_t column, FindColumn(table, name));
    columns.push_back(table.schema().columns[column]);
    written.push_back(NameAsWritten(columns.back().name));
  }
  if (names.empty()) columns = table.schema().columns;
  for (const ColumnSchema& column : columns) {
    if (!column.has_levels()) continue;
    std::string rows;
    if (range.ordinal > 0) absl::StrAppend(&rows, " --ordinal ", range.ordinal);
    if (range.count) absl::StrAppend(&rows, " --count ", *range.count);
    return absl::InvalidArgumentError(absl::StrCat(
        "column ", NameAsWritten(column.name),
        " is nested, so a row is a record, which this command prints: cfile-dump records", rows,
        " ", ShellQuoted(common.path),
        names.empty() ? "" : " --columns " + ShellQuoted(absl::StrJoin(written, ","))));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendRows(const Input& input, const CommonOptions& common, RowChoice choice,
                        const RangeChoice& range, const std::string& format, Output& output) {
  if (input.file && input.file->info().has_levels())
    return AppendLevelRows(*input.file, common, choice, range, format, output);
  if (!common.column.empty() && input.table) choice.columns = {common.column};
  if (input.table) {
    CFILE_RETURN_IF_ERROR(CheckFlat(*input.table, common, range, choice.columns));
  }
  CFILE_ASSIGN_OR_RETURN(RowSelection selection, SelectRows(input, choice));
  CFILE_ASSIGN_OR_RETURN(RowRanges ranges, ChooseRows(input, common, range, selection));
  const bool table = input.table.has_value() && common.column.empty();
  const auto printer = NewPrinter(selection.columns, format, common.json, table);
  printer->AppendHeader(output.text);
  RangeScan scan(input, std::move(selection), std::move(ranges));
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const BatchRows rows, scan.Next());
    if (rows.batch == nullptr) return absl::OkStatus();
    printer->Open(rows);
    while (printer->AppendSome(output.text)) {
      if (!output.Drain()) return absl::OkStatus();
    }
  }
}

}  // namespace cfile::tools
