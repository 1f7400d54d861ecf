// A table: a directory with a schema and parts. Each part has one CFile per column
// (cfile/FORMAT.md, Table). Errors, lifetime and threads: cfile/CONCEPTS.md.
//
//   auto writer = cfile::TableWriter::Create("flights", schema);
//   writer->Append<int32_t>(0, years);
//   writer->Append<std::string_view>(1, carriers);
//   ...
//   writer->Finish();
//
//   auto table = cfile::TableReader::Open("flights");
//   auto cursor = table->NewCursor<int32_t>(0);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/batch.h"
#include "cfile/inspect.h"
#include "cfile/levels.h"
#include "cfile/options.h"
#include "cfile/reader.h"
#include "cfile/schema.h"
#include "cfile/statistics.h"
#include "cfile/storage.h"
#include "cfile/types.h"
#include "encodings/core/assert.h"
#include "encodings/core/export.h"

namespace cfile {

class TableReader;
namespace internal {
class TableLevels;
class TableValues;
class TableWriterAccess;
}  // namespace internal

// Writes one new part: a set of rows in its own files, one file for each column, or one for all
// columns (WriterOptions::max_packed_part_bytes). The rows become visible, in all columns at once,
// when Finish succeeds. A writer that is destroyed earlier removes only the files of its part; the
// name of the part is unique.
class CFILE_EXPORT TableWriter {
 public:
  // Begins a new table. `table`: a storage without files, or the path of a local directory, which
  // must not exist or must be empty. (A symbolic link to an empty directory is allowed.)
  // `options`: none, one for all columns, or one per column. In a table with key columns, one more
  // may follow, whose bloom_filter_bits_per_value and max_bloom_filter_bytes are for the key index
  // (TableLookup uses the filter, and Compact and DropRowsBelow keep it). The other options of the
  // key index are fixed. A Bloom filter of the key index, or of a column with a value index, sets
  // WriterOptions::single_values of all columns, because keys will be looked up.
  // WriterOptions::nullable is ignored: the schema says which columns are nullable.
  // kAlreadyExists: the place is not empty, for example because of what a killed writer of a new
  // table left (CollectGarbage removes it). kInvalidArgument: the schema is not valid, or `options`
  // has a wrong number of entries. Other errors as Writer::Create.
  static absl::StatusOr<TableWriter> Create(const TableLocation& table, const Schema& schema,
                                            std::span<const WriterOptions> options = {});
  // Begins a further part of a table, with the table's schema. `options` as in Create.
  // Any number of writers, in any threads and processes, may append at the same time.
  static absl::StatusOr<TableWriter> Open(const TableLocation& table,
                                          std::span<const WriterOptions> options = {});
  // The name that Open had in version 0.1.
  static absl::StatusOr<TableWriter> Append(const TableLocation& table,
                                            std::span<const WriterOptions> options = {}) {
    return Open(table, options);
  }
  // Begins a part of a table that need not exist yet: if there is no table when Finish commits,
  // Finish makes it. Files that a killed writer has left at this place do not matter.
  // kFailedPrecondition: the table exists and has another schema. Other errors as Create and Open.
  // Finish returns kAlreadyExists if there is no table, but other files are at this place, and
  // kFailedPrecondition if table.cft is lost, and the parts show a second commit (Repair helps).
  // (To make a table without rows, call CommitParts of cfile/prepared_parts.h without parts.)
  static absl::StatusOr<TableWriter> OpenOrCreate(const TableLocation& table, const Schema& schema,
                                                  std::span<const WriterOptions> options = {});
  // Begins a part that replaces the parts with these names (PartInfo::name). In one commit, Finish
  // removes these parts and puts the new part in the place of the first one. Without names, Replace
  // works like Open. Nothing is copied from the replaced parts, and their files stay until
  // CollectGarbage (cfile/table_maintenance.h) removes them. Finish returns kAborted if one of the
  // parts is gone by then. It returns kFailedPrecondition if the table has a merge rule, and an
  // older part that stays may have rows that one of these parts hides. (If the snapshot was opened
  // with ReaderOptions::stored_rows, there is no such error, and the older rows may count again.)
  static absl::StatusOr<TableWriter> Replace(const TableLocation& table,
                                             std::span<const std::string> parts,
                                             std::span<const WriterOptions> options = {});
  // For values that have been read from this table by `snapshot`, an open reader. Finish also
  // returns kAborted if, since the reader opened the table, the schema has changed, or a column of
  // one of the replaced parts has got new values (cfile/table_columns.h).
  static absl::StatusOr<TableWriter> Replace(const TableLocation& table,
                                             const TableReader& snapshot,
                                             std::span<const std::string> parts,
                                             std::span<const WriterOptions> options = {});
  // As OpenOrCreate, for a part that FinishPrepared completes and CommitParts
  // (cfile/prepared_parts.h) publishes.
  static absl::StatusOr<TableWriter> Prepare(const TableLocation& table, const Schema& schema,
                                             std::span<const WriterOptions> options = {}) {
    return OpenOrCreate(table, schema, options);
  }
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) noexcept;
  ~TableWriter();

  const Schema& schema() const;

  // Appends values to one column, or keys to schema().key_index(); see Writer::Append. Columns may
  // be filled in any order and must have the same length at the end. kInvalidArgument: keys are not
  // in ascending order.
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

  // The same for a vector of bools, which has no span.
  absl::Status Append(size_t column, const std::vector<bool>& values);

  // Appends entries to a column with levels; see LevelWriter::Append. A column without levels
  // takes entries, too: its maximum repetition level is 0, and its maximum definition level is 1
  // if the column is nullable, else 0. Errors as LevelWriter::Append.
  template <typename T, typename = IfValueType<T>>
  absl::Status AppendLevels(size_t column, std::span<const uint16_t> repetition,
                            std::span<const uint16_t> definition, std::span<const T> values) {
    return AppendEntries(column, &HoldsType<T>,
                         {.repetition = repetition, .definition = definition, .values = values});
  }

  // Completes the files and publishes the part. After this call the files, their entries in their
  // folders, and table.cft are durable.
  //
  // If there are key columns, Finish reads them back to make the keys, or to compare them with the
  // keys that were appended.
  //
  // The new part follows all parts that the table has when Finish commits, also those of writers
  // that began later or commit at the same moment.
  //
  // kInvalidArgument: the columns have different numbers of rows, the rows are not sorted by key,
  // a key does not match its row, or, with a merge rule, two rows have the same key (the error
  // names the row). kOutOfRange: also if readers would need too much memory for table.cft.
  // kAborted: one of the following has happened since this writer began:
  // - another writer has created the table;
  // - the table was removed or moved, or got another schema;
  // - one of the parts to replace was dropped or replaced, or got other values in a column;
  // - or the files of the new part were removed.
  //
  // Do not move or remove the table's directory while Finish runs: table.cft could then be written
  // into another directory at the same path.
  absl::Status Finish();

  // Called instead of Finish: finishes the part, but does not publish it. Returns a description of
  // the part, for CommitParts (cfile/prepared_parts.h). The destructor of the writer does not
  // remove the files of the part. If the part is never published, CollectGarbage
  // (cfile/table_maintenance.h) removes them when they are old enough. Errors as Finish.
  // Precondition: the writer was not begun by Replace.
  absl::StatusOr<std::string> FinishPrepared();

  // What has been written so far to the column's file.
  ColumnTotals totals(size_t column) const;
  // For all columns.
  size_t memory_usage_bytes() const;

 private:
  friend class internal::TableWriterAccess;
  class CFILE_HIDDEN Impl;
  explicit TableWriter(std::unique_ptr<Impl> impl);

  absl::Status AppendRows(size_t column, internal::HoldsFunction* holds,
                          const internal::AnyBatch& rows);
  absl::Status AppendEntries(size_t column, internal::HoldsFunction* holds,
                             const internal::AnyLevelBatch& entries);

  std::unique_ptr<Impl> impl_;
};

class MergeCursor;          // cfile/merge_cursor.h
struct MergeCursorOptions;  // cfile/merge_cursor.h
class TableLookup;          // cfile/table_lookup.h
class TableScan;            // cfile/table_scan.h
struct TableScanOptions;    // cfile/table_scan.h
template <typename T>
class TableCursor;
template <typename T>
using TableLevelCursor = LevelCursor<T>;

// A part of a table. A plain value.
struct PartInfo {
  std::string name;            // of the part's folder in the table's directory
  uint64_t first_ordinal = 0;  // the ordinal of the part's first row in the table
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;  // of the CFiles of all columns, the key index included
  // The number of the commit that added the part, or of the first part that it replaces. Each
  // commit has a greater number than those before it, so the numbers of a table's parts ascend. 0:
  // an earlier version of this library wrote the part.
  uint64_t commit = 0;
  friend bool operator==(const PartInfo&, const PartInfo&) = default;
};

// An open table, with the parts that existed when it was opened. Immutable and thread-safe. A copy
// is another handle on the same open table.
//
// If another table replaces this one at its path, files that are already open stay readable, and
// opening further files fails with kAborted: a reader never mixes the rows of two tables.
class CFILE_EXPORT TableReader {
 public:
  // Opens a table: reads only table.cft, the file that describes the table. If a table has many
  // parts, chunks (files that table.cft names) describe the older parts. A chunk is read, and the
  // file of a column is opened, when it is first needed. kAborted: the table was replaced several
  // times during this call.
  static absl::StatusOr<TableReader> Open(const TableLocation& table,
                                          const ReaderOptions& options = {});

  // Reads table.cft again. Returns a reader of the table as it is now: another handle on this open
  // table if table.cft has the same bytes, otherwise a new one, whose files are not open yet. Costs
  // one read of a small file. Errors as Open.
  absl::StatusOr<TableReader> Refresh() const;

  // The directory as given to Open, or the name of the storage.
  const std::string& directory() const;
  const Schema& schema() const;
  // The limits for the schema, from the ReaderOptions of Open.
  const RecordLimits& record_limits() const;
  // The oldest program that must be able to read the table, never kDefault. Writers write nothing
  // that it cannot read. (Version 0.1 reads a table that version 0.2 has made only if the table was
  // made for it.)
  OldestReader oldest_reader() const;
  // Counts stored rows. (Under a merge rule a scan returns fewer.)
  uint64_t num_rows() const;
  size_t num_parts() const;
  // True if the schema has a merge rule, and the table was not opened with
  // ReaderOptions::stored_rows. Then scans, lookups and merge cursors apply the rule. Rows have no
  // numbers, so NewCursor, NewLevelCursor, Split, RecordReader, takes of rows and exports to
  // Parquet return kFailedPrecondition. Parts (part, part_bounds, OpenColumn) have all stored rows.
  bool applies_merge_rule() const;
  // Returns a reader of the same parts that does not apply the rule, as if it had been opened with
  // ReaderOptions::stored_rows. Without a rule, another handle on this open table.
  TableReader StoredRows() const;
  // The bound for the rule's time column, which RaiseTimeBound has set last
  // (cfile/table_maintenance.h).
  std::optional<int64_t> time_bound() const;

  // Returns the metadata of the table: pairs of a key and a text, for example pandas' description
  // of the columns. A new table gets them from WriterOptions::metadata of its first column. They
  // stay when this column is dropped or moved.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> metadata() const;

  // Returns the value of ARROW:schema in metadata(), for RestoreArrowTypes (cfile/arrow_import.h).
  // Returns "" if there is none, or if an earlier version has written the first part. A table
  // without ARROW:schema needs no read for the answer.
  absl::StatusOr<std::string> arrow_schema() const;

  // What was read from all files of the table since it was opened, files that are closed again
  // included. Reads of table.cft and its chunks do not count.
  ReaderCounters counters() const;
  // The sum of Reader::memory_usage_bytes of all open files, which max_table_memory_bytes of
  // ReaderOptions limits. A file that the table has closed counts until its last cursor is
  // destroyed.
  size_t memory_usage_bytes() const;

  // Describes one part, from table.cft or a chunk. Precondition: part < num_parts(). This function
  // and those below that need the description of a part can return kDataLoss if a chunk is
  // damaged, and kAborted if, since the table was opened, the part was dropped, and CollectGarbage
  // removed it.
  absl::StatusOr<PartInfo> part(size_t part) const;

  // In the following functions `part` is less than num_parts(), and `column` is less than
  // schema().columns.size(), or schema().key_index().
  //
  // part_bounds: returns the number of nulls of a column in one part, and bounds of its values.
  // Opens no file of a column. If the file has a value index, the bounds are the least and the
  // greatest value, and min_exact and max_exact are true. Otherwise they are those of the file's
  // statistics, or there are none. nan_count is known only if there are bounds. A column with
  // levels counts one entry per record, so its counts are correct only if the column is not
  // repeated.
  absl::StatusOr<BlockStatistics> part_bounds(size_t part, size_t column) const;

  // part_file: returns the path of a column's file, relative to the table's directory; empty if
  // the part has no file of the column, because the column is newer. If the column is in a packed
  // file (WriterOptions::max_packed_part_bytes), the result is the path of the packed file, a
  // slash, and the name of the column in it (cfile/packed_file.h).
  // OpenColumn: opens this file, and keeps the file open for later calls.
  absl::StatusOr<std::string> part_file(size_t part, size_t column) const;
  // OpenBytes: opens the bytes of this file and checks none of them, so that a program can look
  // into a damaged file. If a packed file is cut, the bytes may be fewer than the column had.
  // Precondition: part_file is not empty. Errors: those of Storage::Open.
  absl::StatusOr<Reader> OpenColumn(size_t part, size_t column) const;
  absl::StatusOr<std::shared_ptr<const Source>> OpenBytes(size_t part, size_t column) const;

  // True if the column can be searched by key: at least one part has a value index for it. Opens
  // only the files of parts without rows.
  absl::StatusOr<bool> has_value_index(size_t column) const;

  // Calls Verify for this file, and checks that the file matches table.cft. If the file cannot be
  // opened, this is reported as damage, or among the limits if its header or footer exceeds a
  // limit. For the key index, VerifyColumn also reads the key columns, and reports the first key
  // that does not match its row as damage.
  VerifyReport VerifyColumn(size_t part, size_t column) const;

  // Reads the copy of the part's description, from which Repair (cfile/table_repair.h) rebuilds a
  // lost table.cft. Reports a damaged or missing copy as damage. Reports nothing if an earlier
  // version of this library wrote the part, without a copy, or if the storage cannot list files.
  VerifyReport VerifyCopy(size_t part) const;

  // Returns a cursor over all parts of a column without levels, at ordinal 0. Opens no files. A
  // cursor of the key index can search for compound keys, but cannot seek to an ordinal other than
  // 0. kInvalidArgument: the column has levels; use TableLevelCursor.
  template <typename T>
  absl::StatusOr<TableCursor<T>> NewCursor(size_t column) const {
    return internal::Wrap<TableCursor<T>>(NewAnyCursor(column, &HoldsType<T>));
  }

  // Returns a cursor that reads rows in the order of their keys, before the first row. To call it,
  // include cfile/merge_cursor.h. Reads the descriptions of all parts from table.cft and its
  // chunks, but opens no files of columns. kInvalidArgument: a column has levels.
  // kFailedPrecondition: the table has no keys, or a part with rows has no value index for the
  // column of the keys. kDataLoss: the bounds of a part in table.cft are not values of the column.
  absl::StatusOr<MergeCursor> NewMergeCursor(const MergeCursorOptions& options) const;

  // Returns an object that finds the newest row of a key and reads `columns` of it. To call it,
  // include cfile/table_lookup.h. The keys are those of the key index; without key columns, those
  // of the first column that has a value index in each part. Reads the descriptions of all parts,
  // but opens no files of columns. kInvalidArgument: a column has levels. kFailedPrecondition: the
  // table has no such keys.
  absl::StatusOr<TableLookup> NewLookup(std::span<const size_t> columns) const;

  // Returns a cursor over all parts of a column with or without levels, at record 0. It reads the
  // parts as if they were one file; a batch holds records of one part only. The key index is no
  // such column. Errors as Reader::NewLevelCursor.
  template <typename T>
  absl::StatusOr<LevelCursor<T>> NewLevelCursor(size_t column) const {
    return internal::Wrap<LevelCursor<T>>(NewAnyLevelCursor(column, &HoldsType<T>));
  }

  // Begins a scan for the rows that match a filter, with the values of several columns. To call it,
  // include cfile/table_scan.h. Opens no files. kInvalidArgument: there is no such column, or a
  // condition does not fit its column.
  absl::StatusOr<TableScan> NewScan(const TableScanOptions& options) const;

  // Divides the work of a scan among threads. Returns at most `max_ranges` ranges of rows, in
  // order, without overlap, none of them empty. Each thread calls NewScan with `options`, but with
  // its own range. Together, the threads find the rows that NewScan(options) finds. (`limit` holds
  // for each thread alone.) A range begins at the first row of a part, or of a block of the first
  // column of the scan. The ranges have similar numbers of rows; parts in which no row can match by
  // the bounds in table.cft do not count. Errors as NewScan and Reader::BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> SplitScan(const TableScanOptions& options,
                                                      size_t max_ranges) const;

  // Divides all rows into at most `max_ranges` ranges of similar length, none of them empty. Each
  // range begins at the first row of a part or of a block of `column`. In a parallel scan each
  // thread's cursor reads one range (TableCursor::SeekToRange). Opens the files of the parts in
  // which ranges begin. Errors as Reader::BlockBegin.
  absl::StatusOr<std::vector<OrdinalRange>> Split(size_t column, size_t max_ranges) const;

 private:
  friend class internal::TableLevels;
  friend class internal::TableValues;
  friend class TableLookup;
  friend class TableWriter;
  class CFILE_HIDDEN Impl;
  explicit TableReader(std::shared_ptr<const Impl> impl);

  absl::StatusOr<std::unique_ptr<internal::AnyCursor>> NewAnyCursor(
      size_t column, internal::HoldsFunction* holds) const;
  absl::StatusOr<std::unique_ptr<internal::AnyLevelCursor>> NewAnyLevelCursor(
      size_t column, internal::HoldsFunction* holds) const;

  std::shared_ptr<const Impl> impl_;
};

// A position in a column of a table: a Cursor that reads the parts as if they were one file.
// Ordinals count the table's rows. Needs as much memory as a Cursor, because it reads one part at a
// time. The functions are those of Cursor, and:
//
// A batch holds rows of one part only. Take reads each part once. If the ordinals are in several
// parts, it makes a second copy of the values of one part at a time.
//
// SeekToKey goes to the row with the smallest key that is not less than `key`; if several keys are
// equal (-0 equals 0), to the row with the lowest ordinal. After that, Next continues by ordinal,
// not by key. (To continue by key, use a MergeCursor.) If all parts have a value index and follow
// each other in key order, SeekToKey searches one part. Otherwise it searches each part whose
// bounds do not exclude the key. In a part without a value index, each call reads all blocks that
// the statistics do not exclude. kFailedPrecondition: no part has a value index for this column.
//
// SeekMany opens each part once. If the parts follow each other in key order, it opens each block
// once. In a part without a value index, each key costs as much as in SeekToKey.
//
// SeekToKeyRange and SeekToPrefix return kFailedPrecondition also if the rows may not be
// consecutive, because parts overlap in key order or because a part with rows has no value index
// for this column. (Parts that share only the key at their border do not overlap.) Then use a
// MergeCursor (for parts that overlap) or TableReader::NewScan with a filter.
template <typename T>
class TableCursor : public internal::TypedCursor<T, std::unique_ptr<internal::AnyCursor>> {
 public:
  // Not for users: TableReader::NewCursor makes cursors.
  explicit TableCursor(std::unique_ptr<internal::AnyCursor> impl)
      : internal::TypedCursor<T, std::unique_ptr<internal::AnyCursor>>(std::move(impl)) {}

  // As Cursor::Clone.
  absl::StatusOr<TableCursor> Clone() const {
    return internal::Wrap<TableCursor>(this->impl_->Clone());
  }
};

}  // namespace cfile
