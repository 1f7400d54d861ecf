// Makes an ArrowArrayStream. Its rows come from a scan.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/arrow/column_sink.h"
#include "cfile/internal/arrow/field_tree.h"

namespace cfile::internal {

// A scan that adds rows to sinks. A sink takes the rows of one column. Thread-compatible.
class ExportedRows {
 public:
  virtual ~ExportedRows() = default;

  virtual const std::string& name() const = 0;  // for messages
  // Sets the sinks, one for each exported column. This is the first call, and it is made once.
  virtual void SetSinks(std::vector<RowSink*> sinks) = 0;
  // Adds the next rows to all sinks. Returns their number: at most `max_rows`, and 0 at the end.
  // After an error the sinks may have some rows of this call. Truncate removes them.
  // Precondition: max_rows > 0.
  virtual absl::StatusOr<size_t> Add(size_t max_rows) = 0;
  // True if a batch must not mix the rows of two calls of Add.
  virtual bool keeps_apart() const { return false; }
};

struct StreamContents {
  std::unique_ptr<ExportedRows> rows;
  FieldTree fields;
  std::vector<std::unique_ptr<ColumnSink>> sinks;  // one for each exported column
};

// Starts a stream. cfile/arrow.h explains max_batch_rows and column_only (ArrowExportOptions).
void MakeStream(StreamContents contents, size_t max_batch_rows, bool column_only,
                ArrowArrayStream* out);

}  // namespace cfile::internal
