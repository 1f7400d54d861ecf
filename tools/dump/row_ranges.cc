#include "tools/dump/row_ranges.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/key_text.h"
#include "tools/progress.h"

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

constexpr uint64_t kMaxSample = 10'000'000;

// Appends a row that follows the rows of `ranges`.
void AppendRow(uint64_t ordinal, RowRanges& ranges) {
  if (!ranges.empty() && ranges.back().end == ordinal) {
    ++ranges.back().end;
  } else {
    ranges.push_back({ordinal, ordinal + 1});
  }
}

// `ranges` without the first `skipped` rows, and of the rest the first `count`.
RowRanges Cut(const RowRanges& ranges, uint64_t skipped, uint64_t count) {
  RowRanges cut;
  for (OrdinalRange range : ranges) {
    const uint64_t before = std::min(skipped, range.size());
    skipped -= before;
    range.begin += before;
    range.end = range.begin + std::min(count, range.size());
    count -= range.size();
    if (range.size() > 0) cut.push_back(range);
  }
  return cut;
}

// `count` rows, chosen by chance so that each set of rows has the same probability (R. W. Floyd's
// algorithm). std::uniform_int_distribution would choose other rows on other platforms; remainders
// of 64 random bits are uniform enough.
RowRanges Sample(const RowRanges& ranges, uint64_t count, uint64_t seed) {
  const uint64_t rows = RowsOf(ranges);
  if (count >= rows) return ranges;
  std::mt19937_64 chance(seed);
  std::set<uint64_t> chosen;
  for (uint64_t last = rows - count; last < rows; ++last) {
    if (!chosen.insert(chance() % (last + 1)).second) chosen.insert(last);
  }
  RowRanges sample;
  size_t range = 0;
  uint64_t before = 0;  // the rows of the ranges before `range`
  for (const uint64_t row : chosen) {
    while (row - before >= ranges[range].size()) before += ranges[range++].size();
    AppendRow(ranges[range].begin + (row - before), sample);
  }
  return sample;
}

// Searches the rows of `ranges` that match the condition of `selection`, and calls `found` with
// each ordinal until it returns false. `reverse`: begins with the last row.
absl::Status FindMatches(const Input& input, const RowSelection& selection, const RowRanges& ranges,
                         bool reverse, const std::function<bool(uint64_t)>& found) {
  Progress progress;
  progress.Begin("searching", RowsOf(ranges), Progress::Unit::kRows);
  RowSelection search = selection;
  search.options.columns = std::vector<std::string>();
  search.options.reverse = reverse;
  uint64_t done = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const OrdinalRange& range = ranges[reverse ? ranges.size() - 1 - i : i];
    search.options.range = range;
    CFILE_ASSIGN_OR_RETURN(TableScan scan, search.NewScan(input));
    while (true) {
      CFILE_ASSIGN_OR_RETURN(const TableBatch batch, scan.Next());
      if (batch.empty()) break;
      const size_t rows = batch.num_rows();
      for (size_t row = 0; row < rows; ++row) {
        if (!found(batch.ordinal(reverse ? rows - 1 - row : row))) return absl::OkStatus();
      }
      const uint64_t in_range =
          reverse ? range.end - batch.ordinal(0) : batch.ordinal(rows - 1) + 1 - range.begin;
      CFILE_RETURN_IF_ERROR(progress.Update(0, done + in_range));
    }
    done += range.size();
  }
  return absl::OkStatus();
}

// Samples the rows that match the condition (reservoir sampling): at any time, all rows that were
// found so far have the same probability to be kept.
absl::StatusOr<RowRanges> SampleMatches(const Input& input, const RowSelection& selection,
                                        const RowRanges& ranges, uint64_t count, uint64_t seed) {
  std::mt19937_64 chance(seed);
  std::vector<uint64_t> kept;
  uint64_t matches = 0;
  CFILE_RETURN_IF_ERROR(FindMatches(input, selection, ranges, /*reverse=*/false, [&](uint64_t row) {
    ++matches;
    if (kept.size() < count) {
      kept.push_back(row);
    } else if (const uint64_t place = chance() % matches; place < count) {
      kept[place] = row;
    }
    return true;
  }));
  std::sort(kept.begin(), kept.end());
  RowRanges sample;
  for (const uint64_t row : kept) AppendRow(row, sample);
  return sample;
}

// The rows of a file whose values are at least `from` and less than `to`.
template <typename T>
absl::StatusOr<OrdinalRange> KeyRange(const Reader& file, const std::optional<T>& from,
                                      const std::optional<T>& to) {
  CFILE_ASSIGN_OR_RETURN(Cursor<T> cursor, file.NewCursor<T>());
  return cursor.SeekToKeyRange(from, to);
}

// The rows whose keys are at least `from` and less than `to`: one range for each part that has such
// rows.
template <typename T>
absl::StatusOr<RowRanges> KeyRanges(const Input& input, size_t column, const std::optional<T>& from,
                                    const std::optional<T>& to) {
  RowRanges ranges;
  if (input.file) {
    CFILE_ASSIGN_OR_RETURN(const OrdinalRange range, KeyRange<T>(*input.file, from, to));
    if (range.size() > 0) ranges.push_back(range);
    return ranges;
  }
  for (size_t number = 0; number < input.table->num_parts(); ++number) {
    CFILE_ASSIGN_OR_RETURN(const PartInfo part, input.table->part(number));
    if (part.num_rows == 0) continue;
    CFILE_ASSIGN_OR_RETURN(const Reader file, input.table->OpenColumn(number, column));
    CFILE_ASSIGN_OR_RETURN(const OrdinalRange range, KeyRange<T>(file, from, to));
    if (range.size() == 0) continue;
    ranges.push_back({part.first_ordinal + range.begin, part.first_ordinal + range.end});
  }
  return ranges;
}

absl::StatusOr<RowRanges> RangesOfCompoundKeys(const Input& input, const RangeChoice& choice) {
  const std::vector<KeyColumn> columns = input.table->schema().key_types();
  CFILE_ASSIGN_OR_RETURN(const CompoundKey from, ParseCompoundKey(columns, choice.from));
  CFILE_ASSIGN_OR_RETURN(const CompoundKey to, ParseCompoundKey(columns, choice.to));
  std::optional<std::string_view> low, high;
  if (!choice.from.empty()) low = from.bytes();
  if (!choice.to.empty()) high = to.bytes();
  return KeyRanges<std::string_view>(input, *input.table->schema().key_index(), low, high);
}

absl::StatusOr<RowRanges> RangesOfKeys(const Input& input, const CommonOptions& common,
                                       const RangeChoice& choice) {
  if (input.table && input.table->schema().key_index()) return RangesOfCompoundKeys(input, choice);
  if (choice.from.size() > 1 || choice.to.size() > 1) {
    return absl::InvalidArgumentError(
        "--from and --to: expected one KEY: only tables sorted by several columns have keys of "
        "several values");
  }
  size_t column = 0;
  if (input.table) {
    CFILE_ASSIGN_OR_RETURN(column, FindKeyColumn(*input.table, common.column));
  }
  const ColumnType& type =
      input.file ? input.file->type() : input.table->schema().columns[column].type;
  return VisitType(type, [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<RowRanges> {
    std::string from_text, to_text;  // the memory of the keys
    std::optional<T> from, to;
    if (!choice.from.empty()) {
      CFILE_ASSIGN_OR_RETURN(from, ParseKey<T>(type, choice.from[0], from_text));
    }
    if (!choice.to.empty()) {
      CFILE_ASSIGN_OR_RETURN(to, ParseKey<T>(type, choice.to[0], to_text));
    }
    return KeyRanges<T>(input, column, from, to);
  });
}

}  // namespace

uint64_t RowsOf(const RowRanges& ranges) {
  uint64_t rows = 0;
  for (const OrdinalRange& range : ranges) rows += range.size();
  return rows;
}

RowRanges Within(const RowRanges& ranges, const OrdinalRange& rows) {
  RowRanges within;
  for (const OrdinalRange& range : ranges) {
    const OrdinalRange both = {std::max(range.begin, rows.begin), std::min(range.end, rows.end)};
    if (both.begin < both.end) within.push_back(both);
  }
  return within;
}

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

void AddRangeOptions(Command& command, RangeChoice& choice) {
  const auto number = [&](const char* spec, Target value, const char* help,
                          uint64_t most = UINT64_MAX) -> Option& {
    return command.Add(spec, std::move(value), help, NumberIn(0, most));
  };
  const auto set_row = [&choice](const std::vector<std::string>& texts) -> std::string {
    choice.must_exist = absl::SimpleAtoi(texts.back(), &choice.ordinal);
    choice.count = 1;
    return "";
  };
  number("--ordinal N", &choice.ordinal, "Where to begin; the first row has ordinal 0");
  number("-n,--limit,--head,--count N", &choice.count, "At most the first N rows");
  number("--row N", TextsFunction(set_row), "Only the row with this ordinal").excludes = {
      "--ordinal", "--limit"};
  number("--tail N", &choice.tail, "The last N rows").excludes = {"--limit", "--row"};
  number("--sample N", &choice.sample, "N rows chosen by chance, each row at most once", kMaxSample)
      .excludes = {"--limit", "--row", "--tail"};
  number("--seed N", &choice.seed,
         "With the same seed, --sample chooses the same rows (default: 0)")
      .needs = "--sample";
  command.Add(
      "--from KEY", &choice.from,
      "Only rows whose key is at least KEY; needs a value index. Write KEY as for find. For a "
      "table that is sorted by several columns, give the option once for each of the first ones");
  command.Add("--to KEY", &choice.to, "Only rows whose key is less than KEY");
}

absl::Status CheckFirst(const CommonOptions& common, const RangeChoice& choice, uint64_t num_rows) {
  if (choice.ordinal < num_rows + !choice.must_exist) return absl::OkStatus();
  return absl::InvalidArgumentError(
      choice.must_exist
          ? absl::StrCat("there is no row ", choice.ordinal, ": ", common.path, " has ",
                         Plural(num_rows, "row"), ", counted from 0")
          : absl::StrCat("ordinal ", choice.ordinal, " is beyond the end: ", common.path, " has ",
                         Plural(num_rows, "row")));
}

absl::StatusOr<RowRanges> ChooseRows(const Input& input, const CommonOptions& common,
                                     const RangeChoice& choice, RowSelection& selection) {
  const OrdinalRange all = input.rows();
  CFILE_RETURN_IF_ERROR(CheckFirst(common, choice, all.size()));
  RowRanges ranges = {all};
  if (!choice.from.empty() || !choice.to.empty()) {
    CFILE_ASSIGN_OR_RETURN(ranges, RangesOfKeys(input, common, choice));
  }
  const uint64_t first_row = all.begin + choice.ordinal;
  ranges = Within(ranges, {first_row, choice.must_exist ? first_row + 1 : all.end});
  const uint64_t rows = RowsOf(ranges);
  // The scan leaves out rows of the ranges.
  const bool leaves_out = !selection.options.where.empty() || input.applies_rule();
  if (choice.count && !choice.must_exist && (choice.skips_damage || leaves_out)) {
    selection.options.limit = *choice.count;
    selection.rows_left = std::make_shared<uint64_t>(*choice.count);
    return ranges;
  }
  if (!leaves_out) {
    if (choice.count) return Cut(ranges, 0, *choice.count);
    if (choice.tail) return Cut(ranges, rows - std::min(rows, *choice.tail), rows);
    return choice.sample ? Sample(ranges, *choice.sample, choice.seed) : ranges;
  }
  if (choice.tail) {
    uint64_t found = 0;
    uint64_t first = all.end;
    if (*choice.tail > 0) {
      CFILE_RETURN_IF_ERROR(
          FindMatches(input, selection, ranges, /*reverse=*/true, [&](uint64_t ordinal) {
            first = ordinal;
            return ++found < *choice.tail;
          }));
    }
    return Within(ranges, {first, all.end});
  }
  if (choice.sample) {
    CFILE_ASSIGN_OR_RETURN(ranges,
                           SampleMatches(input, selection, ranges, *choice.sample, choice.seed));
    selection.options.where = Filter();
  }
  return ranges;
}

absl::StatusOr<bool> RangeScan::InSameBlocks(uint64_t first, uint64_t next) {
  if (input_.file) {
    CFILE_ASSIGN_OR_RETURN(const uint64_t begin, input_.file->BlockBegin(next));
    return begin <= first;
  }
  const TableReader& table = *input_.table;
  PartInfo part;
  for (;; ++part_) {
    CFILE_ASSIGN_OR_RETURN(part, table.part(part_));
    if (first < part.first_ordinal + part.num_rows) break;
  }
  if (next >= part.first_ordinal + part.num_rows) return false;
  for (const ColumnSchema& column : selection_.columns) {
    const size_t index = *table.schema().Find(column.name);
    CFILE_ASSIGN_OR_RETURN(const std::string path, table.part_file(part_, index));
    if (path.empty()) continue;  // the part is older than the column
    CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(part_, index));
    CFILE_ASSIGN_OR_RETURN(const uint64_t begin, file.BlockBegin(next - part.first_ordinal));
    if (begin > first - part.first_ordinal) return false;
  }
  return true;
}

absl::StatusOr<bool> RangeScan::OpenNext() {
  range_ = open_end_;
  if (range_ == ranges_.size() || selection_.options.limit == 0) return false;
  ++open_end_;
  // One scan reads several ranges if, in each column, every range begins in the data block in which
  // the range before it ends; otherwise the scan could read blocks between the ranges. With a
  // condition or a limit, each range has its own scan, because a scan also tests and counts the
  // rows between the ranges.
  while (selection_.options.where.empty() && !selection_.rows_left && open_end_ < ranges_.size()) {
    CFILE_ASSIGN_OR_RETURN(const bool same,
                           InSameBlocks(ranges_[open_end_ - 1].end - 1, ranges_[open_end_].begin));
    if (!same) break;
    ++open_end_;
  }
  selection_.options.range = {ranges_[range_].begin, ranges_[open_end_ - 1].end};
  CFILE_ASSIGN_OR_RETURN(scan_, selection_.NewScan(input_));
  return true;
}

BatchRows RangeScan::TakeRows() {
  const auto first_from = [&](uint64_t ordinal) {
    size_t low = row_, high = batch_.num_rows();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (batch_.ordinal(middle) < ordinal) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  while (range_ < open_end_ && row_ < batch_.num_rows()) {
    const size_t begin = first_from(ranges_[range_].begin);
    row_ = first_from(ranges_[range_].end);
    if (row_ < batch_.num_rows()) ++range_;
    if (begin < row_) return {&batch_, begin, row_};
  }
  row_ = batch_.num_rows();
  return {};
}

absl::StatusOr<BatchRows> RangeScan::Next() {
  while (true) {
    if (const BatchRows rows = TakeRows(); rows.batch != nullptr) return rows;
    if (scan_) {
      CFILE_ASSIGN_OR_RETURN(batch_, scan_->Next());
      row_ = 0;
      if (!batch_.empty()) continue;
      selection_.options.limit -= scan_->counters().rows_returned;
      scan_.reset();
    }
    CFILE_ASSIGN_OR_RETURN(const bool more, OpenNext());
    if (!more) return BatchRows();
  }
}

}  // namespace cfile::tools
