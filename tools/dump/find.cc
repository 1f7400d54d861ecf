// cfile-dump find: the ordinal of a key, or of the first greater value.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cfile/compound_key.h"
#include "cfile/status.h"
#include "cfile/table_scan.h"
#include "tools/dump/column_text.h"
#include "tools/dump/dump.h"
#include "tools/dump/explain_reads.h"
#include "tools/key_text.h"
#include "tools/location.h"
#include "tools/value_text.h"

namespace cfile::tools {
namespace {

struct FindOptions {
  std::vector<std::string> keys;
  bool explain = false;
};

// The position that a search found, and the value or values of this row as text; empty at the end.
struct Found {
  KeyPosition position;
  std::string values;
  size_t column = 0;  // the column in which the key was searched; 0 for a file
  std::string key;    // the key in memcmp form (cfile/statistics.h)
};

template <typename T, typename Cursor>
absl::StatusOr<Found> FindIn(const ColumnType& type, uint64_t num_rows, const std::string& key,
                             Form form, absl::StatusOr<Cursor> cursor) {
  if (!cursor.ok()) return cursor.status();
  std::string scratch;
  const auto value = ParseText<T>(type, key, scratch);
  if (!value.ok()) return value.status();
  const auto position = cursor->SeekToKey(*value);
  if (!position.ok()) return position.status();
  Found found{.position = *position,
              .values = {},
              .key = std::string(CompoundKey({type}).Add<T>(*value).bytes())};
  if (position->ordinal == num_rows) return found;
  const auto batch = cursor->Next(1);
  if (!batch.ok()) return batch.status();
  AppendValue<T>(type, batch->values[0], form, found.values);
  return found;
}

absl::StatusOr<Found> FindValue(const Input& input, const FindOptions& options,
                                const CommonOptions& common) {
  if (options.keys.size() > 1) {
    return absl::InvalidArgumentError(
        "expected one KEY: only tables sorted by several columns have keys of several values");
  }
  size_t column = 0;
  if (input.table) {
    const auto chosen = FindKeyColumn(*input.table, common.column);
    if (!chosen.ok()) return chosen.status();
    column = *chosen;
  }
  const ColumnType& type =
      input.file ? input.file->type() : input.table->schema().columns[column].type;
  const Form form = common.json ? Form::kJson : Form::kText;
  auto found = VisitType(type, [&]<typename T>(std::type_identity<T>) {
    return input.file ? FindIn<T>(type, input.num_rows(), options.keys[0], form,
                                  input.file->NewCursor<T>())
                      : FindIn<T>(type, input.num_rows(), options.keys[0], form,
                                  input.table->NewCursor<T>(column));
  });
  if (found.ok()) found->column = column;
  return found;
}

// Appends the values of the key columns of a row.
absl::Status AppendKeyColumns(const TableReader& table, uint64_t ordinal, Form form,
                              std::string& out) {
  TableScanOptions options{.columns = {{}}, .range = {ordinal, ordinal + 1}};
  for (const size_t column : table.schema().key_columns)
    options.columns->push_back(table.schema().columns[column].name);
  auto scan = table.NewScan(options);
  if (!scan.ok()) return scan.status();
  const auto batch = scan->Next();
  if (!batch.ok()) return batch.status();
  for (size_t i = 0; i < scan->columns().size(); ++i) {
    if (i > 0) out += form == Form::kJson ? ',' : '\t';
    const auto text = NewColumnText(table.schema().columns[scan->columns()[i]].type);
    text->Open(*batch, i);
    text->Append(0, form, out);
  }
  return absl::OkStatus();
}

// Searches the key index of a table that is sorted by several columns. `keys`: values of the first
// keys.size() key columns.
absl::StatusOr<Found> FindRow(const TableReader& table, const std::vector<std::string>& keys,
                              Form form) {
  const std::vector<KeyColumn> columns = table.schema().key_types();
  const auto key = ParseCompoundKey(columns, keys);
  if (!key.ok()) return key.status();
  auto cursor = table.NewCursor<std::string_view>(*table.schema().key_index());
  if (!cursor.ok()) return cursor.status();
  const auto position = cursor->SeekToKey(key->bytes());
  if (!position.ok()) return position.status();
  Found found{.position = *position,
              .values = {},
              .column = *table.schema().key_index(),
              .key = std::string(key->bytes())};
  if (found.position.ordinal == table.num_rows()) return found;
  if (keys.size() < columns.size()) {
    const auto batch = cursor->Next(1);
    if (!batch.ok()) return batch.status();
    found.position.exact = batch->values[0].starts_with(key->bytes());
  }
  const absl::Status status = AppendKeyColumns(table, found.position.ordinal, form, found.values);
  if (!status.ok()) return status;
  return found;
}

// Returns `common` with a column if it has a part of a table, but no column: --part alone chooses
// the part of the only column with a value index.
absl::StatusOr<CommonOptions> WithKeyColumn(const CommonOptions& common) {
  if (!common.part || !common.column.empty()) return common;
  CFILE_ASSIGN_OR_RETURN(const std::optional<TableReader> table,
                         OpenTableAt(common.path, OptionsOf(common)));
  if (!table) return common;  // OpenInput says what is wrong
  if (table->schema().key_index()) {
    return absl::InvalidArgumentError(
        "--part needs --column: keys of several columns are searched in all parts together");
  }
  CFILE_ASSIGN_OR_RETURN(const size_t column, FindKeyColumn(*table, ""));
  CommonOptions chosen = common;
  chosen.column = table->schema().columns[column].name;
  return chosen;
}

ExitCode PrintFound(const FindOptions& options, const CommonOptions& given, Output& output) {
  const absl::StatusOr<CommonOptions> with_column = WithKeyColumn(given);
  if (!with_column.ok()) return output.Fail(with_column.status());
  const CommonOptions& common = *with_column;
  ReadLog log;
  const auto input = OpenInput(common, options.explain ? log.observer() : nullptr);
  if (!input.ok()) return output.Fail(input.status());
  const bool by_row = input->table && input->table->schema().key_index() && common.column.empty();
  const auto found =
      by_row ? FindRow(*input->table, options.keys, common.json ? Form::kJson : Form::kText)
             : FindValue(*input, options, common);
  if (!found.ok()) return output.Fail(found.status());
  log.Stop();

  const KeyPosition& position = found->position;
  const bool end = position.ordinal == input->num_rows();
  if (common.json) {
    Json document = JsonDocument(common.path);
    document["ordinal"] = JsonInteger(position.ordinal);
    document["exact"] = position.exact;
    document["end"] = end;
    output.text = document.dump();
    output.text.pop_back();
    absl::StrAppend(&output.text, ",\"value\":", end || !by_row ? "" : "[",
                    end ? "null" : found->values, end || !by_row ? "" : "]", "}\n");
  } else {
    absl::StrAppend(&output.text, "ordinal  ", position.ordinal,
                    end ? " (the end: all values are less)" : "", "\nexact    ",
                    position.exact ? "yes" : "no", "\n");
    if (!end) absl::StrAppend(&output.text, "value    ", found->values, "\n");
  }
  if (options.explain) {
    const Searched searched{
        .key_column = found->column, .key = found->key, .ordinal = position.ordinal};
    const absl::Status status = AppendExplanation(*input, common, log, searched, output.text);
    if (!status.ok()) return output.Fail(status);
  }
  return output.Finish(kFine);
}

}  // namespace

void AddFindCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "find", "Find the first value that is not less than a key, with the value index",
      "Write KEY as `cfile-dump values` prints it, but write strings without escapes and\n"
      "quotes.\n"
      "Prints the ordinal, whether the value there equals KEY, and the value. If all values are\n"
      "less than KEY, the ordinal is the number of rows. Write -- before a KEY that begins with\n"
      "a dash and is not a number.\n"
      "In a table, finds the smallest such value of all parts, and of equal values the first. A\n"
      "part without a value index is read from its beginning.\n"
      "In a table that is sorted by several columns, the KEYs are values of all these columns\n"
      "or of the first of them. Write null for a null, and \"null\" with quotes for the string\n"
      "null in a column that may hold nulls.\n\n"
      "Examples:\n"
      "  cfile-dump find keys.cfile apple\n"
      "  cfile-dump find --column time flights 2013-01-31T10:00:00Z\n"
      "  cfile-dump find --explain keys.cfile apple   # what was read\n"
      "  cfile-dump find flights EWR 2013-01-31    # sorted by origin, then day\n"
      "  cfile-dump at flights $(cfile-dump find --json flights -5 | jq .ordinal)");
  AddIgnoreChecksumsOption(command, common);
  auto options = std::make_shared<FindOptions>();
  command.Add("KEY", &options->keys, "The key to look for").required = true;
  AddExplainOption(command, options->explain);
  AddColumnOptions(command, common,
                   "The column of a table (default: the only one with a value index)",
                   "Only this part of a table, counted from 0 (default: all); ordinals count from "
                   "the beginning of the part");
  SetAction(command, action, [options](const CommonOptions& chosen, Output& output) {
    return PrintFound(*options, chosen, output);
  });
}

}  // namespace cfile::tools
