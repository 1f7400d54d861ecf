// One column to read: a file, or a column of a table. With StoredColumn, the same code reads files
// and tables, with and without levels. FileWriter does the same for files that are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/io.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/status.h"
#include "cfile/table.h"
#include "cfile/writer.h"
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

// Reads rows from first to last: returns the next rows, at most `max_rows`, none at the end. They
// are valid until the next call. Errors as Cursor::Next. Precondition: max_rows > 0.
template <typename T>
using RowReader = std::function<absl::StatusOr<Rows<T>>(size_t max_rows)>;

// Begins to read the rows of `range`, which may end after the last row. Errors as Reader::NewCursor
// and Cursor::SeekToRange: a range that does not begin at the first row needs a positional index.
// kUnimplemented: the file holds Bloom filters. Precondition: HoldsType<T>(column.schema.type).
template <typename T>
absl::StatusOr<RowReader<T>> ReadRows(const StoredColumn& column, OrdinalRange range = kAllRows);

// The functions do what those of Writer and LevelWriter do. Movable.
template <typename T>
class FileWriter {
 public:
  // The file gets the type of `column`, and nulls and levels if `column` has them;
  // options.nullable is ignored.
  static absl::StatusOr<FileWriter> Create(std::unique_ptr<Sink> sink, const StoredColumn& column,
                                           WriterOptions options) {
    FileWriter writer;
    const ColumnSchema& schema = column.schema;
    options.nullable = schema.nullable;
    if (column.has_levels) {
      CFILE_ASSIGN_OR_RETURN(writer.levels_, LevelWriter<T>::Create(std::move(sink), schema.type,
                                                                    schema.levels, options));
    } else {
      CFILE_ASSIGN_OR_RETURN(writer.flat_,
                             Writer<T>::Create(std::move(sink), schema.type, options));
    }
    return writer;
  }

  // Precondition: the rows are of a column with levels if and only if the file gets levels.
  absl::Status Append(const Rows<T>& rows) {
    const LevelBatch<T>& levels = rows.levels;
    return flat_ ? flat_->Append(rows.flat)
                 : levels_->Append(levels.repetition, levels.definition, levels.values);
  }
  absl::Status AddMetadata(std::string_view key, std::string_view value) {
    return flat_ ? flat_->AddMetadata(key, value) : levels_->AddMetadata(key, value);
  }
  absl::Status Finish() { return flat_ ? flat_->Finish() : levels_->Finish(); }
  ColumnTotals totals() const { return flat_ ? flat_->totals() : levels_->totals(); }

 private:
  FileWriter() = default;

  std::optional<Writer<T>> flat_;
  std::optional<LevelWriter<T>> levels_;
};

}  // namespace cfile::tools
