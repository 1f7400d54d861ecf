// Turns the options of cfile-import into the schema and the writer options of a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"

namespace cfile::tools {

template <typename Visitor>
void VisitColumnNames(const ImportOptions& options, Visitor visit) {
  // With `evolve`, `types` also has columns of the table, which the input may lack.
  for (const auto& [name, type] : options.types) {
    if (!options.evolve || options.append) visit(type.option, name);
  }
  for (const std::string& name : options.not_null) visit("--not-null", name);
  VisitLayoutColumns(options, visit);
  for (const std::string& name : options.sorted_by) visit("--sorted-by", name);
  const MergeOptions& merge = options.merge;
  if (!merge.deleted_column.empty()) visit("--deleted-column", merge.deleted_column);
  if (!merge.time_column.empty()) visit("--time-column", merge.time_column);
}

// kInvalidArgument: the schema of `input` has no column that an option names, or --sorted-by names
// a column twice or one with levels.
absl::Status CheckColumnNames(const ImportOptions& options, const std::string& input,
                              const Schema& schema);

// The names of the fields of a record.
std::vector<std::string> FieldsOf(const RecordSchema& schema);

// If `sorted_by` names columns, makes them the key columns of the table, which then also has a
// column of compound keys. But a single column without nulls gets a value index instead, unless the
// schema has a merge rule.
void SetKeys(const std::vector<std::string>& sorted_by, bool nulls_last, Schema& schema);

// Applies --type, --not-null, --sorted-by and --nulls to the schema of a new table.
// kInvalidArgument: an option does not fit the schema. kOutOfRange: a limit of
// ImportOptions::record_limits is exceeded.
absl::StatusOr<Schema> ApplyOptions(const ImportOptions& options, Schema schema);

absl::StatusOr<TableReader> OpenTableOf(const ImportOptions& options);

// Returns the columns by which the rows of the table options.output are sorted: its key columns, or
// the column that has a value index. Empty: the rows have no order.
// kInvalidArgument: --sorted-by names other columns. Other errors: those of the table.
absl::StatusOr<std::vector<std::string>> OrderOfTable(const ImportOptions& options,
                                                      const TableReader& table);

// For --append. Returns kInvalidArgument if --type gives a column another type than the table has.
absl::Status CheckTypeOfTable(const ImportOptions& options, const ColumnSchema& column,
                              const TextType& given);

// For --append: sets `schema` to that of the table options.output, and `sorted_by` to OrderOfTable.
absl::Status TakeSchemaOfTable(const ImportOptions& options, Schema& schema,
                               std::vector<std::string>& sorted_by);

// Calls import(options) for a new table of an input that does not say whether a nullable column has
// nulls. First tries to import without nulls in the sort columns, because a single one then gets a
// value index and needs no compound keys.
template <typename Import>
absl::StatusOr<ImportResult> ImportWithFewestNulls(const ImportOptions& options, Import import) {
  ImportOptions no_nulls = options;
  no_nulls.not_null.insert(options.sorted_by.begin(), options.sorted_by.end());
  if (options.append || no_nulls.not_null == options.not_null) return import(options);
  absl::StatusOr<ImportResult> result = import(no_nulls);
  return absl::IsInvalidArgument(result.status()) ? import(options) : std::move(result);
}

// The options of a column. `value_index`: the column gets a value index.
WriterOptions OptionsOfColumn(const ImportOptions& options, const std::string& column,
                              bool value_index);

// The options of all columns of a table whose rows are sorted by `sorted_by`.
std::vector<WriterOptions> OptionsOfColumns(const ImportOptions& options, const Schema& schema,
                                            const std::vector<std::string>& sorted_by);

inline absl::StatusOr<TableWriter> NewTableWriter(const ImportOptions& options,
                                                  const Schema& schema,
                                                  const std::vector<WriterOptions>& columns) {
  return options.append ? TableWriter::Open(options.table, columns)
                        : TableWriter::Create(options.table, schema, columns);
}

// kInvalidArgument "NAME is for CSV; ..." if an option is given that only CSV has.
// `format`: how the input is read, for example "as JSON".
absl::Status RefuseCsvOptions(const ImportOptions& options, std::string_view format);

}  // namespace cfile::tools
