// Imports one column of a Parquet file into a part of a table.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "cfile/parquet_options.h"
#include "cfile/parts/parquet/column_import_plan.h"
#include "cfile/parts/parquet/metadata/messages.h"
#include "cfile/parts/parquet/shared_levels.h"
#include "cfile/table.h"

namespace cfile::internal {

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

  // The levels of the chunk that was imported last, for CompareLevels.
  virtual const LevelCheck& levels() const = 0;
};

// `plan` must not be changed, and what it points to must outlive the result.
std::unique_ptr<ColumnImport> NewColumnImport(const ColumnImportPlan& plan);

}  // namespace cfile::internal
