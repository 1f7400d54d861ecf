// Turns the options of cfile-import into the schema and the writer options of a table.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/import/import_options.h"

namespace cfile::tools {

// Calls visit(option, name) for each column that an option names.
template <typename Visitor>
void VisitColumnNames(const ImportOptions& options, Visitor visit) {
  for (const auto& [name, type] : options.types) visit("--type", name);
  for (const std::string& name : options.not_null) visit("--not-null", name);
  for (const auto& [name, encoding] : options.encoding.for_column) visit("--encoding", name);
  for (const auto& [name, codec] : options.compression.for_column) visit("--compression", name);
  for (const std::string& name : options.bloom) visit("--bloom", name);
  for (const std::string& name : options.sorted_by) visit("--sorted-by", name);
}

// kInvalidArgument: the schema has no column that an option names, or --sorted-by names a column
// twice or one with levels.
absl::Status CheckColumnNames(const ImportOptions& options, const Schema& schema);

// Applies --type, --not-null and --sorted-by to the schema of a new table.
// A sort column is required, unless nulls are allowed in it.
// kInvalidArgument: an option does not fit the schema. kOutOfRange: a limit of
// ImportOptions::record_limits is exceeded.
absl::StatusOr<Schema> ApplyOptions(const ImportOptions& options, Schema schema);

// Returns the columns by which the rows of the table options.output are sorted: its key columns, or
// the column that has a value index. Empty: the rows have no order.
// kInvalidArgument: --sorted-by names other columns. Other errors: those of the table.
absl::StatusOr<std::vector<std::string>> OrderOfTable(const ImportOptions& options,
                                                      const TableReader& table);

// For --append: sets `schema` to the schema of the table options.output, and `sorted_by` to
// OrderOfTable. Errors: those of CheckColumnNames and OrderOfTable.
absl::Status TakeSchemaOfTable(const ImportOptions& options, Schema& schema,
                               std::vector<std::string>& sorted_by);

// The options of a column. `value_index`: the column gets a value index.
WriterOptions OptionsOfColumn(const ImportOptions& options, const std::string& column,
                              bool value_index);

// The options of all columns of a table whose rows are sorted by `sorted_by`.
std::vector<WriterOptions> OptionsOfColumns(const ImportOptions& options, const Schema& schema,
                                            const std::vector<std::string>& sorted_by);

// kInvalidArgument "NAME is for CSV; ..." if an option is given that only CSV has.
// `format`: how the input is read, for example "as JSON".
absl::Status RefuseCsvOptions(const ImportOptions& options, std::string_view format);

}  // namespace cfile::tools
