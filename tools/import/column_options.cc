#include "tools/import/column_options.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cfile/status.h"
#include "tools/key_text.h"

namespace cfile::tools {

absl::Status CheckColumnNames(const ImportOptions& options, const std::string& input,
                              const Schema& schema) {
  absl::Status status;
  VisitColumnNames(options, [&](const char* option, const std::string& name) {
    status.Update(CheckColumn(option, name, input, schema));
  });
  std::set<std::string> sorted_by;
  for (const std::string& name : options.sorted_by) {
    const auto wrong = [&](const char* what) {
      status.Update(absl::InvalidArgumentError(absl::StrCat("--sorted-by ", name, ": ", what)));
    };
    if (!sorted_by.insert(name).second) wrong("given twice");
    const std::optional<size_t> column = schema.Find(name);
    if (column.has_value() && schema.columns[*column].has_levels()) {
      wrong("a column in a list or in several optional groups cannot sort rows");
    }
  }
  return status;
}

std::vector<std::string> FieldsOf(const RecordSchema& schema) {
  std::vector<std::string> names;
  for (size_t i = 1; i < schema.nodes().size(); i = schema.node(i).end)
    names.push_back(schema.node(i).name);
  return names;
}

void SetKeys(const std::vector<std::string>& sorted_by, bool nulls_last, Schema& schema) {
  if (sorted_by.empty()) return;
  schema.key_columns.clear();
  schema.nulls_last.clear();
  for (const std::string& name : sorted_by) {
    const size_t column = *schema.Find(name);
    const bool nullable = schema.columns[column].nullable;
    if (sorted_by.size() == 1 && !nullable && !schema.merge_rule) return;
    schema.key_columns.push_back(column);
    if (nullable && nulls_last) schema.nulls_last.push_back(column);
  }
}

absl::StatusOr<Schema> ApplyOptions(const ImportOptions& options, Schema schema) {
  CFILE_RETURN_IF_ERROR(CheckColumnNames(options, options.input, schema));
  // The leaves of a tree are in the order of the columns.
  std::vector<RecordNode> nodes;
  if (schema.tree.has_value())
    nodes.assign(schema.tree->nodes().begin(), schema.tree->nodes().end());
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    ColumnSchema& column = schema.columns[i];
    const auto type = options.types.find(column.name);
    if (type != options.types.end()) column.type = type->second.type;
    const bool required = options.not_null.contains(column.name);
    if (required) column.nullable = false;
    if (nodes.empty()) continue;
    RecordNode& leaf = nodes[schema.tree->leaves()[i]];
    leaf.type = column.type;
    if (required && leaf.repetition == Repetition::kOptional)
      leaf.repetition = Repetition::kRequired;
  }
  if (!nodes.empty()) {
    CFILE_ASSIGN_OR_RETURN(const RecordSchema tree,
                           RecordSchema::Create(std::move(nodes), options.record_limits));
    schema = Schema::OfRecords(tree);
  }
  SetMergeRule(options.merge, schema);
  SetKeys(options.sorted_by, options.nulls_last, schema);
  return schema;
}

absl::StatusOr<TableReader> OpenTableOf(const ImportOptions& options) {
  return TableReader::Open(options.table,
                           {.max_block_size_bytes = options.max_block_size_bytes,
                            .max_metadata_size_bytes = options.max_metadata_size_bytes,
                            .record_limits = options.record_limits});
}

absl::StatusOr<std::vector<std::string>> OrderOfTable(const ImportOptions& options,
                                                      const TableReader& table) {
  CFILE_ASSIGN_OR_RETURN(const std::vector<size_t> sorted_by, SortColumnsOf(table));
  std::vector<std::string> order;
  for (const size_t column : sorted_by) order.push_back(table.schema().columns[column].name);
  if (!options.sorted_by.empty() && options.sorted_by != order) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--sorted-by: the table ", options.output,
        order.empty() ? " is not sorted" : " is sorted by " + absl::StrJoin(order, ", ")));
  }
  return order;
}

absl::Status CheckTypeOfTable(const ImportOptions& options, const ColumnSchema& column,
                              const TextType& given) {
  if (given.type == column.type) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--type ", column.name, "=", given.type.ToString(),
                                                 ": the table ", options.output, " has the type ",
                                                 column.type.ToString()));
}

absl::Status TakeSchemaOfTable(const ImportOptions& options, Schema& schema,
                               std::vector<std::string>& sorted_by) {
  CFILE_ASSIGN_OR_RETURN(const TableReader table, OpenTableOf(options));
  schema = table.schema();
  CFILE_RETURN_IF_ERROR(CheckColumnNames(options, options.input, schema));
  for (const auto& [name, type] : options.types) {
    CFILE_RETURN_IF_ERROR(CheckTypeOfTable(options, schema.columns[*schema.Find(name)], type));
  }
  CFILE_ASSIGN_OR_RETURN(sorted_by, OrderOfTable(options, table));
  return absl::OkStatus();
}

WriterOptions OptionsOfColumn(const ImportOptions& options, const std::string& column,
                              bool value_index) {
  WriterOptions writer = WriterOptionsOf(options, column);
  writer.value_index = value_index;
  writer.max_block_size_bytes = options.max_block_size_bytes;
  writer.max_metadata_size_bytes = options.max_metadata_size_bytes;
  return writer;
}

std::vector<WriterOptions> OptionsOfColumns(const ImportOptions& options, const Schema& schema,
                                            const std::vector<std::string>& sorted_by) {
  std::vector<WriterOptions> all;
  for (const ColumnSchema& column : schema.columns) {
    const bool value_index =
        schema.key_columns.empty() && sorted_by.size() == 1 && column.name == sorted_by[0];
    all.push_back(OptionsOfColumn(options, column.name, value_index));
  }
  return all;
}

absl::Status RefuseCsvOptions(const ImportOptions& options, std::string_view format) {
  const CsvDialect& dialect = options.dialect;
  const std::pair<const char*, bool> csv_only[] = {
      {"--delimiter", options.delimiter.has_value()},
      {"--quote", dialect.quote != '"'},
      {"--escape", dialect.escape != 0},
      {"--comment", dialect.comment != 0},
      {"--skip-lines", dialect.skip_lines > 0},
      {"--pad", dialect.pad},
      {"--decimal-comma", dialect.decimal_comma},
      {"--no-header", options.header == Header::kNo},
      {"--header", options.header == Header::kYes},
      {"--names", !options.names.empty()},
      {"--skip-bad-rows", options.skip_bad_rows > 0 && format != "as JSON"},
      {"--schema", !options.schema_path.empty() && format != "as JSON"},
      {"--null", !options.null_texts.empty()}};
  for (const auto& [option, given] : csv_only) {
    if (!given) continue;
    const std::string_view name = option;
    const bool both = name == "--schema" || name == "--skip-bad-rows";
    return absl::InvalidArgumentError(absl::StrCat(option, " is for CSV", both ? " and JSON" : "",
                                                   "; ", options.input, " is read ",
                                                   std::string(format)));
  }
  return absl::OkStatus();
}

}  // namespace cfile::tools
