#include "tools/dump/rows.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/dump/column_text.h"
#include "tools/dump/where.h"
#include "tools/dump/where_parser.h"

namespace cfile::tools {
namespace {

struct Column {
  std::string name;
  std::unique_ptr<ColumnText> text;
};

absl::StatusOr<std::vector<Column>> OpenColumns(const Input& input, const std::string& only,
                                                const std::vector<std::string>& names) {
  std::vector<Column> columns;
  if (input.file) {
    if (!names.empty())
      return absl::InvalidArgumentError("--columns is for tables, but this is a single column");
    auto text = NewColumnText(*input.file);
    if (!text.ok()) return text.status();
    columns.push_back({"value", *std::move(text)});
    return columns;
  }
  std::vector<size_t> chosen;
  for (const std::string& name : only.empty() ? names : std::vector{only}) {
    const auto column = FindColumn(*input.table, name);
    if (!column.ok()) return column.status();
    chosen.push_back(*column);
  }
  if (chosen.empty()) {
    for (size_t i = 0; i < input.table->schema().columns.size(); ++i) chosen.push_back(i);
  }
  for (const size_t column : chosen) {
    if (input.table->schema().columns[column].has_levels()) {
      return absl::InvalidArgumentError(
          absl::StrCat("column ", NameAsWritten(input.table->schema().columns[column].name),
                       " is nested: cfile-dump records shows it"));
    }
    auto text = NewColumnText(*input.table, column);
    if (!text.ok()) return text.status();
    columns.push_back(
        {only.empty() ? input.table->schema().columns[column].name : "value", *std::move(text)});
  }
  return columns;
}

// Appends one line. After an error `out` is unchanged.
absl::Status AppendTextRow(const std::vector<Column>& columns, std::string& out) {
  const size_t start = out.size();
  for (const Column& column : columns) {
    if (&column != columns.data()) out += '\t';
    if (absl::Status status = column.text->AppendNext(Form::kText, out); !status.ok()) {
      out.resize(start);
      return status;
    }
  }
  out += '\n';
  return absl::OkStatus();
}

absl::Status AppendJsonRow(const std::vector<Column>& columns, bool table, uint64_t ordinal,
                           std::string& out) {
  const size_t start = out.size();
  absl::StrAppend(&out, "{\"schema_version\":1,\"ordinal\":", ordinal,
                  table ? ",\"values\":{" : ",");
  for (const Column& column : columns) {
    if (&column != columns.data()) out += ',';
    AppendJsonName(column.name, out);
    out += ':';
    if (absl::Status status = column.text->AppendNext(Form::kJson, out); !status.ok()) {
      out.resize(start);
      return status;
    }
  }
  out += table ? "}}\n" : "}\n";
  return absl::OkStatus();
}

absl::Status AppendRow(const std::vector<Column>& columns, const CommonOptions& common, bool table,
                       uint64_t ordinal, std::string& out) {
  return common.json ? AppendJsonRow(columns, table, ordinal, out) : AppendTextRow(columns, out);
}

absl::Status SeekAll(const std::vector<Column>& columns, uint64_t ordinal) {
  for (const Column& column : columns) {
    if (absl::Status status = column.text->Seek(ordinal); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Prints the first `count` rows that `finder` finds.
absl::Status PrintFound(const std::vector<Column>& columns, const CommonOptions& common, bool table,
                        uint64_t count, RowFinder& finder, Output& output) {
  std::optional<uint64_t> next;  // the ordinal at which the columns are
  for (; count > 0; --count) {
    const auto found = finder.Next();
    if (!found.ok()) return found.status();
    if (!found->has_value()) break;
    const uint64_t ordinal = **found;
    absl::Status status;
    if (ordinal != next) status = SeekAll(columns, ordinal);
    if (status.ok()) status = AppendRow(columns, common, table, ordinal, output.text);
    if (!status.ok()) return status;
    if (!output.Drain()) break;
    next = ordinal + 1;
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode PrintRows(const Input& input, const CommonOptions& common,
                   const std::vector<std::string>& columns, uint64_t ordinal, uint64_t count,
                   const std::optional<std::string>& where, Output& output) {
  const auto opened = OpenColumns(input, common.column, columns);
  if (!opened.ok()) return output.Fail(opened.status());
  std::optional<RowFinder> finder;
  if (where) {
    auto found = RowFinder::Open(input, *where, ordinal);
    if (!found.ok()) return output.Fail(found.status());
    finder = *std::move(found);
  }
  const uint64_t num_rows = input.num_rows();
  if (ordinal > num_rows) {
    return output.Fail(
        absl::OutOfRangeError(absl::StrCat("ordinal ", ordinal, " is beyond the end: ", common.path,
                                           " has ", Plural(num_rows, "row"))));
  }
  const bool table = input.table.has_value() && common.column.empty();
  if (table && !common.json) {
    for (const Column& column : *opened) {
      if (&column != opened->data()) output.text += '\t';
      AppendPrintable(column.name, output.text);
    }
    output.text += '\n';
  }
  if (finder) {
    const absl::Status status = PrintFound(*opened, common, table, count, *finder, output);
    return status.ok() ? output.Finish(kFine) : output.Fail(status);
  }
  const uint64_t end = ordinal + std::min(count, num_rows - ordinal);
  if (ordinal < end) {
    if (absl::Status status = SeekAll(*opened, ordinal); !status.ok()) return output.Fail(status);
  }
  for (; ordinal < end; ++ordinal) {
    const absl::Status status = AppendRow(*opened, common, table, ordinal, output.text);
    if (!status.ok()) return output.Fail(status);
    if (!output.Drain()) break;
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
