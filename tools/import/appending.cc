#include "tools/import/appending.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/table_columns.h"
#include "tools/import/column_options.h"
#include "tools/import/temporary_folder.h"

namespace cfile::tools {
namespace {

// The texts of errors of rows that do not fit the columns of a table.
constexpr const char* kUnfit[] = {
    "there is no column",          "has no such column",   "the table has no column",
    "has no column in the table",  "has no field",         "not nullable",
    "is null, but it is required", "expected, found null", "is required, but missing",
    "but the column holds",        "but the table has"};

// True if the error says that a number is not a value of an integer column.
bool NamesANumber(const std::string& text) {
  const size_t end = text.find("\" is not of type ");
  const size_t begin = end == text.npos || end == 0 ? text.npos : text.rfind('"', end - 1);
  double number;
  return begin != text.npos && absl::SimpleAtod(text.substr(begin + 1, end - begin - 1), &number);
}

bool IsNumber(const ColumnType& type) {
  return type == ColumnType{.data_type = type.data_type} &&
         (type.data_type <= DataType::kInt64 || type == ColumnType::Float() ||
          type == ColumnType::Double());
}

absl::StatusOr<ImportResult> Evolve(
    const ImportOptions& options, bool is_text,
    absl::FunctionRef<absl::StatusOr<ImportResult>(const ImportOptions&)> import) {
  const ReaderOptions limits{.max_block_size_bytes = options.max_block_size_bytes,
                             .max_metadata_size_bytes = options.max_metadata_size_bytes,
                             .record_limits = options.record_limits};
  CFILE_ASSIGN_OR_RETURN(const TableReader table, TableReader::Open(options.table, limits));
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
  CFILE_ASSIGN_OR_RETURN(const TableReader imported, TableReader::Open(rows.table, limits));
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
  const std::string text(result.status().message());
  if (!NamesANumber(text) && std::ranges::none_of(kUnfit, [&](const char* part) {
        return absl::StrContains(text, part);
      })) {
    return result;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(text, "; --evolve changes the columns of the table so that the rows fit"));
}

}  // namespace cfile::tools
