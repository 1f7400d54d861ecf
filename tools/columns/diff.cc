// cfile-dump diff: compares two files or two tables.
#include "tools/dump/commands.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/filter.h"
#include "cfile/status.h"
#include "tools/columns/row_diff.h"
#include "tools/columns/stored_column.h"
#include "tools/document.h"
#include "tools/dump/column_text.h"
#include "tools/key_text.h"
#include "tools/merge_rule.h"
#include "tools/progress.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

struct DiffArguments {
  std::string other;
  uint64_t count = 10;
  bool values_only = false;
};

// One of the two files or tables.
struct Side {
  std::string path;
  Input input;
  std::vector<StoredColumn> columns;  // the columns to compare
};

absl::StatusOr<Side> OpenSide(const CommonOptions& common, const std::string& path) {
  CommonOptions options = WholeOf(common);  // a file can be compared with a column of a table
  options.path = path;
  Side side{.path = path};
  CFILE_ASSIGN_OR_RETURN(side.input, OpenInput(options));
  if (side.input.applies_rule()) return NeedsStoredRows(path);
  if (side.input.table) CFILE_RETURN_IF_ERROR(ChoosePart(common.part, side.input));
  CFILE_ASSIGN_OR_RETURN(side.columns, ColumnsOf(side.input, common.column));
  return side;
}

// The bits of a value in hexadecimal digits, the most significant byte first.
template <typename T>
std::string Bits(const T& value) {
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof value);
  std::reverse(bytes.begin(), bytes.end());
  return "0x" + Hex(bytes);
}

// What one of the two sides has.
struct Shown {
  Json json;
  std::string text;
};

template <typename T>
Shown Show(bool exists, const Entry<T>& entry, const StoredColumn& column, bool with_bits) {
  if (!exists) return {Json(), "nothing"};
  Shown shown{Json(), "null"};
  if (with_bits) {
    shown.text = absl::StrCat("nan ", Bits(*entry.value));
    shown.json = shown.text;
  } else if (entry.value != nullptr) {
    shown.text.clear();
    AppendValue<T>(column.schema.type, *entry.value, Form::kText, shown.text);
    shown.json = JsonValue<T>(column.schema.type, *entry.value);
  }
  if (!column.has_levels) return shown;
  return {{{"repetition", entry.repetition},
           {"definition", entry.definition},
           {"value", std::move(shown.json)}},
          absl::StrCat("repetition ", entry.repetition, " definition ", entry.definition, " ",
                       shown.text)};
}

// NaNs differ in their bits, but not in their text.
template <typename T>
bool AreNans(const Entry<T>& a, const Entry<T>& b) {
  if constexpr (std::is_floating_point_v<T>)
    return a.value != nullptr && b.value != nullptr && std::isnan(*a.value) && std::isnan(*b.value);
  return false;
}

class Diff {
 public:
  Diff(const DiffArguments& arguments, const CommonOptions& common, Output& output)
      : arguments_(arguments),
        json_(common.json),
        output_(output),
        values_(Document(common.json, common.path), "values", {}, output) {}

  // Prints how the two sides differ, after an error what was found so far.
  absl::Status Run(const Side& a, const Side& b) {
    document_ = {{"other", JsonOf(b.path)}, {"schema", Json::array()}, {"layout", Json::array()}};
    if (a.input.table && b.input.table && !arguments_.values_only) CompareTables(a.input, b.input);
    CompareRowCounts(a, b);
    std::vector<std::pair<const StoredColumn*, const StoredColumn*>> both;
    PairColumns(a, b, both);
    Progress progress;
    progress.Begin("comparing", num_rows_, Progress::Unit::kRows);
    num_columns_ = both.size();
    for (const auto& [column_a, column_b] : both) {
      const std::string name = !a.input.file   ? column_a->schema.name
                               : !b.input.file ? column_b->schema.name
                                               : "";
      const absl::Status status = CompareColumn(name, *column_a, *column_b, progress);
      if (!status.ok()) {
        Finish(status);
        return status;
      }
    }
    progress.End();
    Finish(absl::OkStatus());
    return absl::OkStatus();
  }
  bool same_values() const { return same_values_; }

 private:
  // Prints a property that differs.
  void Property(const char* kind, const std::string& column, const std::string& name,
                const std::string& a, const std::string& b) {
    if (a == b) return;
    // Metadata may have kilobytes of base64; JSON has all of it.
    const size_t most = name == "metadata" ? 100 : SIZE_MAX;
    Add(kind, column, name, {{"property", name}}, {JsonOf(a), Shortened(TerminalSafe(a), most)},
        {JsonOf(b), Shortened(TerminalSafe(b), most)});
  }

  // Prints something that differs: `what`, in JSON with `facts`.
  void Add(std::string_view kind, const std::string& column, const std::string& what,
           std::initializer_list<Fact> facts, const Shown& a, const Shown& b) {
    Document line(json_);
    if (!column.empty()) line.AddJson({{"column", column}});
    line.AddJson(facts);
    line.AddJson({{"a", a.json}, {"b", b.json}});
    const std::string of = column.empty() ? "" : absl::StrCat("column ", Printable(column), ", ");
    line.Append(LineOf(StrCat(kind, ": ", of, what), a.text, b.text));
    if (json_ && kind != "values") {
      document_[kind].push_back(line.json());
    } else {
      values_.Add(line);
    }
  }

  // Returns the line "BEFORE: A | B", with A and B shortened if it does not fit the terminal.
  static std::string LineOf(const std::string& before, std::string a, std::string b) {
    constexpr size_t kSeparators = 5;
    if (const auto width = OutputWidth()) {
      constexpr size_t kLeast = 12;
      const size_t used = CountCells(before) + kSeparators;
      const size_t room = std::max(*width, used) - used;
      const size_t cells_a = CountCells(a), cells_b = CountCells(b);
      // The shorter text keeps its length if it takes less than half of the room.
      if (cells_a + cells_b > room) {
        const size_t half = std::max(room / 2, kLeast);
        a = Shortened(a, std::max(half, room - std::min(room, cells_b)));
        b = Shortened(b, std::max(half, room - std::min(room, cells_a)));
      }
    }
    return absl::StrCat(before, ": ", a, " | ", b, "\n");
  }

  void CompareTables(const Input& input_a, const Input& input_b) {
    const TableReader &a = *input_a.table, &b = *input_b.table;
    const auto names = [](const Schema& schema, const std::vector<size_t>& columns) -> std::string {
      if (columns.empty()) return "none";
      std::vector<std::string> all;
      for (const size_t column : columns) all.push_back(NameAsWritten(schema.columns[column].name));
      return absl::StrJoin(all, ", ");
    };
    const auto order = [&](const Schema& schema) {
      std::vector<size_t> all(schema.columns.size());
      for (size_t i = 0; i < all.size(); ++i) all[i] = i;
      return names(schema, all);
    };
    Property("schema", "", "columns", order(a.schema()), order(b.schema()));
    // If a file is damaged, comparing its values says what is wrong.
    const auto keys = [&](const TableReader& table) {
      return names(table.schema(), SortColumnsOf(table).value_or(std::vector<size_t>()));
    };
    Property("schema", "", "key columns", keys(a), keys(b));
    Property("schema", "", "merge rule", MergeRuleText(a), MergeRuleText(b));
    Property("layout", "", "parts", absl::StrCat(input_a.parts().size()),
             absl::StrCat(input_b.parts().size()));
  }

  void CompareRowCounts(const Side& a, const Side& b) {
    const uint64_t rows_a = a.input.num_rows(), rows_b = b.input.num_rows();
    num_rows_ = std::min(rows_a, rows_b);
    if (rows_a == rows_b) return;
    same_values_ = same_row_counts_ = false;
    Property("values", "", "rows", absl::StrCat(rows_a), absl::StrCat(rows_b));
  }

  void PairColumns(const Side& a, const Side& b,
                   std::vector<std::pair<const StoredColumn*, const StoredColumn*>>& both) {
    // A file and one column of a table have different names.
    if (a.input.file || b.input.file) {
      if (a.columns.size() == 1 && b.columns.size() == 1) {
        both.emplace_back(a.columns.data(), b.columns.data());
      } else {
        same_values_ = same_columns_ = false;
        const auto kind = [](const Side& side) { return side.input.file ? "file" : "table"; };
        Property("schema", "", "kind", kind(a), kind(b));
        different_kinds_ = true;
      }
      return;
    }
    const auto find = [](const Side& side, const std::string& name) -> const StoredColumn* {
      for (const StoredColumn& column : side.columns) {
        if (column.schema.name == name) return &column;
      }
      return nullptr;
    };
    for (const StoredColumn& column : a.columns) {
      if (const StoredColumn* other = find(b, column.schema.name)) {
        both.emplace_back(&column, other);
      } else {
        OnlyIn("a", column);
      }
    }
    for (const StoredColumn& column : b.columns) {
      if (find(a, column.schema.name) == nullptr) OnlyIn("b", column);
    }
  }

  void OnlyIn(std::string_view side, const StoredColumn& column) {
    same_values_ = same_columns_ = false;
    const bool in_a = side == "a";
    Property("schema", column.schema.name, "present", in_a ? "yes" : "no", in_a ? "no" : "yes");
  }

  // `name`: of the column of a table; "" for two files.
  absl::Status CompareColumn(const std::string& name, const StoredColumn& a, const StoredColumn& b,
                             Progress& progress) {
    const Properties schema_a = SchemaOf(a), schema_b = SchemaOf(b);
    for (size_t i = 0; i < schema_a.size(); ++i) {
      const bool is_value = schema_a[i].first != "nullable";
      if (is_value && schema_a[i] != schema_b[i]) same_values_ = same_columns_ = false;
      if (is_value || !arguments_.values_only) {
        Property("schema", name, schema_a[i].first, schema_a[i].second, schema_b[i].second);
      }
    }
    if (!arguments_.values_only) {
      CFILE_ASSIGN_OR_RETURN(const Properties layout_a, LayoutOf(a));
      CFILE_ASSIGN_OR_RETURN(const Properties layout_b, LayoutOf(b));
      for (size_t i = 0; i < layout_a.size(); ++i) {
        Property("layout", name, layout_a[i].first, layout_a[i].second, layout_b[i].second);
      }
    }
    if (a.schema.type.physical() != b.schema.type.physical() || a.has_levels != b.has_levels ||
        !(a.schema.levels == b.schema.levels)) {
      same_values_ = same_columns_ = false;
      return absl::OkStatus();  // the lines about the schema have said this
    }
    any_compared_ = num_rows_ > 0;
    return VisitType(a.schema.type, [&]<typename T>(std::type_identity<T>) -> absl::Status {
      uint64_t different = 0;
      const auto report = [&](const RowDifference<T>& found) {
        ++different;
        if (different_ + different > arguments_.count) return;
        std::string what = absl::StrCat("row ", found.row);
        if (a.has_levels) absl::StrAppend(&what, ", entry ", found.entry);
        const auto entry = a.has_levels ? std::optional(found.entry) : std::nullopt;
        const bool nans = AreNans(found.a, found.b);
        Add("values", name, what, {{"ordinal", found.row}, {"entry", entry}},
            Show(found.in_a, found.a, a, nans), Show(found.in_b, found.b, b, nans));
        progress.End();  // the next Update shows the progress line again
        output_.Drain();
      };
      const absl::Status status = CompareRows<T>(a, b, num_rows_, report, [&](uint64_t rows) {
        compared_ += rows;
        return progress.Update(0, compared_ / num_columns_);
      });
      different_ += different;
      if (different > 0) {
        same_values_ = false;
        ++different_columns_;
      }
      return status;
    });
  }

  // Prints the result. `status`: the error that ended the comparison; OK if all values were
  // compared.
  void Finish(const absl::Status& status) {
    AddFacts({{"different_values", different_}}, document_);
    if (status.ok()) document_["same_values"] = same_values_;
    values_.Finish(status, document_);
    if (json_ || !status.ok()) return;
    if (same_values_) {
      output_.text += "the values are the same\n";
      return;
    }
    std::vector<std::string> results;
    if (different_kinds_) {
      results.emplace_back(
          "a file was not compared with a whole table: choose a column with --column NAME");
    } else if (!same_columns_)
      results.emplace_back("the columns or their types differ");
    if (!same_row_counts_) results.emplace_back("the row counts differ");
    if (different_ > 0) {
      // A row may differ in several columns.
      results.push_back(absl::StrCat("the values differ: ",
                                     num_columns_ == 1
                                         ? Plural(different_, "row")
                                         : absl::StrCat(Plural(different_, "value"), " in ",
                                                        Plural(different_columns_, "column"))));
      if (different_ > arguments_.count) {
        absl::StrAppend(&results.back(), ", of which the first ", arguments_.count, " are shown");
      }
    } else if (any_compared_) {
      results.push_back(same_row_counts_ || !same_columns_
                            ? "the values that were compared are the same"
                            : absl::StrCat("the first ", Plural(num_rows_, "row"),
                                           num_rows_ == 1 ? " is the same" : " are the same"));
    }
    absl::StrAppend(&output_.text, WrappedForOutput(absl::StrJoin(results, "; "), 0), "\n");
  }

  const DiffArguments& arguments_;
  const bool json_;
  Output& output_;
  List values_;    // prints each difference as soon as it is found
  Json document_;  // the members of JSON that are printed after "values"
  bool same_values_ = true;
  uint64_t different_ = 0;  // the number of values that differ, of all columns
  uint64_t different_columns_ = 0;
  bool same_row_counts_ = true;
  bool same_columns_ = true;      // whether names and types of the columns are the same
  uint64_t num_rows_ = 0;         // the number of rows of the shorter side
  uint64_t num_columns_ = 0;      // the number of columns that both sides have
  uint64_t compared_ = 0;         // the rows compared so far, added up over the columns
  bool different_kinds_ = false;  // a file is compared with a table of several columns
  bool any_compared_ = false;     // whether values of any column were compared
};

Outcome RunDiff(const DiffArguments& arguments, const CommonOptions& common, Output& output) {
  output.IgnoreClosedPipe();
  CFILE_ASSIGN_OR_RETURN(const Side a, OpenSide(common, common.path));
  CFILE_ASSIGN_OR_RETURN(const Side b, OpenSide(common, arguments.other));
  if (a.input.file && b.input.file) CFILE_RETURN_IF_ERROR(CheckNoColumn(common));
  Diff diff(arguments, common, output);
  CFILE_RETURN_IF_ERROR(diff.Run(a, b));
  const ExitCode written = output.Finish(kFine);
  return written != kFine || diff.same_values() ? written : kDifferent;
}

}  // namespace

void AddDiffCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "diff", "Compare two files or two tables",
      "Compares the schema, the layout (encodings, codecs, blocks, sizes, order) and the values.\n"
      "A line for each difference has what A has, then |, then what B has. Values are the same if\n"
      "their bits are: -0.0 differs from 0.0, and NaNs may differ. Columns of tables are matched\n"
      "by name, rows by their ordinals. Of nested records, the first entry that differs is shown,\n"
      "with its levels. With --column, a file can be compared with a column of a table. Tables\n"
      "with a merge rule need --stored-rows.\n"
      "Compares block by block: memory does not depend on the number of rows.\n\n"
      "Exit codes: 0 the values are the same (the layout may differ), 1 values, types or columns\n"
      "differ, 2 wrong use or damaged, 3 input or output failed, 4 above a limit, or needs\n"
      "something that this build does not have.\n\n"
      "Examples:\n"
      "  cfile-dump diff old.cfile new.cfile\n"
      "  cfile-dump diff flights copy --values-only --count 100\n"
      "  cfile-dump diff flights copy --column carrier --json\n"
      "  cfile-dump diff --values-only a b >/dev/null && echo same",
      "A: a .cfile, or the directory of a table");
  const auto arguments = std::make_shared<DiffArguments>();
  command.Add("OTHER", &arguments->other, "B: the same kind of place").required = true;
  AddColumnOptions(command, common, "Compare only this column of tables", kAllParts);
  command.Add("--count N", &arguments->count, "Show the first N rows that differ (default: 10)",
              NumberIn(0, UINT64_MAX));
  command.Add("--values-only", &arguments->values_only,
              "Do not compare the layout, and which columns are nullable");
  SetRowsAction(command, common, action, [arguments](const CommonOptions& chosen, Output& output) {
    const Outcome outcome = RunDiff(*arguments, chosen, output);
    return outcome.status.ok() ? outcome.code : TroubleOfDiff(output.Finish(outcome));
  });
}

}  // namespace cfile::tools
