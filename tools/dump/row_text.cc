#include "tools/dump/row_text.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "absl/strings/str_cat.h"
#include "cfile/records.h"
#include "tools/dump/column_text.h"
#include "tools/dump/line_text.h"
#include "tools/dump/totals.h"
#include "tools/layout_options.h"
#include "tools/records/json_printer.h"
#include "tools/text_table.h"
#include "tools/utf8.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

constexpr size_t kGap = 2;  // between the columns on a terminal

// Appends the beginning of a row's object in kJson. `ordinal`: nullopt if rows have no numbers.
void AppendObjectBegin(std::optional<uint64_t> ordinal, const char* values, std::string& out) {
  out += "{\"schema_version\":1,";
  if (ordinal) absl::StrAppend(&out, "\"ordinal\":", *ordinal, ",");
  out += values;
}

// Rows as CSV or JSON Lines.
class LineRows final : public ScannedRows {
 public:
  LineRows(const LineForm& form, const Input& input, const RowSelection& selection,
           RowRanges ranges)
      : ScannedRows(input, selection, std::move(ranges)), text_(form, selection.columns) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    if (text_.done()) {
      CFILE_ASSIGN_OR_RETURN(const bool more, Read());
      if (!more) return false;
      text_.Open(*rows_.batch, rows_.begin, rows_.end);
    }
    text_.Append(out);
    return true;
  }

 private:
  LineText text_;
};

// Rows in the other formats.
class ValueRows final : public ScannedRows {
 public:
  // `table`: the rows are those of a table, so the names of the columns are printed, too.
  // `first`: the ordinal that is printed as 0.
  ValueRows(const RowForm& form, bool table, uint64_t first, const Input& input,
            const RowSelection& selection, RowRanges ranges)
      : ScannedRows(input, selection, std::move(ranges)),
        form_(form),
        table_(table),
        has_numbers_(!input.applies_rule()),
        first_(first),
        value_form_(form.format == RowFormat::kJson  ? Form::kJson
                    : form.format == RowFormat::kHex ? Form::kHex
                                                     : Form::kText) {
    for (const ColumnSchema& column : selection.columns) {
      names_.push_back(table ? column.name : "value");
      texts_.push_back(NewColumnText(column.type));
      columns_.push_back({.right = IsJsonNumber(column.type)});
    }
  }

  absl::StatusOr<bool> Append(std::string& out) override {
    CFILE_ASSIGN_OR_RETURN(const bool more, Read());
    if (!more) return false;
    for (size_t i = 0; i < texts_.size(); ++i) texts_[i]->Open(*rows_.batch, i);
    if (form_.width && !begun_) BeginLines(out);
    begun_ = true;
    for (size_t row = rows_.begin; row < rows_.end; ++row) {
      if (form_.format == RowFormat::kJson) {
        AppendObject(row, out);
      } else if (form_.format == RowFormat::kFields) {
        AppendFields(row, out);
      } else if (lines_) {
        lines_->Append(CellsOf(row), out);
      } else {
        for (size_t i = 0; i < texts_.size(); ++i) {
          if (i > 0) out += '\t';
          texts_[i]->Append(row, value_form_, out);
        }
        out += '\n';
      }
    }
    return true;
  }

 private:
  std::vector<std::string> CellsOf(size_t row) const {
    std::vector<std::string> cells(texts_.size());
    for (size_t i = 0; i < texts_.size(); ++i) texts_[i]->Append(row, value_form_, cells[i]);
    return cells;
  }

  // Chooses the widths of the columns by the first rows, and prints the names of the columns.
  void BeginLines(std::string& out) {
    constexpr size_t kRows = 10'000;
    std::vector<std::string> heads;
    std::vector<size_t> widths;
    for (const std::string& name : names_) {
      heads.push_back(Printable(name));
      widths.push_back(CountCells(heads.back()));
    }
    for (size_t row = rows_.begin; row < std::min(rows_.end, rows_.begin + kRows); ++row) {
      const std::vector<std::string> cells = CellsOf(row);
      for (size_t i = 0; i < cells.size(); ++i) {
        widths[i] = std::max(widths[i], CountCells(cells[i]));
      }
    }
    const size_t cells = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
    if (cells > *form_.width) {
      form_.format = RowFormat::kFields;
      return;
    }
    lines_.emplace(columns_, widths, std::nullopt);
    if (form_.header) lines_->Append(heads, out);
  }

  void AppendObject(size_t row, std::string& out) const {
    AppendObjectBegin(NumberOf(row), table_ ? "\"values\":{" : "", out);
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (i > 0) out += ',';
      AppendJsonName(names_[i], out);
      out += ':';
      texts_[i]->Append(row, value_form_, out);
    }
    out += table_ ? "}}\n" : "}\n";
  }

  void AppendFields(size_t row, std::string& out) {
    if (form_.header) {
      const std::optional<uint64_t> number = NumberOf(row);
      absl::StrAppend(&out, separator_, "row", number ? absl::StrCat(" ", *number) : "", "\n");
      separator_ = "\n";
    }
    std::vector<std::vector<std::string>> lines;
    const std::vector<std::string> cells = CellsOf(row);
    for (size_t i = 0; i < cells.size(); ++i) lines.push_back({Printable(names_[i]), cells[i]});
    out += AlignText(lines, std::vector<TextColumn>(2));
  }

  std::optional<uint64_t> NumberOf(size_t row) const {
    return has_numbers_ ? std::optional(rows_.batch->ordinal(row) - first_) : std::nullopt;
  }

  RowForm form_;
  const bool table_;
  const bool has_numbers_;
  const uint64_t first_;
  const Form value_form_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ColumnText>> texts_;
  std::vector<TextColumn> columns_;
  std::optional<TextLines> lines_;
  bool begun_ = false;
  const char* separator_ = "";
};

// A few bytes of levels may stand for a record with millions of elements, so there is a limit.
constexpr size_t kMaxRecordBytes = 256 << 20;

// Rows that are nested records. A scan without columns finds their ordinals.
class RecordRows final : public ScannedRows {
 public:
  // `json`: the record is in an object with its ordinal, as in the other rows of kJson.
  RecordRows(bool json, const Input& input, const RowSelection& selection, RowRanges ranges,
             RecordReader reader, std::span<const size_t> leaves, FlushText flush)
      : ScannedRows(input, selection, std::move(ranges)),
        json_(json),
        has_numbers_(!input.applies_rule()),
        first_(input.rows().begin),
        reader_(std::move(reader)),
        flush_(std::move(flush)),
        printer_(reader_.schema(), leaves, text_, [this] { return Drain(); }) {}

  absl::StatusOr<bool> Append(std::string& out) override {
    out_ = &out;
    if (rows_.begin == rows_.end) {
      const uint64_t done = ordinal_;
      CFILE_ASSIGN_OR_RETURN(const bool more, Read());
      ordinal_ = done;
      if (!more) return false;
    }
    ordinal_ = rows_.batch->ordinal(rows_.begin);
    text_.clear();
    if (json_) {
      AppendObjectBegin(has_numbers_ ? std::optional(ordinal_ - first_) : std::nullopt,
                        "\"values\":", text_);
    }
    absl::Status status;
    if (ordinal_ != reader_.record()) status = reader_.Seek(ordinal_);
    if (status.ok()) status = reader_.Next(printer_).status();
    if (!status.ok()) {
      GiveBack();
      return status;
    }
    out += text_;
    if (json_) out.insert(out.size() - 1, "}");  // before the end of the line
    ++rows_.begin;
    ++ordinal_;
    return true;
  }

 private:
  absl::Status Drain() {
    if (flush_) {
      // The end of the line stays, because Append puts a brace before it.
      const size_t size = text_.size() - (text_.ends_with('\n') ? 1 : 0);
      out_->append(text_, 0, size);
      text_.erase(0, size);
      flush_(*out_);
    }
    if (text_.size() <= kMaxRecordBytes) return absl::OkStatus();
    return absl::OutOfRangeError(
        "a record has more than 256 MiB of JSON; cfile-dump rows --threads 1 prints it");
  }

  const bool json_;
  const bool has_numbers_;
  const uint64_t first_;  // the ordinal that is printed as 0
  RecordReader reader_;
  const FlushText flush_;
  std::string text_;  // of a record, or the rest of it
  JsonPrinter printer_;
  std::string* out_ = nullptr;  // of the current call of Append
};

// Adds the columns that `filter` tests and that `columns` lacks.
void AddColumns(const Filter& filter, std::vector<std::string>& columns) {
  if (filter.kind() == Filter::Kind::kColumn) AddName(filter.column(), columns);
  if (filter.other_column()) AddName(*filter.other_column(), columns);
  for (const Filter& operand : filter.operands()) AddColumns(operand, columns);
}

absl::StatusOr<RowPlan> PlanRecords(const Input& input, const CommonOptions& common,
                                    const RowChoice& choice, const RangeChoice& range, bool json,
                                    std::vector<size_t> leaves) {
  RowSelection selection{.options = {.columns = std::vector<std::string>()}, .columns = {}};
  CFILE_ASSIGN_OR_RETURN(selection.options.where, FilterOf(choice, input.table->schema()));
  selection.options.cancelled = &Progress::cancelled();
  RowPlan plan;
  CFILE_ASSIGN_OR_RETURN(plan.ranges, ChooseRows(input, common, range, selection));
  plan.one_thread = selection.options.limit != UINT64_MAX;
  for (const size_t leaf : leaves) selection.columns.push_back(input.table->schema().columns[leaf]);
  plan.columns = ColumnsToRead(selection);
  selection.columns.clear();
  plan.open = [&input, json, selection = std::move(selection), columns = choice.columns,
               leaves = std::move(leaves)](
                  RowRanges ranges, FlushText flush) -> absl::StatusOr<std::unique_ptr<RowText>> {
    // The scan finds the rows that a merge rule leaves, by their ordinals among all stored rows.
    CFILE_ASSIGN_OR_RETURN(RecordReader reader,
                           RecordReader::Open(input.table->StoredRows(), columns));
    return std::make_unique<RecordRows>(json, input, selection, std::move(ranges),
                                        std::move(reader), leaves, std::move(flush));
  };
  return plan;
}

const char* NameOf(RowFormat format) { return format == RowFormat::kHex ? "hex" : "csv"; }

}  // namespace

std::vector<std::string> ColumnsToRead(const RowSelection& selection) {
  std::vector<std::string> names;
  for (const ColumnSchema& column : selection.columns) names.push_back(column.name);
  AddColumns(selection.options.where, names);
  return names;
}

absl::StatusOr<RowPlan> PlanRows(const Input& input, const CommonOptions& common,
                                 const RowChoice& given, const RangeChoice& range,
                                 const RowForm& form) {
  if (input.file && input.file->info().has_levels()) {
    return PlanEntries(*input.file, common, given, range, form);
  }
  RowChoice choice = given;
  const bool table = input.table.has_value() && common.column.empty();
  if (input.table && !table) choice.columns = {common.column};
  if (input.table && !IsFlat(input.table->schema())) {
    const Schema& schema = input.table->schema();
    std::vector<size_t> leaves(schema.columns.size());
    std::iota(leaves.begin(), leaves.end(), size_t{0});
    if (!choice.columns.empty()) {
      std::vector<std::string> known;
      for (size_t i = 1; i < schema.tree->nodes().size(); ++i)
        known.push_back(schema.tree->Path(i));
      CFILE_RETURN_IF_ERROR(CheckColumns(choice.columns, common.path, known));
      CFILE_ASSIGN_OR_RETURN(leaves, schema.tree->SelectLeaves(choice.columns));
    }
    const auto nested = std::find_if(leaves.begin(), leaves.end(), [&](size_t leaf) {
      return schema.columns[leaf].has_levels();
    });
    const bool json = form.format == RowFormat::kJson;
    if (form.format == RowFormat::kJsonLines ||
        (nested != leaves.end() && form.format != RowFormat::kCsv &&
         form.format != RowFormat::kHex)) {
      return PlanRecords(input, common, choice, range, json, std::move(leaves));
    }
    if (nested != leaves.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "column ", NameAsWritten(schema.columns[*nested].name), " is nested, so a field of ",
          NameOf(form.format),
          " cannot hold it: use --format jsonl, or choose other columns with --columns"));
    }
    const auto is_group = [&](const std::string& name) { return !schema.Find(name); };
    if (std::any_of(choice.columns.begin(), choice.columns.end(), is_group)) {
      choice.columns.clear();
      for (const size_t leaf : leaves) choice.columns.push_back(schema.columns[leaf].name);
    }
  }
  CFILE_ASSIGN_OR_RETURN(RowSelection selection, SelectRows(input, choice));
  selection.options.cancelled = &Progress::cancelled();
  RowPlan plan;
  CFILE_ASSIGN_OR_RETURN(plan.ranges, ChooseRows(input, common, range, selection));
  plan.one_thread = selection.options.limit != UINT64_MAX || form.width.has_value();
  if (input.table) plan.columns = ColumnsToRead(selection);
  const bool json = form.format == RowFormat::kJsonLines;
  if (json || form.format == RowFormat::kCsv) {
    const LineForm line{.json = json, .delimiter = form.delimiter};
    if (!json && form.header) plan.header = CsvHeader(selection.columns, form.delimiter);
    plan.open = [&input, line, selection = std::move(selection)](
                    RowRanges ranges,
                    const FlushText&) -> absl::StatusOr<std::unique_ptr<RowText>> {
      return std::make_unique<LineRows>(line, input, selection, std::move(ranges));
    };
    return plan;
  }
  RowForm shown = form;
  if (!table) shown.width.reset();  // a single column is aligned as it is
  if (table && form.header && !shown.width &&
      (form.format == RowFormat::kText || form.format == RowFormat::kHex)) {
    for (const ColumnSchema& column : selection.columns) {
      if (&column != selection.columns.data()) plan.header += '\t';
      AppendPrintable(column.name, plan.header);
    }
    plan.header += '\n';
  }
  plan.open = [&input, shown, table, selection = std::move(selection)](
                  RowRanges ranges, const FlushText&) -> absl::StatusOr<std::unique_ptr<RowText>> {
    return std::make_unique<ValueRows>(shown, table, input.rows().begin, input, selection,
                                       std::move(ranges));
  };
  return plan;
}

}  // namespace cfile::tools
