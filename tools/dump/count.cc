// cfile-dump count: how many rows match, or have each value of a column.
#include "tools/dump/commands.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/dump/column_text.h"
#include "tools/dump/row_ranges.h"

namespace cfile::tools {
namespace {

struct CountOptions {
  RowChoice choice;
  std::vector<std::string> by;
  std::string distinct;
  std::optional<uint64_t> top;
  size_t memory_bytes = size_t{1} << 30;  // for the groups

  bool grouped() const { return !by.empty() || !distinct.empty(); }
};

struct Counts {
  uint64_t rows = 0;
  // By the texts of the values with tabs between them (text does not contain tabs), or with commas
  // if the form is JSON.
  std::unordered_map<std::string, uint64_t> groups;
};

absl::StatusOr<Counts> CountRows(const Input& input, const CountOptions& options, Form form) {
  Counts counts;
  if (!options.grouped() && !options.choice.where && !input.applies_rule()) {
    counts.rows = input.num_rows();
    return counts;
  }
  RowSelection selection;
  if (options.grouped() || input.file) {
    RowChoice choice = options.choice;
    choice.columns = options.distinct.empty() ? options.by : std::vector{options.distinct};
    if (input.file) {
      for (const std::string& name : choice.columns) {
        if (name == "value") continue;
        return absl::InvalidArgumentError("the column of a file is called value");
      }
      choice.columns.clear();
    }
    CFILE_ASSIGN_OR_RETURN(selection, SelectRows(input, choice));
  } else {
    CFILE_ASSIGN_OR_RETURN(selection.options.where,
                           FilterOf(options.choice, input.table->schema()));
  }
  if (!options.grouped()) selection.options.columns = std::vector<std::string>();
  std::vector<std::unique_ptr<ColumnText>> texts;
  for (const ColumnSchema& column : selection.columns) texts.push_back(NewColumnText(column.type));
  Progress progress;
  progress.Begin("counting", input.rows().end, Progress::Unit::kRows);
  selection.options.range = input.rows();
  CFILE_ASSIGN_OR_RETURN(TableScan scan, selection.NewScan(input));
  constexpr size_t kGroupBytes = 100;  // about what a group needs beside its key
  size_t group_bytes = 0;
  std::string key;
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const TableBatch batch, scan.Next());
    if (batch.empty()) return counts;
    const size_t rows = batch.num_rows();
    counts.rows += rows;
    CFILE_RETURN_IF_ERROR(progress.Update(0, batch.ordinal(rows - 1)));
    if (!options.grouped()) continue;
    for (size_t i = 0; i < texts.size(); ++i) texts[i]->Open(batch, i);
    for (size_t row = 0; row < rows; ++row) {
      key.clear();
      for (const auto& text : texts) {
        if (&text != texts.data()) key += form == Form::kJson ? ',' : '\t';
        text->Append(row, form, key);
      }
      const auto [group, added] = counts.groups.try_emplace(key);
      ++group->second;
      if (!added) continue;
      group_bytes += kGroupBytes + key.size();
      if (group_bytes <= options.memory_bytes) continue;
      return absl::OutOfRangeError(absl::StrCat("the different values need more than ",
                                                options.memory_bytes, " bytes: raise --memory"));
    }
  }
}

// The groups with the most rows first, at most `top`.
std::vector<std::pair<std::string, uint64_t>> Sorted(
    const std::unordered_map<std::string, uint64_t>& groups, const std::optional<uint64_t>& top) {
  std::vector<std::pair<std::string, uint64_t>> sorted(groups.begin(), groups.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (top && *top < sorted.size()) sorted.resize(*top);
  return sorted;
}

Outcome PrintCounts(const CountOptions& options, const CommonOptions& common, Output& output) {
  if (options.top && options.by.empty()) return absl::InvalidArgumentError("--top needs --by");
  CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(common));
  const Form form = common.json ? Form::kJson : Form::kText;
  CFILE_ASSIGN_OR_RETURN(Counts counts, CountRows(input, options, form));
  if (!options.distinct.empty()) counts.groups.erase("null");  // as SQL's count(distinct)
  const auto groups = Sorted(counts.groups, options.top);
  const uint64_t distinct = counts.groups.size();
  Document document(common.json, common.path);
  document.AddJson({{"rows", counts.rows}});
  if (!options.distinct.empty()) document.AddJson({{"distinct", distinct}});
  if (options.by.empty()) {
    document.AddLine(options.distinct.empty() ? counts.rows : distinct);
  } else {
    std::string names;
    for (const std::string& name : options.by) {
      if (&name != options.by.data()) names += '\t';
      AppendPrintable(name, names);
    }
    std::string with_tabs = absl::StrCat(names, "\trows\n");
    Table table(common.json, {{names, {.shorten = 1}}, {"rows", kNumberColumn}});
    for (const auto& [values, rows] : groups) {
      Record& record = table.Add();
      if (common.json) record.AddJson({{"values", Json::FromText(absl::StrCat("[", values, "]"))}});
      record.AddText("values", values);
      record.Add("rows", rows);
      absl::StrAppend(&with_tabs, values, "\t", rows, "\n");
    }
    document.AddJson({{"groups", table}});
    const bool aligned = isatty(STDOUT_FILENO) != 0 && options.by.size() == 1;
    document.Append(aligned ? table.text() : with_tabs);
  }
  document.PrintTo(output);
  return kFine;
}

}  // namespace

void AddCountCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "count", "Count rows: those that match, those of each value, or distinct values",
      "Reads only the columns that are named, once. Without options, no value is read, unless the\n"
      "table has a merge rule. --by prints the values with the most rows first. --distinct does\n"
      "not count nulls, as in SQL.\n"
      "`cfile-dump rows --help` explains conditions.\n\n"
      "There are no other aggregates: DuckDB has them, and reads a table as Arrow or Parquet:\n"
      "  python3 -c \"import cfile, duckdb; t = cfile.open('flights')\n"
      "  print(duckdb.sql('select carrier, avg(dep_delay) from t group by all'))\"\n"
      "  cfile-dump rows flights -o flights.parquet\n"
      "  duckdb -c \"select carrier, avg(dep_delay) from 'flights.parquet' group by all\"\n\n"
      "Examples:\n"
      "  cfile-dump count flights --where 'dep_delay > 60'\n"
      "  cfile-dump count flights --by carrier --top 10\n"
      "  cfile-dump count flights --by origin,carrier --where 'month = 7'\n"
      "  cfile-dump count flights --distinct tailnum");
  auto options = std::make_shared<CountOptions>();
  AddWhereOption(command, options->choice);
  command.AddNames("--by NAME,...", &options->by,
                   "Count the rows of each value of this column, or of each combination of values; "
                   "the column of a file is called value");
  command.Add("--top N", &options->top, "Only the N values with the most rows",
              NumberIn(0, UINT64_MAX));
  command.Add("--distinct NAME", &options->distinct, "Count the different values of this column")
      .excludes = {"--by"};
  command.Add("--memory BYTES", &options->memory_bytes,
              "For the different values and their counts (default: 1GiB)", BytesIn(1, SIZE_MAX));
  command.Add("--part PART", &common.part, kRowsOfPart);
  SetRowsAction(command, common, action, With(options, PrintCounts));
}

}  // namespace cfile::tools
