#include "tools/columns/stored_column.h"

#include <algorithm>

namespace cfile::tools {
namespace {

// `Cursor`: Cursor<T> or TableCursor<T>.
template <typename T, typename Cursor>
absl::StatusOr<RowReader<T>> ReadFlat(absl::StatusOr<Cursor> cursor, const OrdinalRange& range,
                                      bool all) {
  if (!cursor.ok()) return cursor.status();
  // A file without a positional index can be read from its start.
  if (!all) CFILE_RETURN_IF_ERROR(cursor->SeekToRange(range));
  return [cursor = std::make_shared<Cursor>(*std::move(cursor))](
             size_t max_rows) -> absl::StatusOr<Rows<T>> {
    CFILE_ASSIGN_OR_RETURN(const Batch<T> batch, cursor->Next(max_rows));
    return Rows<T>{.flat = batch};
  };
}

// `Cursor`: LevelCursor<T> or TableLevelCursor<T>.
template <typename T, typename Cursor>
absl::StatusOr<RowReader<T>> ReadLevels(absl::StatusOr<Cursor> cursor, const OrdinalRange& range) {
  if (!cursor.ok()) return cursor.status();
  CFILE_RETURN_IF_ERROR(cursor->SeekToRecord(range.begin));
  return [cursor = std::make_shared<Cursor>(*std::move(cursor)),
          left = range.size()](size_t max_rows) mutable -> absl::StatusOr<Rows<T>> {
    if (left == 0) return Rows<T>{};
    CFILE_ASSIGN_OR_RETURN(const LevelBatch<T> batch,
                           cursor->Next(static_cast<size_t>(std::min<uint64_t>(left, max_rows))));
    left -= batch.num_records;
    return Rows<T>{.levels = batch};
  };
}

}  // namespace

StoredColumn ColumnOf(const Reader& file) {
  const FileInfo& info = file.info();
  return {.file = file,
          .schema = {.name = kFileColumn,
                     .type = info.type,
                     .nullable = info.nullable,
                     .levels = info.has_levels() ? info.levels : LevelLimits()},
          .has_levels = info.has_levels(),
          .num_rows = info.num_rows};
}

StoredColumn ColumnOf(const TableReader& table, size_t column) {
  return {.table = table,
          .column = column,
          .schema = table.schema().columns[column],
          .has_levels = table.schema().columns[column].has_levels(),
          .num_rows = table.num_rows()};
}

absl::StatusOr<std::vector<StoredColumn>> ColumnsOf(const Input& input, const std::string& name) {
  if (input.file) return std::vector<StoredColumn>{ColumnOf(*input.file)};
  const TableReader& table = *input.table;
  size_t begin = 0, end = table.schema().columns.size();
  if (!name.empty()) {
    CFILE_ASSIGN_OR_RETURN(begin, FindColumn(table, name));
    end = begin + 1;
  }
  std::vector<StoredColumn> columns;
  for (size_t i = begin; i < end; ++i) {
    if (!input.part) {
      columns.push_back(ColumnOf(table, i));
      continue;
    }
    CFILE_ASSIGN_OR_RETURN(const std::string path, table.part_file(*input.part, i));
    if (path.empty()) continue;  // the part is older than the column
    CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(*input.part, i));
    columns.push_back(ColumnOf(file));
    columns.back().schema = table.schema().columns[i];
  }
  return columns;
}

template <typename T>
absl::StatusOr<RowReader<T>> ReadRows(const StoredColumn& column, OrdinalRange range) {
  range.end = std::min(range.end, column.num_rows);
  range.begin = std::min(range.begin, range.end);
  const bool all = range == OrdinalRange{0, column.num_rows};
  if (column.file) {
    if (column.file->info().holds_bloom_filters()) {
      return absl::UnimplementedError("the file holds Bloom filters of Kudu instead of rows");
    }
    return column.has_levels ? ReadLevels<T>(column.file->NewLevelCursor<T>(), range)
                             : ReadFlat<T>(column.file->NewCursor<T>(), range, all);
  }
  return column.has_levels ? ReadLevels<T>(column.table->NewLevelCursor<T>(column.column), range)
                           : ReadFlat<T>(column.table->NewCursor<T>(column.column), range, all);
}

#define CFILE_INSTANTIATE(T) \
  template absl::StatusOr<RowReader<T>> ReadRows<T>(const StoredColumn&, OrdinalRange);
CFILE_FOR_EACH_VALUE_TYPE(CFILE_INSTANTIATE)
#undef CFILE_INSTANTIATE

}  // namespace cfile::tools
