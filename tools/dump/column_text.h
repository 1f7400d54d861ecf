// Writes the values of a column as text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cfile/table_scan.h"
#include "cfile/types.h"
#include "tools/json.h"

namespace cfile::tools {

enum class Form {
  kText,  // the form of tools/value_text.h, escaped by AppendPrintable; a null is the word null
  kJson,  // a JSON value; a string unless IsJsonNumber(type) and JSON readers can read it exactly
  // The bytes that PLAIN stores for the value, as hexadecimal digits, the least byte of a number
  // first. The empty string is "", a null is the word null.
  kHex,
};

// Appends the text of a value of a column of `type`, which holds T.
template <ValueType T>
void AppendValue(const ColumnType& type, const T& value, Form form, std::string& out);
// The value that AppendValue prints with Form::kJson.
template <ValueType T>
Json JsonValue(const ColumnType& type, const T& value);

// Thread-compatible.
class ColumnText {
 public:
  virtual ~ColumnText() = default;

  // Uses the values of column `column` of `batch` from now on, as long as `batch` is valid.
  // Precondition: the column has the type of NewColumnText, and no levels.
  virtual void Open(const TableBatch& batch, size_t column) = 0;

  // Appends the value of a row of the open batch. Precondition: row < num_rows() of the batch.
  virtual void Append(size_t row, Form form, std::string& out) = 0;
};

std::unique_ptr<ColumnText> NewColumnText(const ColumnType& type);

}  // namespace cfile::tools
