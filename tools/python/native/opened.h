// An open file or table (Opened of cfile/_native.pyi).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "cfile/table_scan.h"
#include "tools/python/native/stream.h"

namespace cfile_python {

// A cursor of one column, for searches and single values. Used by one thread at a time.
// The functions with objects of Python need the interpreter lock. They release it while they read.
class ColumnCursor {
 public:
  virtual ~ColumnCursor() = default;
  // (ordinal, exact) of the first row whose value is not less than `key`.
  virtual nb::tuple Seek(nb::handle key) = 0;
  virtual nb::tuple KeyRange(nb::handle low, nb::handle high) = 0;
  // The stored values of these rows.
  virtual nb::list Values(const std::vector<uint64_t>& ordinals) = 0;
};

// Thread-safe. A file counts as a table with one column, "value".
class Opened {
 public:
  Opened(cfile::Reader file, std::string name);
  Opened(cfile::TableReader table, std::string name);

  bool is_table() const { return std::holds_alternative<cfile::TableReader>(opened_); }
  const cfile::Reader& file() const { return std::get<cfile::Reader>(opened_); }
  const cfile::TableReader& table() const { return std::get<cfile::TableReader>(opened_); }
  const std::string& name() const { return name_; }
  const cfile::Schema& schema() const { return schema_; }
  uint64_t num_rows() const;

  // The position of a column. KeyError: there is no such column. For a file, any name is its column.
  size_t Position(const std::string& column) const;

  // Calls `use` with a cursor of a column. Keeps the cursor for the next call, because opening one
  // costs more than a search. TypeError: the column has levels.
  template <typename Use>
  auto WithCursor(size_t column, Use&& use) const {
    Borrowed cursor(*this, column);
    return use(cursor.get());
  }

 private:
  class Borrowed {
   public:
    Borrowed(const Opened& opened, size_t column);
    ~Borrowed();
    ColumnCursor& get() { return *cursor_; }

   private:
    const Opened& opened_;
    const size_t column_;
    std::unique_ptr<ColumnCursor> cursor_;
  };

  const std::variant<cfile::Reader, cfile::TableReader> opened_;
  const std::string name_;
  const cfile::Schema schema_;
  mutable std::mutex mutex_;
  // Cursors that no thread uses now, at most a few for each column.
  mutable std::map<size_t, std::vector<std::unique_ptr<ColumnCursor>>> cursors_;
};

// Opens a cursor of a column. TypeError: the column has levels.
std::unique_ptr<ColumnCursor> NewColumnCursor(const Opened& opened, size_t column);

// What describes a file or a table (describe.cc): dictionaries with the keys that
// cfile/_native.pyi names.
nb::list Columns(const Opened& opened);
nb::list Fields(const Opened& opened);
nb::list Parts(const Opened& opened);
nb::dict Info(const Opened& opened);
nb::object Statistics(const Opened& opened, const std::string& column, std::optional<size_t> part);
nb::list Blocks(const Opened& opened, const std::string& column);
nb::dict Verify(const Opened& opened);

// Adds the class Opened and the functions that open.
void AddOpened(nb::module_& module);

}  // namespace cfile_python
