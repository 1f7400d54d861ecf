#include "tools/import/columnar_importer.h"

#include <utility>

#include "cfile/status.h"

namespace cfile::tools {

absl::StatusOr<ImportResult> ColumnarImporter::Run() {
  CFILE_RETURN_IF_ERROR(options_.append ? TakeSchemaOfTable(options_, schema_, sorted_by_)
                                        : MakeSchema());
  if (options_.names_only) {
    CFILE_ASSIGN_OR_RETURN(const RecordSchema records, schema_.Records(options_.record_limits));
    return ImportResult{.names = FieldsOf(records), .records = schema_.tree.has_value()};
  }
  column_options_ = OptionsOfColumns(options_, schema_, sorted_by_);
  absl::StatusOr<ImportResult> result = Write();
  // The rows may have another order. If the error is another one, the second attempt finds it
  // again.
  if (!sorted_by_.empty() && absl::IsInvalidArgument(result.status())) result = WriteSorted();
  if (result.ok()) result->sorted_by = sorted_by_;
  return result;
}

absl::Status ColumnarImporter::MakeSchema() {
  sorted_by_ = options_.sorted_by;
  CFILE_ASSIGN_OR_RETURN(Schema schema, ReadSchema());
  if (sorted_by_.empty()) {
    for (const size_t key : schema.key_columns) sorted_by_.push_back(schema.columns[key].name);
  }
  CFILE_ASSIGN_OR_RETURN(schema_, ApplyOptions(options_, std::move(schema)));
  return absl::OkStatus();
}

absl::StatusOr<ImportResult> ColumnarImporter::WriteSorted() {
  CFILE_ASSIGN_OR_RETURN(TableWriter writer, NewWriter());
  CFILE_ASSIGN_OR_RETURN(
      const UnsortedTable copy,
      UnsortedTable::Create(options_.temporary_directory, schema_, column_options_));
  CFILE_ASSIGN_OR_RETURN(ImportResult result, WriteCopy(copy));
  CFILE_ASSIGN_OR_RETURN(result.reordered, copy.AppendSortedTo(writer, options_.input, sorted_by_,
                                                               options_.memory_bytes, progress_));
  CFILE_RETURN_IF_ERROR(writer.Finish());
  result.columns = ColumnsOf(schema_, [&](size_t column) { return writer.totals(column); });
  // Sorting has encoded all values again.
  if (result.reordered) {
    result.recoded_pages += result.copied_pages + result.recompressed_pages;
    result.copied_pages = result.recompressed_pages = 0;
  }
  return result;
}

}  // namespace cfile::tools
