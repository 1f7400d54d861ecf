// Makes an ArrowArrayStream of the rows of a scan or a take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/file_info.h"
#include "cfile/parts/arrow/field_tree.h"
#include "cfile/parts/scan/row_sink.h"
#include "cfile/schema.h"

namespace cfile::internal {

// A scan or a take that adds rows to sinks. A sink takes the rows of one column. Thread-compatible.
class ExportedRows {
 public:
  virtual ~ExportedRows() = default;

  virtual const std::string& name() const = 0;  // for messages
  // Sets the sinks, one for each exported column. Called once, first.
  virtual void SetSinks(std::vector<RowSink*> sinks) = 0;
  // Adds the next rows to all sinks, and returns their number: at most `max_rows`, and 0 at the
  // end. After an error, Truncate removes the rows that some sinks already have. Precondition:
  // max_rows > 0.
  virtual absl::StatusOr<size_t> Add(size_t max_rows) = 0;
  // True if a batch must not mix the rows of two calls of Add.
  virtual bool keeps_apart() const { return false; }
};

// The rows of a stream.
struct RowsToExport {
  std::unique_ptr<ExportedRows> rows;
  const Schema* schema = nullptr;  // must stay valid until ExportRows returns
  std::vector<ExportedColumn> columns;
  uint64_t max_rows = 0;           // an estimate: memory is reserved for so many rows
  const FileInfo* file = nullptr;  // the file whose only column is exported, or null
};

// Starts a stream. max_batch_rows and column_only: see ArrowExportOptions. kUnimplemented: a column
// has no Arrow type. The error names the column.
absl::Status ExportRows(RowsToExport exported, size_t max_batch_rows, bool column_only,
                        ArrowArrayStream* out);

}  // namespace cfile::internal
