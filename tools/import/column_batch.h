// Some rows of one column on their way from text into a table.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/table.h"

namespace cfile::tools {

class ColumnBatch {
 public:
  // Room for `capacity` rows of a column of `type`, which is number `column` in the table.
  static std::unique_ptr<ColumnBatch> Create(const ColumnType& type, size_t column,
                                             size_t capacity);
  virtual ~ColumnBatch() = default;

  // Fill row `row`, each once. Precondition: row < capacity. kInvalidArgument as ParseText.
  virtual absl::Status Set(size_t row, std::string_view text) = 0;
  virtual void SetNull(size_t row) = 0;

  // Appends the first `rows` rows to the column, and empties the batch. Precondition: they have
  // been filled.
  virtual absl::Status Flush(size_t rows, TableWriter& writer) = 0;
};

}  // namespace cfile::tools
