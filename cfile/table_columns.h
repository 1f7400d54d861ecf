// Changes the columns of a table. Each change is one commit, and leaves the files of the other
// columns as they are (cfile/FORMAT.md, Table). Errors, lifetime and threads: cfile/CONCEPTS.md.
//
//   cfile::AddColumn("flights", {.name = "cancelled", .type = cfile::ColumnType::Bool()}, false);
//
//   auto writer = cfile::ColumnsWriter::Replace("flights", {"delay"});
//   writer->Append<int32_t>(0, delays);  // of all rows of the table
//   writer->Finish();
//
// AppendArrow (cfile/arrow_import.h) fills such a writer from an Arrow stream.
//
// Readers that are open keep the columns with which they opened the table. A table may have parts
// that are older than a change and parts that are newer; readers read all parts as one table. The
// files that a change makes unnecessary stay until CollectGarbage removes them
// (cfile/table_maintenance.h). A packed part (WriterOptions::max_packed_part_bytes) keeps the bytes
// of columns that were dropped or got other values, until its rows are written again (Compact).
//
// AddColumn, DropColumns, RenameColumn, ReorderColumns, WidenColumn and ColumnsWriter::Add change
// the schema. If a TableWriter began before such a change, its Finish returns kAborted after the
// change. ColumnsWriter::Replace does not disturb a TableWriter that appends a part.
//
// A column that is widened keeps the metadata of its files, and so does the first column if it is
// replaced. If the options of the new files have metadata, the files get these instead.
//
// If columns of a table were added, dropped, reordered or widened, older versions of this library
// refuse the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/filter.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "cfile/types.h"
#include "encodings/core/export.h"

namespace cfile {

// All functions here may run at the same time, in any threads and processes, also while writers
// append to the table. `options` of type ReaderOptions: limits for reading table.cft.
//
// Errors of all functions, besides those of changing a table:
// - kNotFound: there is no column of this name.
// - kUnimplemented: the table holds nested records. Only ColumnsWriter::Replace can change such a
//   table.
// - kInvalidArgument: the new schema is not valid (see Schema), for example two columns would have
//   the same name.

// Adds a column after all others. The rows that the table already has get the value
// `default_value`, or null without a default. Writes no file of a column. kInvalidArgument, for
// one of these reasons:
// - `default_value` is not a value of the column (Literal says which constants fit), or is NaN.
// - The column has the type int96 and there is a default.
// - There is no default, but the table has parts and the column is not nullable.
CFILE_EXPORT absl::Status AddColumn(const TableLocation& table, const ColumnSchema& column,
                                    const std::optional<Literal>& default_value = std::nullopt,
                                    const ReaderOptions& options = {});

// Removes columns. Writes no file of a column. Reads the file of the first column if this column is
// removed, because it may have the table's metadata (TableReader::metadata), which stay.
// kFailedPrecondition: a column is a key column or a column of the merge rule. kInvalidArgument:
// the table would have no column.
CFILE_EXPORT absl::Status DropColumns(const TableLocation& table,
                                      std::span<const std::string> names,
                                      const ReaderOptions& options = {});

// Gives a column another name, without reading or writing files of columns.
CFILE_EXPORT absl::Status RenameColumn(const TableLocation& table, std::string_view from,
                                       std::string_view to, const ReaderOptions& options = {});

// Puts the columns into the order of `names`. Each column must be named once. Writes no file of a
// column. Reads the file of the first column if this column moves, as DropColumns.
// kInvalidArgument: `names` lacks a column or names one twice.
CFILE_EXPORT absl::Status ReorderColumns(const TableLocation& table,
                                         std::span<const std::string> names,
                                         const ReaderOptions& options = {});

// Changes the metadata of a table (TableReader::metadata). `change` may be called several times.
// Reads the file of the first column. From then on the metadata are in table.cft, even if `change`
// leaves the pairs as they are: they stay if the first part is dropped, and earlier versions of
// this library refuse the table. Errors: those of `change`. kInvalidArgument: a key begins with
// "cfile.", or the last pair would be removed. kFailedPrecondition: the oldest reader of the table
// does not know such metadata.
CFILE_EXPORT absl::Status ChangeMetadata(
    const TableLocation& table,
    absl::FunctionRef<absl::Status(std::vector<std::pair<std::string, std::string>>&)> change,
    const ReaderOptions& options = {});

// Gives a column a wider type. A wider type can hold all values of the old type:
// - an integer of more bits, also signed instead of unsigned;
// - double instead of float;
// - a decimal of more digits and the same scale;
// - string instead of varchar. (The length of a varchar is not part of its type.)
//
// Reads the column's files and writes new ones, with the same value indexes; for a key column, also
// writes new compound keys. `options`: for the new files. Memory: that of two Writers and a Cursor.
// kInvalidArgument: `type` is not a wider type, or does not fit the merge rule. kAborted: the
// columns or the parts of the table have changed during this call.
CFILE_EXPORT absl::Status WidenColumn(const TableLocation& table, std::string_view name,
                                      const ColumnType& type, const WriterOptions& options = {});

// Appends the rows of another table as a new part, and changes the columns of `table` so that the
// rows fit. All is one commit. After an error the table is as it was. Columns are found by name:
//
// - A column that gets a null becomes nullable. A column that `rows` lacks gets nulls.
// - A column gets a wider type (WidenColumn), or the smallest signed type that holds both types.
// - An integer column and double become double, if all integers are equal to a double. Integers
//   and float become double, too. An integer of `rows` may also be stored in a double column.
// - A column that only `rows` have is added after all others. It is null in all older rows.
// - A column of `rows` that has only nulls fits each type.
//
// A column that sorts the rows gets no nulls. The rows must be in the order of the table. Writes
// new files of the columns that change, in all parts, as WidenColumn does. `options`: returns the
// options of the files of a column; first, for a column without a name, the limits of table.cft.
// Value indexes are those of the table.
//
// Returns a sentence for each change. kInvalidArgument: the rows do not fit. kUnimplemented:
// `rows` or the table holds nested records. (AppendTable and WidenColumn take records without
// groups and lists.) kFailedPrecondition: `rows` applies a merge rule. kAborted: as WidenColumn.
CFILE_EXPORT absl::StatusOr<std::vector<std::string>> AppendTable(
    const TableLocation& table, const TableReader& rows,
    const std::function<WriterOptions(const ColumnSchema&)>& options);

// Writes new columns of a table, or new values of its columns. Each column needs one value for each
// row that the table has when the writer begins, in the order of the rows. The values become
// visible, in all parts and all columns at once, when Finish succeeds. Takes as long as writing a
// table of these columns. Memory: one Writer for each column.
class CFILE_EXPORT ColumnsWriter {
 public:
  // Begins to add `columns` after all others. The new columns get no defaults, so each part that
  // is written later must have values for them. `options`: none, one for all columns, or one per
  // column. WriterOptions::nullable is ignored: `columns` says which columns are nullable.
  static absl::StatusOr<ColumnsWriter> Add(const TableLocation& table,
                                           std::span<const ColumnSchema> columns,
                                           std::span<const WriterOptions> options = {});
  // Begins to give new values to the columns with these names. The schema stays as it is. Rows
  // that other writers append before Finish keep their values. In a table of nested records, a
  // list or a group may have several columns: the new levels of a column must describe the same
  // lists and groups as the other columns do. A column keeps its value index only if `options` ask
  // for one; its new values must be in ascending order in each part. kFailedPrecondition: a column
  // is a key column or a column of the merge rule. kInvalidArgument: a column is named twice.
  static absl::StatusOr<ColumnsWriter> Replace(const TableLocation& table,
                                               std::span<const std::string> names,
                                               std::span<const WriterOptions> options = {});
  static absl::StatusOr<ColumnsWriter> Replace(const TableLocation& table,
                                               std::initializer_list<std::string> names,
                                               std::span<const WriterOptions> options = {}) {
    return Replace(table, std::span<const std::string>(names.begin(), names.size()), options);
  }
  ColumnsWriter(ColumnsWriter&&) noexcept;
  ColumnsWriter& operator=(ColumnsWriter&&) noexcept;
  ~ColumnsWriter();

  // The number of rows that each column needs.
  uint64_t num_rows() const;
  // The columns that are written, in the order of `columns` or `names`. Has no tree of records.
  const Schema& schema() const;

  // Appends values to one column; see Writer::Append. `column`: the position of the column in
  // `columns` or `names`. kInvalidArgument: the column has levels; there are more values than rows
  // of the table.
  template <typename T, typename = IfValueType<T>>
  absl::Status Append(size_t column, std::span<const T> values) {
    return AppendRows(column, &HoldsType<T>,
                      {.values = values.data(), .count = values.size(), .validity = nullptr});
  }
  template <typename T, typename = IfValueType<T>>
  absl::Status Append(size_t column, std::span<const T> values, std::span<const uint8_t> validity) {
    CFILE_ASSERT(validity.size() >= (values.size() + 7) / 8);
    return AppendRows(
        column, &HoldsType<T>,
        {.values = values.data(), .count = values.size(), .validity = validity.data()});
  }
  // Appends entries to a column with levels; see LevelWriter::Append. kInvalidArgument: the column
  // has no levels; there are more records than rows of the table.
  template <typename T, typename = IfValueType<T>>
  absl::Status AppendLevels(size_t column, std::span<const uint16_t> repetition,
                            std::span<const uint16_t> definition, std::span<const T> values) {
    return AppendEntries(column, &HoldsType<T>,
                         {.repetition = repetition, .definition = definition, .values = values});
  }

  // Completes the files and publishes them. kInvalidArgument: a column has fewer rows than the
  // table. kAborted: one of the following has happened since this writer began:
  // - the schema has changed;
  // - one of these columns has got other values;
  // - a part was dropped or replaced, or, for Add, a part was added;
  // - or files of this writer were removed.
  absl::Status Finish();

 private:
  class CFILE_HIDDEN Impl;
  explicit ColumnsWriter(std::unique_ptr<Impl> impl);

  absl::Status AppendRows(size_t column, internal::HoldsFunction* holds,
                          const internal::AnyBatch& rows);
  absl::Status AppendEntries(size_t column, internal::HoldsFunction* holds,
                             const internal::AnyLevelBatch& entries);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cfile
