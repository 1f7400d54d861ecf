// Cursors whose type of values is known only at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

using FileOrTable = std::variant<cfile::Reader, cfile::TableReader>;

// A cursor of one column, for searches and single values. Used by one thread at a time. The
// functions with objects of Python need the interpreter lock, which they release while they read.
class ColumnCursor {
 public:
  virtual ~ColumnCursor() = default;
  // (ordinal, exact) of the first row whose value is not less than `key`.
  virtual nb::tuple Seek(nb::handle key) = 0;
  // The ordinal of the newest row whose value equals `key`. TypeError: the column of a file, or not
  // the one that TableLookup searches.
  virtual std::optional<uint64_t> Newest(nb::handle key) = 0;
  // True if the rows of all parts follow each other in the order of the keys.
  virtual bool InKeyOrder() = 0;
  // Finds the rows with low <= value < high; None: no bound. Returns (begin, end) if their ordinals
  // are consecutive. If parts of the table overlap, returns bytes with the ordinals in the order of
  // the values, 8 bytes each.
  virtual nb::object KeyRange(nb::handle low, nb::handle high) = 0;
  // The stored values of these rows (OrdinalsOf).
  virtual nb::list Values(nb::handle ordinals) = 0;
};

// Opens a cursor of a column of `schema`, or of the key index. A file has only column 0.
// TypeError: the column has levels.
std::unique_ptr<ColumnCursor> NewColumnCursor(const FileOrTable& opened,
                                              const cfile::Schema& schema, size_t column);

}  // namespace cfile_python
