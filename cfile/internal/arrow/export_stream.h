// An ArrowArrayStream whose rows come from a scan.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/internal/arrow/column_sink.h"
#include "cfile/internal/arrow/field_tree.h"

namespace cfile::internal {

// A scan that adds rows to sinks. Thread-compatible.
class ExportedRows {
 public:
  virtual ~ExportedRows() = default;

  virtual const std::string& name() const = 0;  // for messages
  // Sets the sinks: one for each exported column. Called once, first.
  virtual void SetSinks(std::vector<RowSink*> sinks) = 0;
  // Adds the next rows to all sinks. Returns how many: 0 at the end, at most `max_rows`. After an
  // error the sinks may have rows that Truncate removes. Precondition: max_rows > 0.
  virtual absl::StatusOr<size_t> Add(size_t max_rows) = 0;
  // True if rows of different calls of Add must not be in one batch.
  virtual bool keeps_apart() const { return false; }
};

struct StreamContents {
  std::unique_ptr<ExportedRows> rows;
  FieldTree fields;
  std::vector<std::unique_ptr<ColumnSink>> sinks;  // one for each exported column
};

// Begins a stream. max_batch_rows, column_only: those of ArrowExportOptions (cfile/arrow.h).
void MakeStream(StreamContents contents, size_t max_batch_rows, bool column_only,
                ArrowArrayStream* out);

}  // namespace cfile::internal
