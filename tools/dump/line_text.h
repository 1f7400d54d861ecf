// Formats rows of table batches as lines of CSV or of JSON.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cfile/schema.h"
#include "cfile/table_scan.h"

namespace cfile::tools {

// The text of the values is that of tools/value_text.h; finite floats always have a point or an
// exponent. Lines end with LF.
//
//   CSV    RFC 4180. A null is an empty field; the empty string is "".
//   JSON   an object with the values that are not null, in the forms of
//          tools/records/json_printer.h.
struct LineForm {
  bool json = false;
  // Of CSV: not a letter or a digit, and not in the text of numbers and times.
  char delimiter = ',';
};

// The names of the columns as a line of CSV.
std::string CsvHeader(std::span<const ColumnSchema> columns, char delimiter);

// Formats a few hundred rows at a time, column by column: each row has a range of a buffer, to
// which the columns write one after the other. Memory: at most 1 MiB for the buffer, or the largest
// text of a single row. Thread-compatible.
class LineText {
 public:
  // `columns`: the columns of the batches, without levels.
  LineText(const LineForm& form, std::span<const ColumnSchema> columns);
  ~LineText();

  // From now on, formats the rows from `begin` to `end` - 1 of `batch`, which must stay valid.
  void Open(const TableBatch& batch, size_t begin, size_t end);
  // True if all rows of the last call of Open are formatted.
  bool done() const { return next_row_ == end_row_; }
  // Appends the lines of some more rows to `out`. Precondition: !done().
  void Append(std::string& out);

 private:
  class Fields;
  template <typename T>
  class TypedFields;

  const LineForm form_;
  std::vector<std::unique_ptr<Fields>> fields_;
  size_t next_row_ = 0;
  size_t end_row_ = 0;
  std::vector<char> buffer_;
};

}  // namespace cfile::tools
