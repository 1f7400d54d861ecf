// A table: a directory with a schema and parts, each part one CFile per column, written and read as
// one (cfile/FORMAT.md, Table).
//
//   auto writer = cfile::TableWriter::Create("flights", schema);
//   (*writer)->Append<int32_t>(0, years); (*writer)->Append<std::string_view>(1, carriers); ...
//   (*writer)->Finish(); auto table = cfile::TableReader::Open("flights"); auto cursor =
//   table->NewCursor<int32_t>(0);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/record_schema.h"
#include "cfile/types.h"

namespace cfile {

struct ColumnSchema {
  std::string name;
  ColumnType type;
  bool nullable = false;
  // Of a leaf of nested records that is stored with levels; both maxima 0 for all others.
  LevelLimits levels = {};

  bool has_levels() const { return levels.max_definition > 0; }
  friend bool operator==(const ColumnSchema&, const ColumnSchema&) = default;
};

// The columns of a table, in order. Names are unique and not empty.
struct Schema {
  std::vector<ColumnSchema> columns;
  // If the rows are sorted by several columns, or one, and to be found by them: their positions in
  // `columns`, the most significant first. None is nullable or int96. The keys are appended beside
  // the columns; Finish and Verify compare the two.
  std::vector<size_t> key_columns = {};
  // If the rows are records: the tree whose leaves are the columns.
  std::optional<RecordSchema> tree = {};

  // The schema of a table of records: a column for each leaf, with its path as name. One that is
  // repeated, or has more than one definition level, has levels.
  static Schema OfRecords(const RecordSchema& tree);
  // The tree; that of a table without one has a leaf for each column. kInvalidArgument: one
  // of `limits` is passed, by the number of columns or by a name.
  absl::StatusOr<RecordSchema> Records(const RecordLimits& limits = {}) const;

  // With key columns, each part has one more file: the compound keys (cfile/compound_key.h) of its
  // rows, as a column of type binary. This is the number that stands for it where a column is asked
  // for.
  std::optional<size_t> key_index() const {
    return key_columns.empty() ? std::nullopt : std::optional<size_t>(columns.size());
  }
  // The types of the key columns.
  std::vector<ColumnType> key_types() const;

  // The column of that name.
  std::optional<size_t> Find(std::string_view name) const;
  friend bool operator==(const Schema&, const Schema&) = default;
};

// Writes one new part. What is written becomes visible, all columns at once, when Finish has
// succeeded. A writer that is dropped removes the files of its own part, whose name is unique, and
// no others. If removal fails (the folder cannot be written, no memory for paths), the leftover
// files do no harm, but Create at this path then returns kAlreadyExists. Thread-compatible, and
// more: calls that name different columns may run at once, because columns share only the schema.
// After an error each later call for the same column, and Finish, returns that error.
class TableWriter {
 public:
  // A new table at `directory`, which must not exist or be an empty directory (a symbolic link to
  // one too). `options`: one per column (nullable is taken from the schema), or one for all, or
  // none. kAlreadyExists: there is a table or something else.
  static absl::StatusOr<std::unique_ptr<TableWriter>> Create(
      const std::string& directory, const Schema& schema,
      std::span<const WriterOptions> options = {});
  // A further part of the table at `directory`, with its schema. One appender at a time: of two
  // that run at once, the later Finish fails with kAborted.
  static absl::StatusOr<std::unique_ptr<TableWriter>> Append(
      const std::string& directory, std::span<const WriterOptions> options = {});
  ~TableWriter();

  const Schema& schema() const;

  // Appends values to one column, or keys to schema().key_index(); see Writer::Append.
  // Precondition: there is such a column. kInvalidArgument: the column does not hold T; keys do not
  // ascend. Columns may be filled in any order; Finish compares their lengths.
  template <typename T>
  absl::Status Append(size_t column, std::span<const T> values);
  template <typename T>
  absl::Status Append(size_t column, std::span<const T> values, std::span<const uint8_t> validity);

  // Appends entries to a column with levels, as LevelWriter::Append. A flat one takes them too,
  // with the maxima 0 and 1 if it is nullable, else 0 and 0. kInvalidArgument: as there.
  template <typename T>
  absl::Status AppendLevels(size_t column, std::span<const uint16_t> repetition,
                            std::span<const uint16_t> definition, std::span<const T> values);

  // Completes the files, then publishes the part. The files, the part's folder, the entry of a new
  // table in its parent folder, and table.cft are durable then. With key columns this reads them
  // and the keys back and compares them. Called once, last. kInvalidArgument: the columns have
  // different numbers of rows, or a key is not that of its row, which is named. kAborted: another
  // writer has published a part since this one began. kOutOfRange: readers with the limit
  // max_metadata_size_bytes would refuse table.cft, by its size or by the memory that it takes.
  // While a writer finishes, nobody may move or remove the table's directory: table.cft could then
  // get into the one that comes to its path.
  absl::Status Finish();

  // Of the column's file so far, as Writer or LevelWriter says it; num_values are records where
  // there are levels, and null_count entries without a value.
  uint64_t num_values(size_t column) const;
  uint64_t null_count(size_t column) const;
  uint64_t bytes_written(size_t column) const;
  size_t memory_usage_bytes() const;
  Encoding encoding(size_t column) const;
  Compression compression(size_t column) const;
  std::span<const EncodingTotals> encodings(size_t column) const;

 private:
  class Impl;
  explicit TableWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

template <typename T>
class TableCursor;

// An open table: the parts that existed when it was opened. Immutable: any number of threads may
// call it at once. A copy is a further handle.
//
// If another table is put at its path, the files that are open stay readable, and opening a further
// one gives kAborted: what is read never belongs to two tables.
class TableReader {
 public:
  // Reads table.cft and opens each column's file when it is first asked for. kDataLoss: table.cft
  // is damaged. kOutOfRange: table.cft is above max_metadata_size_bytes, or its schema above
  // record_limits. kAborted: the table was replaced again and again meanwhile.
  static absl::StatusOr<TableReader> Open(const std::string& directory,
                                          const ReaderOptions& options = {});

  // As Open was given it.
  const std::string& directory() const;
  const Schema& schema() const;
  // The limits of ReaderOptions that the table was opened with.
  const RecordLimits& record_limits() const;
  uint64_t num_rows() const;
  size_t num_parts() const;

  // Rows of one part, and the ordinal of its first row in the table. Precondition: part <
  // num_parts().
  uint64_t part_num_rows(size_t part) const;
  uint64_t part_first_ordinal(size_t part) const;

  // `column` below: less than schema().columns.size(), or schema().key_index().
  //
  // The path of a column's file in a part, relative to the table's directory, and that file opened.
  // kNotFound: the file is missing. kAborted: the table has been replaced since it was opened.
  std::string part_file(size_t part, size_t column) const;
  absl::StatusOr<Reader> OpenColumn(size_t part, size_t column) const;

  // True if rows can be sought by the keys of the column: at least one part has a value index in
  // it. Errors as OpenColumn, which it calls for parts without rows only.
  absl::StatusOr<bool> has_value_index(size_t column) const;

  // Verify of that file, which must also be what table.cft says of it. A file that cannot be opened
  // is a damage too, and one whose header or footer is above a limit is among the limits. Of the
  // key index: reads the key columns too, and the first key that is not that of its row is a
  // damage.
  VerifyReport VerifyColumn(size_t part, size_t column) const;

  // A cursor over all parts of a column without levels, at ordinal 0. Errors as Reader::NewCursor;
  // kInvalidArgument: the column has levels (TableLevelCursor reads it). That of the key
  // index finds rows by compound keys; it has no seek by ordinal but to 0.
  template <typename T>
  absl::StatusOr<TableCursor<T>> NewCursor(size_t column) const;

  // All rows as up to `max_ranges` ranges of about the same length that begin at blocks of `column`
  // (a part begins one): one for each cursor of a parallel scan (TableCursor::SeekToRange). None is
  // empty. Opens the files of the parts that ranges begin in. Precondition: max_ranges > 0. Errors
  // as OpenColumn and Reader::BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> Split(size_t column, size_t max_ranges) const;

 private:
  template <typename T>
  friend class TableCursor;
  class Impl;
  explicit TableReader(std::shared_ptr<const Impl> impl);

  std::shared_ptr<const Impl> impl_;
};

// A position in a column of a table: a Cursor over the parts as if they were one file. Ordinals
// count the table's rows. One thread at a time, not always the same one; many cursors may read one
// table at once. After an error it is where it was, as a Cursor is.
template <typename T>
class TableCursor {
 public:
  TableCursor(TableCursor&&) noexcept;
  TableCursor& operator=(TableCursor&&) noexcept;
  ~TableCursor();

  // As in Cursor. A batch does not cross a part.
  absl::Status SeekToOrdinal(uint64_t ordinal);
  absl::Status SeekToRange(const OrdinalRange& range);
  absl::StatusOr<Batch<T>> Next(size_t max_rows);
  absl::StatusOr<std::optional<T>> Get(uint64_t ordinal);
  uint64_t ordinal() const;

  // Goes to the row with the smallest key that is not less than `key`, of several equal ones the
  // one with the lowest ordinal. From there Next goes on by ordinal, not by key. If all parts have
  // a value index and follow each other in key order, this searches one part. Otherwise it searches
  // each part whose bounds do not rule it out, and scans parts without a value index: it reads all
  // their blocks that the statistics do not rule out, at each call. kInvalidArgument: the key is
  // NaN. kFailedPrecondition: no part has a value index in this column.
  absl::StatusOr<KeyPosition> SeekToKey(const T& key);

 private:
  friend class TableReader;
  class Impl;
  explicit TableCursor(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// A position in a column of a table: a LevelCursor over the parts as if they were one file. Records
// are the table's rows. Reads columns with levels and flat ones. Thread-compatible; keeps the table
// open. After an error it is where a LevelCursor would be.
template <typename T>
class TableLevelCursor {
 public:
  // A cursor at record 0. Precondition: there is such a column. Errors as LevelCursor::Open.
  static absl::StatusOr<TableLevelCursor> Open(const TableReader& table, size_t column);
  TableLevelCursor(TableLevelCursor&&) noexcept = default;
  TableLevelCursor& operator=(TableLevelCursor&&) noexcept = default;

  // As in LevelCursor. A batch does not cross a part.
  absl::Status SeekToRecord(uint64_t record);
  absl::StatusOr<LevelBatch<T>> Next(size_t max_records);
  uint64_t record() const { return record_; }

 private:
  TableLevelCursor(const TableReader& table, size_t column) : table_(table), column_(column) {}
  absl::Status Enter(size_t part);

  TableReader table_;
  size_t column_;
  uint64_t record_ = 0;
  size_t part_ = 0;
  std::optional<LevelCursor<T>> cursor_;  // of part_
};

}  // namespace cfile
