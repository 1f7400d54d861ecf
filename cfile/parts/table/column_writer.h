// Writes the file of one column of a table's part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/parts/table/manifest/table_contents.h"
#include "cfile/parts/table/packed/packed_part.h"
#include "cfile/schema.h"
#include "cfile/storage.h"
#include "cfile/untyped.h"
#include "encodings/core/lane.h"

namespace cfile {
class TableWriter;  // cfile/table.h
}  // namespace cfile

namespace cfile::internal {

// The writer of a file of a part. Thread-compatible.
class ColumnWriter {
 public:
  ColumnWriter(std::unique_ptr<AnyWriter> writer, std::string file_name)
      : writer_(std::move(writer)), file_name_(std::move(file_name)) {}

  AnyWriter& writer() { return *writer_; }
  const AnyWriter& writer() const { return *writer_; }
  // Completes the file, and returns its description for table.cft.
  absl::StatusOr<TablePartColumn> Finish();

 private:
  std::unique_ptr<AnyWriter> writer_;
  std::string file_name_;
};

// Gives the library access to the files of a TableWriter.
class TableWriterAccess {
 public:
  // The writer of a column or of the key index. Precondition: it exists.
  static AnyWriter& Column(TableWriter& writer, size_t column);
  // TableWriter::Append and AppendLevels for values of the column's C++ type.
  static absl::Status Append(TableWriter& writer, size_t column, const AnyBatch& rows);
  static absl::Status Append(TableWriter& writer, size_t column, const AnyLevelBatch& entries);
  // Ends the part, and begins another part with the same options. Finish makes all parts visible at
  // once. Errors: those of Finish, except those of the commit, and those of TableWriter::Create.
  static absl::Status NextPart(TableWriter& writer);
  // Says that the new part leaves rows out. `keys`: as ManifestChange::left_out. Finish then also
  // returns kAborted if an older part has got one of the keys.
  static void LeavesOut(TableWriter& writer, std::pair<std::string, std::string> keys);
  // Begins a part for a table that gets these columns in the commit of the part.
  // Errors: those of TableWriter::Append.
  static absl::StatusOr<TableWriter> Begin(std::shared_ptr<Storage> storage, const Schema& schema,
                                           std::optional<ColumnIdentities> identities,
                                           OldestReader oldest_reader,
                                           std::span<const WriterOptions> options);
  // Called instead of Finish: completes the files; the caller publishes the parts or removes them.
  static absl::StatusOr<std::vector<TablePart>> Complete(TableWriter& writer);
  // The totals of all files of the first part, then those of the second part, and so on. Has the
  // parts that are complete; after Finish, all parts.
  static std::span<const ColumnTotals> CompleteTotals(const TableWriter& writer);
};

// Begins a file of the column in the folder `folder` of a storage, or in `packed` if this is not
// null. `oldest_reader`: that of the table; the file is for an older one if `options` name one.
// Errors: those of Storage::Create, Writer::Create and LevelWriter::Create, and
// kFailedPrecondition: `options` name a newer reader. The text of an error names the column.
absl::StatusOr<std::unique_ptr<ColumnWriter>> NewColumnWriter(
    Storage& storage, const std::string& folder, std::string file_name, const ColumnSchema& column,
    WriterOptions options, OldestReader oldest_reader, PackedWriter* packed = nullptr);

// Returns the options of file i of a part, whose last file may be the key index. `options`: as for
// TableWriter::Create.
WriterOptions OptionsOfFile(std::span<const WriterOptions> options, size_t i, size_t num_columns);

// Returns the newest reader that the options of the columns of a new table name.
OldestReader OldestReaderOfNewTable(std::span<const WriterOptions> options);

// Begins a file of the column in `sink`. Errors: those of Writer::Create and LevelWriter::Create.
absl::StatusOr<std::unique_ptr<AnyWriter>> NewWriter(std::unique_ptr<Sink> sink,
                                                     const ColumnSchema& column,
                                                     const WriterOptions& options);

// Appends entries with the definition levels 0 and 1 as rows of a nullable column, whose values
// have `lane`. kInvalidArgument: another level, or not one value for each 1.
absl::Status AppendDefined(AnyWriter& writer, encodings::Lane lane,
                           std::span<const uint16_t> definition, encodings::ValueSpan values);

}  // namespace cfile::internal
