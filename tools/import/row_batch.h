// Some rows of a CSV file on their way into a table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/table.h"
#include "tools/import/column_batch.h"
#include "tools/import/csv_input.h"
#include "tools/import/row_order.h"

namespace cfile::tools {

// A column of the file, and where it goes.
struct ImportColumn {
  ColumnSchema schema;
  size_t table_column = 0;
};

// Keeps its memory from rows to rows. Thread-compatible, and more: columns, and the key index, may
// be appended at once.
class RowBatch {
 public:
  // `columns`: those of the input, in its order, which must outlive the batch. `row_key`: of the
  // rows, if the table has a key index.
  RowBatch(const CsvInput& input, std::span<const ImportColumn> columns,
           std::optional<RowKey> row_key);
  RowBatch(const RowBatch&) = delete;
  RowBatch& operator=(const RowBatch&) = delete;

  // Puts other rows into the batch: those from `begin` to `end` (CsvReader::SeekToRange), or those
  // at `places`. kInvalidArgument, with line and column: a fault in the file, a value that its
  // column does not hold, a null where there may be none.
  absl::Status Parse(uint64_t begin, uint64_t end);
  absl::Status Parse(std::span<const RecordPlace> places);

  size_t num_rows() const { return num_rows_; }
  // Of the text that they were.
  uint64_t size_bytes() const { return size_bytes_; }

  // Appends the rows of column `column` of the input, or their keys to the key index. Errors as
  // TableWriter::Append.
  absl::Status AppendColumn(size_t column, TableWriter& writer) const;
  absl::Status AppendKeys(TableWriter& writer) const;

 private:
  void Reset(size_t max_rows);
  absl::Status AddRow();

  CsvInput input_;
  const std::span<const ImportColumn> columns_;
  std::optional<RowKey> row_key_;
  std::vector<std::unique_ptr<ColumnBatch>> batches_;
  std::vector<std::string> keys_;
  size_t num_rows_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace cfile::tools
