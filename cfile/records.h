// Writes and reads tables of nested records, record by record.
//
//   auto writer = cfile::RecordWriter::Create("log", schema);      // cfile/record_schema.h
//   writer->BeginGroup(0);
//   writer->Value(1, "8509_1576752657"sv);
//   ...
//   writer->EndGroup(0);
//   writer->Finish();
//
//   const std::string paths[] = {"sid", "trans.uri"};
//   auto reader = cfile::RecordReader::Open("log", paths);
//   reader->Seek(2);
//   while (reader->Next(visitor).value()) ...
//
// For protobuf messages see cfile/protobuf_records.h. To write or read levels instead of records,
// use TableWriter::AppendLevels and TableLevelCursor. Errors, lifetime and threads:
// cfile/CONCEPTS.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/record_schema.h"
#include "cfile/record_visitor.h"
#include "cfile/storage.h"
#include "cfile/table.h"
#include "encodings/core/export.h"

namespace cfile {

// Writes one new part of a table from the records that it receives as a RecordVisitor. Memory:
// about 1 MiB of entries, and one block for each leaf column.
class CFILE_EXPORT RecordWriter final : public RecordVisitor {
 public:
  // Begins a new table of records. `table` and errors as TableWriter::Create. `options`: none,
  // one for all leaf columns, or one for each.
  static absl::StatusOr<RecordWriter> Create(const TableLocation& table, const RecordSchema& schema,
                                             std::span<const WriterOptions> options = {});
  // Begins a further part of `table`, which may also be a table without a tree: a record then has
  // one field for each column. kUnimplemented: the table has compound keys, which only TableWriter
  // can append.
  static absl::StatusOr<RecordWriter> Append(const TableLocation& table,
                                             std::span<const WriterOptions> options = {});
  RecordWriter(RecordWriter&&) noexcept;
  RecordWriter& operator=(RecordWriter&&) noexcept;
  ~RecordWriter() override;

  const RecordSchema& schema() const;

  // Receive a record (see RecordVisitor). kInvalidArgument: a required field is missing, a field
  // that is not repeated occurs twice, a value has another C++ type or another length than its
  // column, or the calls do not match the nesting of the schema. kOutOfRange: a value is too large.
  // Both errors name the field's path.
  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

  // Publishes the part. Errors as TableWriter::Finish, and kInvalidArgument: a record has not
  // ended.
  absl::Status Finish();

  // The number of records that have ended.
  uint64_t num_records() const;
  // The writer of the files, for example for its totals. It has all records only after Finish.
  const TableWriter& table() const;

 private:
  class CFILE_HIDDEN Impl;
  explicit RecordWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Reads the records of a table, with all leaf columns or only with selected ones; groups without a
// selected leaf column are omitted. The table may be any table, even one without a tree. Memory:
// one block and one batch for each selected column.
class CFILE_EXPORT RecordReader {
 public:
  // Opens a table, or uses an open table. `paths` selects leaf columns, or groups with all leaf
  // columns below them; empty: all. kInvalidArgument: a path does not exist.
  static absl::StatusOr<RecordReader> Open(const TableLocation& table,
                                           std::span<const std::string> paths = {},
                                           const ReaderOptions& options = {});
  static absl::StatusOr<RecordReader> Open(const TableReader& table,
                                           std::span<const std::string> paths = {});
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  // The schema of the whole table, not only of the selected columns.
  const RecordSchema& schema() const;
  uint64_t num_records() const;

  // record: the number of the record that Next passes next. Seek: goes to `record`; num_records()
  // is the end.
  uint64_t record() const;
  absl::Status Seek(uint64_t record);

  // Passes the next record to `visitor`. Returns false if there are no more records. kDataLoss:
  // also if the leaf columns contradict each other. After an error, which may be one of the
  // visitor, the next call passes the same record again from its beginning, so the visitor must
  // discard the part it has received.
  absl::StatusOr<bool> Next(RecordVisitor& visitor);

 private:
  class CFILE_HIDDEN Impl;
  explicit RecordReader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Checks that the leaf columns of a table fit together: that all columns below a group agree on the
// groups of each record and on the lengths of its lists. Reads all records. Call
// TableReader::VerifyColumn for each file first. Reports at most one damage, with the record's
// ordinal. Reads nothing if no column has levels.
CFILE_EXPORT VerifyReport VerifyRecords(const TableReader& table);

}  // namespace cfile
