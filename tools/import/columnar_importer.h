// What the imports of Parquet and of Arrow IPC have in common: the input has a schema, and its rows
// may need to be sorted.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/table.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"
#include "tools/import/table_sorter.h"
#include "tools/input/input_file.h"
#include "tools/progress.h"

namespace cfile::tools {

class ColumnarImporter {
 public:
  virtual ~ColumnarImporter() = default;

  // Imports the input. If its rows must be sorted and have another order, copies them into a
  // temporary table, and sorts them from there.
  absl::StatusOr<ImportResult> Run();

 protected:
  ColumnarImporter(const ImportOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}

  // The key columns of the result are the order of the table if the user has chosen none.
  virtual absl::StatusOr<Schema> ReadSchema() = 0;
  virtual absl::StatusOr<TableWriter> NewWriter() const = 0;
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

// Imports `file`, a Parquet file, into the table options.output. If it has no source, imports
// options.files, or the Parquet files in the directory options.input (cfile/parquet.h). Pages
// become blocks without being encoded again, unless options ask for other blocks. If the rows must
// be sorted and have another order, first copies them into a temporary table in the directory of
// the table, and sorts them from there (table_sorter.h).
//
// kInvalidArgument: the input is damaged, a value does not fit its column, or options do not fit
// the input. kUnimplemented: the input needs something that this build does not have. kCancelled:
// Progress::Cancel was called. Other errors are those of reading and writing. An error leaves no
// files behind.
absl::StatusOr<ImportResult> ImportParquetFiles(const ImportOptions& options, const InputFile& file,
                                                Progress& progress);

// Imports `file`, an Arrow IPC file or stream (cfile/arrow_ipc.h), into the table
// options.output; if it has no source, options.files, which have the columns of the first. The
// types are those of ImportArrowSchema; a field whose type is null becomes a column of strings. If
// the rows must be sorted and have another order, copies the rows into a temporary table in the
// directory of the table, and sorts them from there (table_sorter.h).
//
// Memory: that of one record batch, which AppendArrow reads as a whole.
//
// kInvalidArgument: the input is damaged, a value does not fit its column, or options do not fit
// the input. kUnimplemented: no column can hold the type of a field, or this build cannot read
// Arrow IPC. kCancelled: Progress::Cancel was called. Other errors are those of reading and
// writing. An error leaves no files behind.
absl::StatusOr<ImportResult> ImportArrowIpc(const ImportOptions& options, const InputFile& file,
                                            Progress& progress);

}  // namespace cfile::tools
