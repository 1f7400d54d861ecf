#include "tools/import/importer.h"

#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "tools/import/column_options.h"
#include "tools/temporary_folder.h"

namespace cfile::tools {
namespace {

bool IsNumber(const ColumnType& type) {
  return type == ColumnType{.data_type = type.data_type} &&
         (type.data_type <= DataType::kInt64 || type == ColumnType::Float() ||
          type == ColumnType::Double());
}

absl::StatusOr<ImportResult> Evolve(
    const ImportOptions& options, bool is_text,
    absl::FunctionRef<absl::StatusOr<ImportResult>(const ImportOptions&)> import) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTableOf(options));
  const Schema& schema = table.schema();
  CFILE_ASSIGN_OR_RETURN(const TemporaryFolder folder,
                         TemporaryFolder::Create(options.temporary_directory));
  ImportOptions rows = options;
  rows.append = false;
  rows.output = folder.Path("rows");
  rows.table = TableLocation(rows.output);
  rows.temporary_directory = rows.output;
  CFILE_ASSIGN_OR_RETURN(rows.sorted_by, OrderOfTable(options, table));
  rows.nulls_last = schema.key_columns.empty() || !schema.nulls_last.empty();
  for (const ColumnSchema& column : schema.columns) {
    if (is_text && !IsNumber(column.type))
      rows.types.try_emplace(column.name, TextType{.type = column.type});
  }
  CFILE_ASSIGN_OR_RETURN(ImportResult result, import(rows));
  CFILE_ASSIGN_OR_RETURN(const TableReader imported, OpenTableOf(rows));
  CFILE_ASSIGN_OR_RETURN(result.warnings,
                         AppendTable(options.table, imported, [&](const ColumnSchema& column) {
                           return OptionsOfColumn(options, column.name, /*value_index=*/false);
                         }));
  return result;
}

}  // namespace

absl::StatusOr<ImportResult> AppendInput(
    const ImportOptions& options, bool is_text,
    absl::FunctionRef<absl::StatusOr<ImportResult>(const ImportOptions&)> import) {
  // A plain append would skip rows that do not fit.
  if (options.evolve && options.skip_bad_rows > 0) return Evolve(options, is_text, import);
  absl::StatusOr<ImportResult> result = import(options);
  if (!absl::IsInvalidArgument(result.status())) return result;
  if (options.evolve) return Evolve(options, is_text, import);
  if (!IsUnfitRows(result.status())) return result;
  return absl::InvalidArgumentError(
      absl::StrCat(result.status().message(),
                   "; --evolve changes the columns of the table so that the rows fit"));
}

}  // namespace cfile::tools
