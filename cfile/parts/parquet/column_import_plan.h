// What one column of a Parquet file is imported from and into.
#pragma once

#include <cstddef>
#include <string>

#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parts/parquet/metadata/file_metadata.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/record_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

struct ColumnImportPlan {
  const Source* source = nullptr;
  const parquet::ParquetMetadata* metadata = nullptr;
  ParquetLeaf leaf;
  std::string name;                    // for messages
  const RecordSchema* tree = nullptr;  // null: no column is in a group
  ReaderOptions reader;
  size_t max_page_size_bytes = 0;
  ColumnType file_type;      // of the file's column
  bool only_nulls = false;   // the column has no values, so that its type does not matter
  ColumnSchema column;       // of the table
  size_t table_column = 0;   // its position in the table
  WriterOptions writer;      // the options of the column's file
  bool copies_pages = true;  // false: decodes and encodes all pages
};

}  // namespace cfile::internal
