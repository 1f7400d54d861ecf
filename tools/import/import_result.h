// What an import has done, for its summary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cfile/file_info.h"
#include "cfile/schema.h"
#include "tools/document.h"
#include "tools/import/csv_input.h"
#include "tools/import/csv_reader.h"
#include "tools/import/import_options.h"
#include "tools/records/type_inference.h"

namespace cfile::tools {

struct ImportedColumn {
  ColumnSchema schema;
  ColumnTotals totals;
  TypeReason reason;  // of CSV and JSON: why the column has its type
};

// The columns of a table. In the summary, nulls are entries without a value, which every column
// with levels may have.
template <typename TotalsOf>
std::vector<ImportedColumn> ColumnsOf(const Schema& schema, TotalsOf totals_of) {
  std::vector<ImportedColumn> columns;
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    columns.push_back({.schema = schema.columns[i], .totals = totals_of(i)});
    ColumnSchema& column = columns.back().schema;
    column.nullable = column.nullable || column.has_levels();
  }
  return columns;
}

// Rows that were skipped because they are bad.
struct SkippedRows {
  uint64_t count = 0;
  // The first lines of the first rows, counted from 1: of all rows, or of kMaxSkippedLines.
  std::vector<uint64_t> lines;
  std::vector<std::string> reasons;  // of the first kShownBadRows rows
};
inline constexpr size_t kMaxSkippedLines = 1000;

struct ImportResult {
  std::vector<std::string> names;  // only these are set if only the names were asked for
  uint64_t rows = 0;
  uint64_t bytes_in = 0;      // of text in UTF-8
  uint64_t stored_bytes = 0;  // of the input, which may be compressed or have another charset
  std::string packing;        // InputFile::packing
  std::string charset;        // InputFile::charset
  // Of the new table, or of the new part: columns, keys and the description of the table.
  uint64_t table_bytes = 0;
  double seconds = 0;
  std::vector<std::string> sorted_by;
  bool reordered = false;       // the file had another order, so the rows were sorted
  std::string format = "CSV";   // of the input
  bool records = false;         // the rows are records; then nulls are entries without a value
  std::string inferred_schema;  // empty: the schema was given
  std::vector<ImportedColumn> columns;
  bool header = true;                  // the first record of CSV has the names of the columns
  Delimiter delimiter;                 // of CSV
  SkippedRows skipped;                 // of CSV
  std::vector<RenamedColumn> renamed;  // columns whose name in CSV could not be used
  std::vector<std::string> warnings;
  // Of Parquet: what has become of its pages (ParquetReport in cfile/parquet.h).
  uint64_t copied_pages = 0;
  uint64_t recompressed_pages = 0;
  uint64_t recoded_pages = 0;

  uint64_t bytes_out() const {
    uint64_t bytes = 0;
    for (const ImportedColumn& column : columns) bytes += column.totals.bytes_written;
    return bytes;
  }
};

// Text has some lines about the import, then a table with a line per column: its type, its nulls
// and its values in the first new rows, which are read from the table. `report`: also counts the
// pages of Parquet. `why`: the lines of the columns have encodings, sizes and reasons instead of
// values. JSON has all but the values.
Document Summary(const ImportOptions& options, const ImportResult& result, bool json, bool report,
                 bool why);

}  // namespace cfile::tools
