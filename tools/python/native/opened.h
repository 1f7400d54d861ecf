// An open file or table (Opened of cfile/_native.pyi).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tools/python/native/column_cursor.h"
#include "tools/python/native/errors.h"

namespace cfile_python {

// Thread-safe. A file counts as a table with one column, "value".
class Opened {
 public:
  Opened(cfile::Reader file, std::string name);
  Opened(cfile::TableReader table, std::string name);

  bool is_table() const { return is_table_; }
  // ValueError: Close was called.
  cfile::Reader file() const { return std::get<cfile::Reader>(*Held()); }
  cfile::TableReader table() const { return std::get<cfile::TableReader>(*Held()); }
  const std::string& name() const { return name_; }
  // For opening.py: how to open the file or the table again, and a table's snapshot.
  nb::object origin = nb::none();
  nb::object snapshot = nb::none();
  // For rules.py, if applies_rule(): the table with all stored rows, and the number of rows.
  nb::object stored = nb::none();
  nb::object counted = nb::none();
  nb::object types = nb::none();  // for selection.py: the types of the columns by their names
  size_t threads = 1;             // of a scan of all rows
  // Closes the files when the calls and the streams that use them have ended.
  void Close();
  const cfile::Schema& schema() const { return schema_; }
  // The metadata of a table (TableReader::metadata), or of the header and the footer of a file.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> metadata() const;
  // The value of ARROW:schema in the metadata, or "" (TableReader::arrow_schema).
  absl::StatusOr<std::string> arrow_schema() const;
  // Gives an exported stream the types that the rows had when they were written.
  absl::Status Restore(ArrowArrayStream* stream) const;
  // Stored rows.
  uint64_t num_rows() const { return num_rows_; }
  // True if a merge rule hides some of the rows (TableReader::applies_merge_rule).
  bool applies_rule() const { return applies_rule_; }

  // The position of a column. KeyError: there is no such column. For a file, any name is its
  // column.
  size_t Position(const std::string& column) const;

  // Calls `use` with a cursor of a column. Keeps the cursor for the next call, because opening one
  // costs more than a search. TypeError: the column has levels.
  template <typename Use>
  auto WithCursor(size_t column, Use&& use) const {
    std::unique_ptr<ColumnCursor> cursor = TakeCursor(column);
    auto result = use(*cursor);
    KeepCursor(column, std::move(cursor));
    return result;
  }

  // ValueError: Close was called.
  std::shared_ptr<const FileOrTable> Held() const;

 private:
  std::unique_ptr<ColumnCursor> TakeCursor(size_t column) const;
  void KeepCursor(size_t column, std::unique_ptr<ColumnCursor> cursor) const;

  const bool is_table_;
  const std::string name_;
  const cfile::Schema schema_;
  const uint64_t num_rows_;
  const bool applies_rule_;
  mutable std::mutex mutex_;                         // of the members below
  mutable std::optional<std::string> arrow_schema_;  // what arrow_schema() found
  std::shared_ptr<const FileOrTable> opened_;        // null after Close
  // Cursors that no thread uses now, at most a few for each column.
  mutable std::map<size_t, std::vector<std::unique_ptr<ColumnCursor>>> cursors_;
};

}  // namespace cfile_python
