// A batch of rows of one column: parsed from text, then appended to a table.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/table.h"
#include "tools/time_format.h"

namespace cfile::tools {

class ColumnBatch {
 public:
  // Creates an empty batch for a column of `type`. `column` is its index in the table.
  static std::unique_ptr<ColumnBatch> Create(const TextType& type, size_t column);
  virtual ~ColumnBatch() = default;

  // Empties the batch and makes room for `capacity` rows.
  virtual void Reset(size_t capacity) = 0;

  // Set row `row` to the value of `text`, or to null. Preconditions: row < capacity; the row has
  // not been set yet. Set returns kInvalidArgument if ParseText, or the format of the type, does
  // not accept `text` as a value of the column's type.
  virtual absl::Status Set(size_t row, std::string_view text) = 0;
  virtual void SetNull(size_t row) = 0;

  // Appends the first `rows` rows to the column. Precondition: these rows have been set.
  virtual absl::Status Append(size_t rows, TableWriter& writer) const = 0;
};

}  // namespace cfile::tools
