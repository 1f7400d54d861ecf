// Tables of nested records, written and read as records.
//
//   auto writer = cfile::RecordWriter::Create("log", schema);      // cfile/record_schema.h
//   (*writer)->BeginGroup(0); (*writer)->Value(1, "8509_1576752657"sv); ... (*writer)->EndGroup(0);
//   (*writer)->Finish();
//   auto reader = cfile::RecordReader::Open("log", {"sid", "trans.uri"});
//   (*reader)->Seek(2);
//   while ((*reader)->Next(visitor).value()) ...
//
// cfile/protobuf_records.h does both with protobuf messages. Those who have levels rather than
// records use TableWriter::AppendLevels and TableLevelCursor.
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
#include "cfile/table.h"

namespace cfile {

// Writes one new part of a table of records: takes them as a RecordVisitor. Thread-compatible.
// Memory: about a MiB of entries, and a block for each leaf.
//
// Failure is sticky: the first error is returned by every later call. What is written becomes
// visible when Finish has succeeded; a writer that is dropped removes its part.
class RecordWriter final : public RecordVisitor {
 public:
  // As TableWriter's, whose errors they have too. `options`: one per leaf, or one for all, or none.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(
      const std::string& directory, const RecordSchema& schema,
      std::span<const WriterOptions> options = {});
  // Of any table; that of one without a tree has a field for each column. kUnimplemented: the table
  // has compound keys, which TableWriter appends.
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Append(
      const std::string& directory, std::span<const WriterOptions> options = {});
  ~RecordWriter() override;

  const RecordSchema& schema() const;

  // kInvalidArgument, with the field's path: a required field is missing, one that is not repeated
  // stands twice, a value is not in the C++ type of its leaf or has not its length, or the calls do
  // not nest as the schema does. kOutOfRange, with the path: a value is too large. Other errors are
  // those of LevelWriter::Append.
  absl::Status BeginGroup(size_t node) override;
  absl::Status EndGroup(size_t node) override;
  absl::Status Value(size_t node, const RecordValue& value) override;

  // As TableWriter::Finish. kInvalidArgument too: a record has not ended. Called once, last.
  absl::Status Finish();

  // Records that have ended.
  uint64_t num_records() const;
  // Files, encodings and memory; all records are in it after Finish.
  const TableWriter& table() const;

 private:
  class Impl;
  explicit RecordWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Tells the records of a table, or those parts of them that lie in some of its leaves: groups
// without such a leaf are left out. Reads any table. Thread-compatible. Memory: a block and a batch
// for each leaf.
class RecordReader {
 public:
  // `paths`: leaves, or groups with all that is in them; none = all leaves. kInvalidArgument: there
  // is no such path. Other errors are those of TableReader and its cursors.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(const std::string& directory,
                                                            std::span<const std::string> paths = {},
                                                            const ReaderOptions& options = {});
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      const TableReader& table, std::span<const std::string> paths = {});
  ~RecordReader();

  // That of the table, whatever was chosen.
  const RecordSchema& schema() const;
  uint64_t num_records() const;

  // The record that Next continues at; to continue elsewhere. kOutOfRange: above num_records().
  uint64_t record() const;
  absl::Status Seek(uint64_t record);

  // Tells one record; false if there are no more. kDataLoss: the leaves contradict each other, or
  // one is damaged; otherwise what the visitor returned. After an error the next call tells the
  // same record again, from its beginning: the visitor has to drop what it was told of it.
  absl::StatusOr<bool> Next(RecordVisitor& visitor);

 private:
  class Impl;
  explicit RecordReader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// Reads all records of a table whose files are in order each, and says whether the leaves go
// together: records of the same groups, lists of as many elements, in all leaves below them. Not
// more than one damage, with the record's ordinal. Looks at nothing if no leaf has levels.
VerifyReport VerifyRecords(const TableReader& table);

}  // namespace cfile
