// cfile-dump find: the row of a key, or of the first greater value.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/merge_cursor.h"
#include "cfile/status.h"
#include "cfile/table_scan.h"
#include "tools/document.h"
#include "tools/dump/column_text.h"
#include "tools/dump/explain_reads.h"
#include "tools/dump/row_text.h"
#include "tools/key_text.h"

namespace cfile::tools {
namespace {

struct FindOptions {
  std::vector<std::string> keys;
  bool explain = false;
};

// The exit code if the key is not there; grep(1) has the same.
constexpr ExitCode kKeyMissing = static_cast<ExitCode>(1);

// The position that a search found.
struct Found {
  KeyPosition position;  // in `rows`
  OrdinalRange rows;     // that were searched
  std::string value;     // the value there, or the values of the key columns; empty at the end
  size_t column = 0;     // the column in which the key was searched; 0 for a file
  std::string key;       // the key in memcmp form (cfile/statistics.h)

  bool end() const { return position.ordinal == rows.size(); }
  uint64_t ordinal() const { return rows.begin + position.ordinal; }
};

template <typename T, typename Cursor>
absl::StatusOr<Found> FindIn(const ColumnType& type, const OrdinalRange& rows,
                             const std::string& key, Form form, absl::StatusOr<Cursor> cursor) {
  if (!cursor.ok()) return cursor.status();
  std::string scratch;
  CFILE_ASSIGN_OR_RETURN(const T value, ParseKey<T>(type, key, scratch));
  Found found{.rows = rows, .key = std::string(CompoundKey({type}).Add<T>(value).bytes())};
  CFILE_ASSIGN_OR_RETURN(found.position, cursor->SeekToKey(value));
  if (found.end()) return found;
  CFILE_ASSIGN_OR_RETURN(const auto batch, cursor->Next(1));
  AppendValue<T>(type, batch.values[0], form, found.value);
  return found;
}

absl::StatusOr<Found> FindValue(const Input& input, const FindOptions& options,
                                const CommonOptions& common) {
  if (options.keys.size() > 1) {
    return absl::InvalidArgumentError(
        "expected one KEY: only tables sorted by several columns have keys of several values");
  }
  size_t column = 0;
  std::optional<Reader> file = input.file;
  if (input.table) {
    CFILE_ASSIGN_OR_RETURN(column, FindKeyColumn(*input.table, common.column));
    if (input.part) {
      CFILE_ASSIGN_OR_RETURN(file, input.table->OpenColumn(*input.part, column));
    }
  }
  const ColumnType& type = file ? file->type() : input.table->schema().columns[column].type;
  const Form form = common.json ? Form::kJson : Form::kText;
  auto found = VisitType(type, [&]<typename T>(std::type_identity<T>) {
    return file ? FindIn<T>(type, input.rows(), options.keys[0], form, file->NewCursor<T>())
                : FindIn<T>(type, input.rows(), options.keys[0], form,
                            input.table->NewCursor<T>(column));
  });
  if (found.ok()) found->column = column;
  return found;
}

// Appends the values of the key columns of a row as JSON.
absl::Status AppendKeyColumns(const TableReader& table, uint64_t ordinal, std::string& out) {
  TableScanOptions options{.columns = {{}}, .range = {ordinal, ordinal + 1}};
  for (const size_t column : table.schema().key_columns)
    options.columns->push_back(table.schema().columns[column].name);
  CFILE_ASSIGN_OR_RETURN(TableScan scan, table.NewScan(options));
  CFILE_ASSIGN_OR_RETURN(const TableBatch batch, scan.Next());
  for (size_t i = 0; i < scan.columns().size(); ++i) {
    if (i > 0) out += ',';
    const auto text = NewColumnText(table.schema().columns[scan.columns()[i]].type);
    text->Open(batch, i);
    text->Append(0, Form::kJson, out);
  }
  return absl::OkStatus();
}

// Searches a key index. `keys`: values of the first keys.size() key columns.
template <typename Cursor>
absl::StatusOr<Found> FindKey(const Input& input, const std::vector<std::string>& keys,
                              absl::StatusOr<Cursor> cursor) {
  if (!cursor.ok()) return cursor.status();
  const TableReader& table = *input.table;
  const std::vector<KeyColumn> columns = table.schema().key_types();
  CFILE_ASSIGN_OR_RETURN(const CompoundKey key, ParseCompoundKey(columns, keys));
  Found found{
      .rows = input.rows(), .column = *table.schema().key_index(), .key = std::string(key.bytes())};
  CFILE_ASSIGN_OR_RETURN(found.position, cursor->SeekToKey(key.bytes()));
  if (found.end()) return found;
  if (keys.size() < columns.size()) {
    CFILE_ASSIGN_OR_RETURN(const auto batch, cursor->Next(1));
    found.position.exact = batch.values[0].starts_with(key.bytes());
  }
  CFILE_RETURN_IF_ERROR(AppendKeyColumns(table, found.ordinal(), found.value));
  found.value = absl::StrCat("[", found.value, "]");
  return found;
}

// Searches the keys of the rows that a merge rule leaves, as a cursor does.
class RuleKeys {
 public:
  static absl::StatusOr<RuleKeys> Open(const TableReader& table) {
    CFILE_ASSIGN_OR_RETURN(MergeCursor cursor,
                           table.NewMergeCursor({.columns = {*table.schema().key_index()}}));
    return RuleKeys(std::move(cursor), table.num_rows());
  }
  absl::StatusOr<KeyPosition> SeekToKey(std::string_view key) {
    // The first stored row from the key on may be gone.
    CFILE_RETURN_IF_ERROR(cursor_.SeekToKey(key).status());
    CFILE_ASSIGN_OR_RETURN(batch_, cursor_.Next(1));
    if (batch_.empty()) return KeyPosition{.ordinal = end_, .exact = false};
    return KeyPosition{.ordinal = batch_.ordinal(0),
                       .exact = batch_.column<std::string_view>(0).values[0] == key};
  }
  absl::StatusOr<Batch<std::string_view>> Next(size_t) {
    return batch_.column<std::string_view>(0);
  }

 private:
  RuleKeys(MergeCursor cursor, uint64_t end) : cursor_(std::move(cursor)), end_(end) {}

  MergeCursor cursor_;
  const uint64_t end_;
  MergeBatch batch_;  // of the row that was found
};

absl::StatusOr<Found> FindCompoundKey(const Input& input, const std::vector<std::string>& keys) {
  const size_t index = *input.table->schema().key_index();
  if (input.applies_rule()) {
    if (input.part) return NeedsStoredRows("--part");
    return FindKey(input, keys, RuleKeys::Open(*input.table));
  }
  if (!input.part) return FindKey(input, keys, input.table->NewCursor<std::string_view>(index));
  CFILE_ASSIGN_OR_RETURN(const Reader file, input.table->OpenColumn(*input.part, index));
  return FindKey(input, keys, file.NewCursor<std::string_view>());
}

// The whole row: a line for each value, or JSON.
absl::StatusOr<std::string> RowAt(const Input& input, uint64_t ordinal, bool json) {
  const RowForm form{.format = json ? RowFormat::kJsonLines : RowFormat::kFields, .header = false};
  const RangeChoice range{.ordinal = ordinal, .count = 1};
  CFILE_ASSIGN_OR_RETURN(const RowPlan plan, PlanRows(input, {}, {}, range, form));
  CFILE_ASSIGN_OR_RETURN(const auto rows, plan.open(plan.ranges, nullptr));
  std::string text;
  CFILE_RETURN_IF_ERROR(rows->Append(text).status());
  return text;
}

Outcome PrintFound(const FindOptions& options, const CommonOptions& common, Output& output) {
  ReadLog log;
  // Also with --column and --part, the whole row of the table is printed.
  CFILE_ASSIGN_OR_RETURN(Input input,
                         OpenInput(WholeOf(common), options.explain ? log.observer() : nullptr));
  CFILE_RETURN_IF_ERROR(input.file ? CheckNoColumn(common) : ChoosePart(common.part, input));
  const bool compound = input.table && input.table->schema().key_index() && common.column.empty();
  CFILE_ASSIGN_OR_RETURN(const Found found, compound ? FindCompoundKey(input, options.keys)
                                                     : FindValue(input, options, common));
  log.Stop();
  std::string explanation;
  if (options.explain) {
    const Searched searched{
        .key_column = found.column, .key = found.key, .ordinal = found.ordinal()};
    CFILE_RETURN_IF_ERROR(AppendExplanation(input, common, log, searched, explanation));
  }
  const KeyPosition& position = found.position;
  std::string row;
  if (!found.end() && input.table) {
    CFILE_ASSIGN_OR_RETURN(row, RowAt(input, position.ordinal, common.json));
  }
  Document document(common.json, common.path);
  if (!input.applies_rule()) document.AddJson({{"ordinal", position.ordinal}});
  document.AddJson({{"exact", position.exact},
                    {"end", found.end()},
                    {"value", found.end() ? Json() : Json::FromText(found.value)}});
  if (!row.empty()) {
    document.AddJson({{"row", Json::FromText(std::string_view(row).substr(0, row.size() - 1))}});
  }
  if (!input.applies_rule()) {
    document.AddLine("ordinal  ", position.ordinal,
                     found.end() ? " (the end: all values are less)" : "");
  }
  document.AddLine("exact    ", position.exact ? "yes" : "no");
  if (!found.end() && input.file) document.AddLine("value    ", found.value);
  if (!row.empty()) document.Append("\n" + row);
  document.PrintTo(output, /*indent=*/-1);
  output.text += explanation;
  return position.exact ? kFine : kKeyMissing;
}

}  // namespace

void AddFindCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "find", "Print the row of a key, which the value index finds",
      "Write KEY as `cfile-dump rows` prints it, but write strings without escapes and quotes.\n"
      "Prints the ordinal and the row of the first value that is not less than KEY, and whether\n"
      "this value equals KEY. If all values are less than KEY, the ordinal is the number of rows.\n"
      "The exit code is 0 if KEY is there, 1 if it is not, or for wrong use.\n"
      "In a table, finds the smallest such value of all parts, and of equal values the first. A\n"
      "part without a value index is read from its beginning.\n"
      "A table with a merge rule has one row for each key, the newest, and no ordinals.\n"
      "In a table that is sorted by several columns, the KEYs are values of all these columns\n"
      "or of the first of them. Write null for a null, and \"null\" with quotes for the string\n"
      "null in a column that may hold nulls.\n\n"
      "Examples:\n"
      "  cfile-dump find keys.cfile apple\n"
      "  cfile-dump find --column time flights 2013-01-31T10:00:00Z\n"
      "  cfile-dump find --explain keys.cfile apple   # what was read\n"
      "  cfile-dump find flights EWR 2013-01-31    # sorted by origin, then day\n"
      "  cfile-dump find measurements -inf || echo none is -inf");
  auto options = std::make_shared<FindOptions>();
  Option& key = command.Add("KEY", &options->keys, "The key to look for");
  key.required = true;
  key.takes_dashes = true;
  AddExplainOption(command, options->explain);
  AddColumnOptions(command, common,
                   "The column of a table (default: the only one with a value index)", kRowsOfPart);
  SetRowsAction(command, common, action, With(options, PrintFound));
}

}  // namespace cfile::tools
