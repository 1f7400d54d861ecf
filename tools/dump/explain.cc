// cfile-dump explain: what a scan with a condition reads, and what it skips and why.
#include "tools/dump/commands.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cfile/filter.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "cfile/table_scan.h"
#include "tools/document.h"
#include "tools/dump/row_ranges.h"

namespace cfile::tools {
namespace {

// The scan of one part of a table, or of a file.
struct PartScan {
  std::string name;  // the name of the part; empty for a file
  uint64_t num_rows = 0;
  TableScanCounters counters = {};
};

// The data blocks of a column whose values the scan returns.
struct ColumnBlocks {
  std::string name;
  uint64_t blocks_read = 0;
  uint64_t blocks = 0;  // all data blocks of the column
};

struct Explanation {
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;
  std::vector<PartScan> parts = {};
  TableScanCounters total = {};
  std::vector<std::string> tests = {};  // each condition: "month >= 7"
  // For each condition, the number of all data blocks of its column.
  std::vector<uint64_t> blocks_of_conditions = {};
  std::vector<ColumnBlocks> columns = {};
  ReaderCounters reads = {};
  std::chrono::nanoseconds time = {};
};

const char* NameOf(PredicateKind kind) {
  constexpr const char* kNames[] = {"=",           "!=",      "<",     "<=",       ">",
                                    ">=",          "between", "in",    "begins",   "is null",
                                    "is not null", "like",    "ilike", "contains", "~"};
  return kNames[static_cast<size_t>(kind)];
}

// Returns the value as the user writes it in --where: in single quotes, unless it is one word.
std::string ValueAsWritten(const std::string& value) {
  const std::string written = NameAsWritten(value);
  if (written == value) return value;
  return absl::StrCat("'", absl::StrReplaceAll(value, {{"'", "''"}}), "'");
}

std::string TextOf(const TextCondition& condition) {
  std::string text = absl::StrCat(NameAsWritten(condition.column), " ", NameOf(condition.kind));
  if (condition.values.empty() && condition.kind == PredicateKind::kEqual)
    return NameAsWritten(condition.column);
  std::vector<std::string> values;
  for (const TextCondition::Value& value : condition.values) {
    const bool is_name = value.form == TextCondition::Value::Form::kName;
    values.push_back(is_name ? NameAsWritten(value.text) : ValueAsWritten(value.text));
  }
  if (condition.kind == PredicateKind::kIn) {
    return absl::StrCat(text, " (", absl::StrJoin(values, ", "), ")");
  }
  const bool between = condition.kind == PredicateKind::kBetween;
  if (!values.empty())
    absl::StrAppend(&text, " ", absl::StrJoin(values, between ? " and " : " escape "));
  return text;
}

// Appends the conditions of a filter in the order in which a scan counts them. `negated`: `filter`
// is inside an odd number of NOTs.
void AppendTests(const ParsedFilter& filter, bool negated, std::vector<std::string>& tests) {
  if (filter.kind == Filter::Kind::kColumn) {
    tests.push_back(absl::StrCat(negated ? "not " : "", TextOf(filter.condition)));
  }
  const bool negates = filter.kind == Filter::Kind::kNot;
  for (const ParsedFilter& operand : filter.operands) {
    AppendTests(operand, negated != negates, tests);
  }
}

void Add(const TableScanCounters& part, TableScanCounters& total) {
  total.conditions.resize(part.conditions.size());
  for (size_t i = 0; i < part.conditions.size(); ++i) {
    const ConditionCounters& from = part.conditions[i];
    ConditionCounters& to = total.conditions[i];
    to.column = from.column;
    to.rows_excluded_by_bounds += from.rows_excluded_by_bounds;
    to.rows_excluded_by_statistics += from.rows_excluded_by_statistics;
    to.rows_excluded_by_bloom_filter += from.rows_excluded_by_bloom_filter;
    to.rows_excluded_by_value_index += from.rows_excluded_by_value_index;
    to.blocks_read += from.blocks_read;
    to.rows_compared += from.rows_compared;
  }
  total.blocks_read.resize(part.blocks_read.size());
  for (size_t i = 0; i < part.blocks_read.size(); ++i) total.blocks_read[i] += part.blocks_read[i];
  total.parts_skipped += part.parts_skipped;
  total.rows_returned += part.rows_returned;
}

// Runs the scan to its end. Sets the counters of `part`, and `columns` to those of the scan.
absl::Status RunScan(TableScan scan, PartScan& part, std::vector<size_t>& columns,
                     Progress& progress) {
  columns = scan.columns();
  while (true) {
    CFILE_ASSIGN_OR_RETURN(const TableBatch batch, scan.Next());
    part.counters = scan.counters();
    if (batch.empty()) return absl::OkStatus();
    CFILE_RETURN_IF_ERROR(progress.Update(0, batch.ordinal(batch.num_rows() - 1) + 1));
  }
}

absl::StatusOr<uint64_t> BlocksOf(const Reader& reader) {
  const IndexKind kind =
      reader.info().positional_index_root ? IndexKind::kPositional : IndexKind::kValue;
  uint64_t blocks = 0;
  CFILE_RETURN_IF_ERROR(VisitIndex(reader, kind, [&](const IndexNodeInfo& node) {
    if (node.leaf) blocks += node.entries.size();
    return true;
  }));
  return blocks;
}

// The number of data blocks of a column, in all parts that are read.
absl::StatusOr<uint64_t> BlocksOf(const Input& input, const std::string& column) {
  if (input.file) return BlocksOf(*input.file);
  const size_t index = *input.table->schema().Find(column);
  uint64_t blocks = 0;
  for (size_t part = input.parts().begin; part < input.parts().end; ++part) {
    CFILE_ASSIGN_OR_RETURN(const std::string path, input.table->part_file(part, index));
    if (path.empty()) continue;  // the part is older than the column
    CFILE_ASSIGN_OR_RETURN(const Reader file, input.table->OpenColumn(part, index));
    CFILE_ASSIGN_OR_RETURN(const uint64_t more, BlocksOf(file));
    blocks += more;
  }
  return blocks;
}

absl::StatusOr<Explanation> Explain(const Input& input, const RowChoice& choice) {
  Explanation result{.num_rows = input.num_rows()};
  Schema schema;
  if (input.file) {
    schema.columns.push_back({.name = "value", .type = input.file->type()});
  } else {
    schema = input.table->schema();
  }
  RowSelection selection;
  CFILE_ASSIGN_OR_RETURN(selection.options.where, FilterOf(choice, schema));
  if (!choice.columns.empty()) selection.options.columns = choice.columns;
  if (choice.where) {
    CFILE_ASSIGN_OR_RETURN(const ParsedFilter parsed, ParseFilter(*choice.where));
    AppendTests(parsed, /*negated=*/false, result.tests);
  }

  Progress progress;
  progress.Begin("scanning", result.num_rows, Progress::Unit::kRows);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<size_t> columns;
  const OrdinalRange parts = input.file ? OrdinalRange{0, 1} : input.parts();
  for (size_t number = parts.begin; number < parts.end; ++number) {
    PartInfo info{.num_rows = result.num_rows};
    if (input.file) {
      info.size_bytes = input.file->info().file_size_bytes;
    } else {
      CFILE_ASSIGN_OR_RETURN(info, input.table->part(number));
    }
    PartScan& part =
        result.parts.emplace_back(PartScan{.name = info.name, .num_rows = info.num_rows});
    result.size_bytes += info.size_bytes;
    if (info.num_rows == 0) continue;
    selection.options.range = {info.first_ordinal, info.first_ordinal + info.num_rows};
    CFILE_ASSIGN_OR_RETURN(TableScan scan, selection.NewScan(input));
    CFILE_RETURN_IF_ERROR(RunScan(std::move(scan), part, columns, progress));
  }
  result.time = std::chrono::steady_clock::now() - begin;
  result.reads = input.counters();

  for (const PartScan& part : result.parts) {
    if (part.num_rows > 0) Add(part.counters, result.total);
  }
  for (const ConditionCounters& condition : result.total.conditions) {
    CFILE_ASSIGN_OR_RETURN(const uint64_t blocks, BlocksOf(input, condition.column));
    result.blocks_of_conditions.push_back(blocks);
  }
  for (size_t i = 0; i < columns.size() && i < result.total.blocks_read.size(); ++i) {
    const std::string& name = schema.columns[columns[i]].name;
    CFILE_ASSIGN_OR_RETURN(const uint64_t blocks, BlocksOf(input, name));
    result.columns.push_back({name, result.total.blocks_read[i], blocks});
  }
  return result;
}

// A way to exclude rows without reading their values, such as statistics.
struct Means {
  const char* name;
  const char* key;  // in JSON
  uint64_t ConditionCounters::*rows_excluded;
  int drop;  // see TextColumn
};
constexpr Means kMeans[] = {
    {"bounds", "rows_excluded_by_bounds", &ConditionCounters::rows_excluded_by_bounds, 5},
    {"statistics", "rows_excluded_by_statistics", &ConditionCounters::rows_excluded_by_statistics,
     4},
    {"Bloom filter", "rows_excluded_by_bloom_filter",
     &ConditionCounters::rows_excluded_by_bloom_filter, 2},
    {"index", "rows_excluded_by_value_index", &ConditionCounters::rows_excluded_by_value_index, 3}};

bool ExcludesRows(const Means& means, const Explanation& explanation) {
  return std::ranges::any_of(explanation.total.conditions, [&](const ConditionCounters& each) {
    return each.*means.rows_excluded > 0;
  });
}

// Returns how many rows each condition excluded, with a column for each of kMeans. In text, columns
// of means that excluded no row are left out. `counters`: those of a part, or explanation.total.
Table ConditionsOf(const TableScanCounters& counters, const Explanation& explanation, bool json) {
  std::vector<Heading> headings = {{"condition", {.shorten = 1, .cut = TextColumn::Cut::kMiddle}}};
  for (const Means& means : kMeans) {
    if (ExcludesRows(means, explanation))
      headings.push_back({means.name, {.right = true, .drop = means.drop}});
  }
  // The rows compared and the blocks read explain a slow scan, so these columns are always shown.
  headings.push_back({"compared", kNumberColumn});
  headings.push_back({"blocks", kNumberColumn});
  headings.push_back({"of", {.right = true, .drop = 1}});
  Table table(json, std::move(headings));
  for (size_t i = 0; i < counters.conditions.size(); ++i) {
    const ConditionCounters& condition = counters.conditions[i];
    const bool has_text = i < explanation.tests.size();
    Record& record = table.Add();
    record.AddText("condition", TerminalSafe(has_text ? explanation.tests[i] : condition.column));
    record.AddJson({{"column", condition.column}});
    if (has_text) record.AddJson({{"condition", explanation.tests[i]}});
    for (const Means& means : kMeans) {
      if (json || ExcludesRows(means, explanation))
        record.AddCount(means.key, condition.*means.rows_excluded);
    }
    record.AddCount("rows_compared", condition.rows_compared);
    record.AddCount("blocks_read", condition.blocks_read);
    if (&counters == &explanation.total)
      record.AddCount("blocks", explanation.blocks_of_conditions[i]);
  }
  return table;
}

Table PartsOf(const Explanation& explanation) {
  Table table(/*json=*/true);
  for (const PartScan& part : explanation.parts) {
    Record& record = table.Add();
    record.AddBytes("name", part.name);
    record.Add("rows", part.num_rows);
    record.AddFlag("skipped", part.counters.parts_skipped > 0);
    record.Add("matches", part.counters.rows_returned);
    record.AddJson({{"conditions", ConditionsOf(part.counters, explanation, true)}});
  }
  return table;
}

Outcome PrintExplanation(const RowChoice& choice, const CommonOptions& common, Output& output) {
  CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(common));
  CFILE_ASSIGN_OR_RETURN(const Explanation explanation, Explain(input, choice));
  const TableScanCounters& total = explanation.total;
  Document document(common.json, common.path);
  const auto line = [&](const auto&... parts) {
    document.AddLine(WrappedForOutput(absl::StrCat(parts...), 0));
  };
  document.AddJson({{"rows", explanation.num_rows}, {"matches", total.rows_returned}});
  line(WithCommas(total.rows_returned), " of ", WithCommas(explanation.num_rows),
       input.applies_rule() ? " stored" : "", explanation.num_rows == 1 ? " row" : " rows",
       " match");
  if (input.table) {
    document.AddJson({{"parts_skipped", total.parts_skipped}});
    if (common.json) document.AddTable("parts", PartsOf(explanation));
    line("parts skipped by their bounds in table.cft: ", WithCommas(total.parts_skipped), " of ",
         WithCommas(explanation.parts.size()));
  }
  if (!total.conditions.empty()) {
    document.Append("\n");
    line("rows that each condition excluded (by what), rows compared, and blocks read");
  }
  document.AddTable("conditions", ConditionsOf(total, explanation, common.json));
  std::vector<std::string> without;  // the names of the means that excluded no row
  for (const Means& means : kMeans) {
    const bool possible = input.table || means.name != kMeans[0].name;  // only tables have bounds
    if (possible && !ExcludesRows(means, explanation)) without.emplace_back(means.name);
  }
  if (!total.conditions.empty() && !without.empty())
    line("no rows were excluded by: ", absl::StrJoin(without, ", "));
  if (!explanation.columns.empty())
    document.Append("\nblocks that were read for the values of the rows that match\n");
  Table columns(common.json, {{"column", {.shorten = 1, .cut = TextColumn::Cut::kMiddle}},
                              {"blocks read", kNumberColumn},
                              {"of", kNumberColumn}});
  for (const ColumnBlocks& column : explanation.columns) {
    Record& record = columns.Add();
    record.Add("name", column.name, TerminalSafe(column.name));
    record.AddCount("blocks_read", column.blocks_read);
    record.AddCount("blocks", column.blocks);
  }
  document.AddTable("columns", columns);
  document.AddJson({{"source_requests", explanation.reads.source_requests},
                    {"source_bytes", explanation.reads.source_bytes},
                    {"size", explanation.size_bytes},
                    {"nanoseconds", explanation.time.count()}});
  document.AddLine("\nread ", WithCommas(explanation.reads.source_bytes), " bytes in ",
                   Plural(explanation.reads.source_requests, "request"),
                   ", with footers, indexes and read-ahead\nthe files have ",
                   WithCommas(explanation.size_bytes), " bytes; the scan took ",
                   absl::StrFormat("%.1f ms", static_cast<double>(explanation.time.count()) / 1e6));
  document.PrintTo(output);
  return kFine;
}

}  // namespace

void AddExplainCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "explain", "Run a scan, and say what it read and what it skipped, and why",
      "Runs the scan of `cfile-dump rows` with these options, and counts instead of printing.\n"
      "A condition excludes rows without reading their values if\n"
      "  the bounds of a part in table.cft (the least and greatest value) exclude it,\n"
      "  the statistics of the file or of a block exclude it,\n"
      "  the Bloom filter of the file does not have the value, or\n"
      "  the value index, or the index of compound keys, shows where the keys lie.\n"
      "The conditions are evaluated one after another, so a row that one condition has excluded\n"
      "is not counted for the others, and a block that several conditions on one column need is\n"
      "counted for the first. The values of the columns (default: all) are read only at the rows\n"
      "that match. Bytes include the ends of files, which are read when a file is opened,\n"
      "indexes, and read-ahead, so some bytes may be read twice. A block that was read ahead but\n"
      "not used does not count as a block that was read.\n"
      "`find` and `rows --row` have an option --explain.\n\n"
      "Examples:\n"
      "  cfile-dump explain flights --where \"carrier = 'UA' and month between 6 and 8\"\n"
      "  cfile-dump explain flights --where 'dep_delay > 600' --columns day --json\n"
      "  cfile-dump explain keys.cfile --where 'value >= 1007'");
  auto choice = std::make_shared<RowChoice>();
  AddRowChoiceOptions(command, *choice);
  command.Add("--part PART", &common.part, kAllParts);
  SetRowsAction(command, common, action, With(choice, PrintExplanation));
}

}  // namespace cfile::tools
