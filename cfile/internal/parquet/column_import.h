// Imports one column of a Parquet file into a part of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "cfile/internal/parquet/metadata/file_metadata.h"
#include "cfile/internal/parquet/parquet_schema.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/parquet.h"
#include "cfile/schema.h"
#include "cfile/table.h"

namespace cfile::internal {

// What a column is imported from and into.
struct ColumnImportPlan {
  const Source* source = nullptr;
  const parquet::ParquetMetadata* metadata = nullptr;
  ParquetLeaf leaf;
  std::string name;            // for messages
  ReaderOptions reader;
  ColumnSchema column;         // of the table
  size_t table_column = 0;     // its position in the table
  WriterOptions writer;        // the options of the column's file
  bool copies_pages = true;    // false: decodes and encodes all pages
};

// Thread-compatible.
class ColumnImport {
 public:
  virtual ~ColumnImport() = default;

  // Appends the rows of a column chunk to the column of `writer`. Adds to the counters of pages and
  // to bytes_in of `report`. Errors name the file, the column and the page. kDataLoss: the chunk is
  // damaged or has not `num_rows` rows. kUnimplemented: it needs something that is not known here.
  // Other errors: those of TableWriter::Append.
  virtual absl::Status Import(const parquet::ColumnChunk& chunk, uint64_t num_rows,
                              TableWriter& writer, ParquetReport& report) = 0;
};

// `plan` must not be changed, and what it points to must outlive the result.
std::unique_ptr<ColumnImport> NewColumnImport(const ColumnImportPlan& plan);

}  // namespace cfile::internal
