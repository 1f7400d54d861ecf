// Reads a column of any type as text: a single file, or a column of a table over all its parts.
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
  kText,  // the form of tools/value_text.h, escaped by AppendPrintable; a null is the word null
  kJson,  // a JSON value; a string unless IsJsonNumber(type) and JSON readers can read it exactly
};

// A cursor over the values of a column.
class ColumnText {
 public:
  virtual ~ColumnText() = default;

  virtual absl::Status Seek(uint64_t ordinal) = 0;

  // Parses `key` with ParseText and moves to the first value that is not less than it.
  // kInvalidArgument: `key` is not a value of the column's type.
  virtual absl::StatusOr<KeyPosition> Find(std::string_view key) = 0;

  // Appends the current value and moves to the next one. Precondition: not at the end. After an
  // error `out` is unchanged.
  virtual absl::Status AppendNext(Form form, std::string& out) = 0;
};

// Creates a cursor at ordinal 0.
absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const Reader& reader);
absl::StatusOr<std::unique_ptr<ColumnText>> NewColumnText(const TableReader& table, size_t column);

}  // namespace cfile::tools
