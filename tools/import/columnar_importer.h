// What the imports of Parquet and of Arrow IPC have in common: the input has a schema, and its rows
// may need to be sorted.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/table.h"
#include "tools/import/column_options.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"
#include "tools/import/table_sorter.h"
#include "tools/input/input_file.h"
#include "tools/progress.h"

namespace cfile::tools {

// Damage of the input is an error in the input, as in CSV. kDataLoss would mean a damaged table.
template <typename T>
absl::StatusOr<T> AsInputError(absl::StatusOr<T> result) {
  if (!absl::IsDataLoss(result.status())) return result;
  return absl::InvalidArgumentError(result.status().message());
}

class ColumnarImporter {
 public:
  virtual ~ColumnarImporter() = default;

  // Imports the input. If its rows must be sorted and have another order, first copies them into a
  // temporary table (table_sorter.h).
  absl::StatusOr<ImportResult> Run();

 protected:
  ColumnarImporter(const ImportOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}

  // The key columns of the result are the order of the table if the user has chosen none.
  virtual absl::StatusOr<Schema> ReadSchema() = 0;
  virtual absl::StatusOr<TableWriter> NewWriter() const {
    return NewTableWriter(options_, schema_, column_options_);
  }
  // Write all rows of the input, in its order, to the table or to a temporary table. WriteCopy need
  // not describe the columns.
  virtual absl::StatusOr<ImportResult> Write() = 0;
  virtual absl::StatusOr<ImportResult> WriteCopy(const UnsortedTable& copy) = 0;

  const ImportOptions& options_;
  Progress& progress_;
  // Set by Run before it calls NewWriter, Write and WriteCopy.
  Schema schema_;
  std::vector<std::string> sorted_by_;
  std::vector<WriterOptions> column_options_;

 private:
  absl::Status MakeSchema();
  absl::StatusOr<ImportResult> WriteSorted();
};

// Imports `file`, a Parquet file, or if it has no source options.files or the Parquet files in the
// directory options.input (cfile/parquet.h). Pages become blocks without being encoded again,
// unless options ask for other blocks. Errors: those of Import (importer.h); kUnimplemented: the
// input needs something that this build does not have.
absl::StatusOr<ImportResult> ImportParquetFiles(const ImportOptions& options, const InputFile& file,
                                                Progress& progress);

// The same for an Arrow IPC file or stream (cfile/arrow_ipc.h), or options.files, which have the
// columns of the first. A field whose type is null becomes a column of strings. Memory: that of one
// record batch.
absl::StatusOr<ImportResult> ImportArrowIpc(const ImportOptions& options, const InputFile& file,
                                            Progress& progress);

}  // namespace cfile::tools
