// The values of a column as text, whatever its type: of one file, or of a table over all its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/reader.h"
#include "cfile/table.h"

namespace cfile::tools {

enum class Form {
  kText,  // tools/value_text.h, made printable by AppendPrintable; null
  kJson,  // what is not IsJsonNumber, and integers beyond 2^53, as strings; null
};

// A position in a column.
class ColumnText {
 public:
  virtual ~ColumnText() = default;

  virtual absl::Status Seek(uint64_t ordinal) = 0;

  // Goes to the first value that is not less than the one which `key` spells. kInvalidArgument:
  // `key` is no value of the column.
  virtual absl::StatusOr<KeyPosition> Find(std::string_view key) = 0;

  // Appends the value here and goes to the next. Precondition: this is not the end. After an error
  // `out` is as it was.
  virtual absl::Status AppendNext(Form form, std::string& out) = 0;
};

// At ordinal 0.
absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const Reader& reader);
absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const TableReader& table, size_t column);

}  // namespace cfile::tools
