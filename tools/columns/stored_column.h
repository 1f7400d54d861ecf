// One column to read: a file, or a column of a table. With StoredColumn, the same code reads files
// and tables, with and without levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// A handle: a copy reads the same open file or table. Exactly one of `file` and `table` is set.
struct StoredColumn {
  std::optional<Reader> file = {};
  std::optional<TableReader> table = {};
  size_t column = 0;         // of the table
  ColumnSchema schema = {};  // the column of a file is called "value"
  bool has_levels = false;   // ReadRows returns entries instead of rows
  uint64_t num_rows = 0;     // in a column with levels: records
};

// The name of the column of a file in options and messages.
inline constexpr const char* kFileColumn = "value";

// Keys of metadata with this prefix are reserved for the library, which writes them itself.
inline constexpr std::string_view kReservedKeyPrefix = "cfile.";

StoredColumn ColumnOf(const Reader& file);
// Precondition: column < table.schema().columns.size().
StoredColumn ColumnOf(const TableReader& table, size_t column);
// Returns the column of a file. For a table, returns the column `name`, or all columns if `name` is
// empty; if a part is chosen, their files in this part, with the names of the table, without the
// columns that are newer. `name` has no meaning for a file. kInvalidArgument: the table has no
// column of this name.
absl::StatusOr<std::vector<StoredColumn>> ColumnsOf(const Input& input, const std::string& name);

// Consecutive rows. A column without levels has only `flat`, a column with levels only `levels`.
template <typename T>
struct Rows {
  Batch<T> flat = {};
  LevelBatch<T> levels = {};

  // Rows or entries.
  size_t size() const { return flat.size() + levels.num_entries; }
  bool empty() const { return size() == 0; }
  // The rows or records that end in this batch.
  uint64_t num_rows() const { return flat.size() + levels.num_records; }
};

// Reads rows from first to last. Only one thread at a time may use it.
template <typename T>
class RowReader {
 public:
  virtual ~RowReader() = default;
  // The next rows: at most `max_rows`, none at the end. Valid until the next call. Errors as
  // Cursor::Next. Precondition: max_rows > 0.
  virtual absl::StatusOr<Rows<T>> Next(size_t max_rows) = 0;
};

// Begins to read the rows of `range`, which may end after the last row. Errors as
// Reader::NewCursor and Cursor::SeekToRange: a range that does not begin at the first row needs a
// positional index. kUnimplemented: the file holds Bloom filters.
// Precondition: HoldsType<T>(column.schema.type).
template <typename T>
absl::StatusOr<std::unique_ptr<RowReader<T>>> ReadRows(const StoredColumn& column,
                                                       OrdinalRange range = kAllRows);

}  // namespace cfile::tools
