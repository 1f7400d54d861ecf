// A batch of rows of a CSV file: parsed, then appended to a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cfile/table.h"
#include "tools/import/csv_input.h"
#include "tools/import/row_order.h"
#include "tools/time_format.h"

namespace cfile::tools {

class ColumnBatch {
 public:
  // `column`: the index of the column in the table.
  static std::unique_ptr<ColumnBatch> Create(const TextType& type, size_t column);
  virtual ~ColumnBatch() = default;

  // Empties the batch and makes room for `capacity` rows.
  virtual void Reset(size_t capacity) = 0;

  // Set row `row`, which has not been set, to the value of `text`, or to null. kInvalidArgument:
  // `text` is not a value of the type.
  virtual absl::Status Set(size_t row, std::string_view text) = 0;
  virtual void SetNull(size_t row) = 0;

  // Appends the first `rows` rows to the column. Precondition: these rows have been set.
  virtual absl::Status Append(size_t rows, TableWriter& writer) const = 0;
};

// A column of the file, and its index in the table.
struct ImportColumn {
  ColumnSchema schema;
  std::shared_ptr<const TimeFormat>
      format;  // of the values in the file; null: that of value_text.h
  size_t table_column = 0;
  bool decimal_comma = false;  // TextType

  TextType text_type() const {
    return {.type = schema.type, .format = format, .decimal_comma = decimal_comma};
  }
};

// Reuses its memory for each batch of rows. Thread-compatible. Calls of AppendColumn for different
// columns, and of AppendKeys, may run concurrently.
class RowBatch {
 public:
  // `columns`: the columns of the input, in its order; they must outlive the batch. `row_key`: set
  // if the table has a key index.
  RowBatch(const CsvInput& input, std::span<const ImportColumn> columns,
           std::optional<RowKey> row_key);
  RowBatch(const RowBatch&) = delete;
  RowBatch& operator=(const RowBatch&) = delete;

  // Replaces the rows of the batch by the rows from `begin` to `end` (CsvReader::SeekToRange), or
  // by `rows`. kInvalidArgument, with line and column: the CSV is invalid, a value does not fit its
  // column, or a column that is not nullable has a null.
  absl::Status Parse(uint64_t begin, uint64_t end);
  absl::Status Parse(std::span<const KeyedRow> rows);

  size_t num_rows() const { return num_rows_; }
  // The size of the rows in the file, in bytes.
  uint64_t size_bytes() const { return size_bytes_; }

  // Appends the rows of a column of the input, or their keys to the key index.
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
