// Copies all values of a column into a new file or table, which appears when it is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/options.h"
#include "cfile/storage.h"
#include "tools/columns/stored_column.h"
#include "tools/dump/dump.h"
#include "tools/layout_options.h"

namespace cfile::tools {

// Called with the number of rows that were copied since the last call. An error ends the work.
using CopyProgress = std::function<absl::Status(uint64_t rows)>;

// Returns the options that `options` has for `column`, for a new file with the rows of `file`. The
// new file keeps these properties of `file`:
// - the value index, and with it the order of the rows;
// - if `options` are for files with extensions: the Bloom filter, with the same number of bits per
//   value, and whether blocks are movable;
// - the metadata of the header.
//
// The writer computes the statistics (bounds and counts of blocks) again. Errors: those of
// Reader::Statistics.
absl::StatusOr<WriterOptions> OptionsLike(const Reader& file, const LayoutOptions& options,
                                          const std::string& column);

// Writes the rows of `file` into `sink`. The new file has the type, the nulls, the levels and the
// metadata of the footer of `file`. All values are encoded again. Memory: that of a Writer and a
// Cursor. Errors: those of Cursor::Next and Writer.
absl::StatusOr<ColumnTotals> CopyFile(const Reader& file, const WriterOptions& options,
                                      std::unique_ptr<Sink> sink, const CopyProgress& progress);

// Writes the rows of `parts`, numbers of parts of `from`, into a new table at `to`. Each part
// becomes one part of the new table, so ordinals stay as they are if all parts are written.
// `options_of` returns the options for a column of a part. `oldest_reader`: that of the new table
// if it gets no parts. One commit publishes all parts, and a second one the bound of times.
// Returns, for each column and then for the key index, if there is one, the totals of its files in
// all parts. Memory: that of a TableWriter. Errors: those of TableReader::OpenColumn, TableWriter
// and CommitParts.
absl::StatusOr<std::vector<ColumnTotals>> CopyTable(
    const TableReader& from, const OrdinalRange& parts, const TableLocation& to,
    const std::function<absl::StatusOr<WriterOptions>(size_t part, size_t column)>& options_of,
    OldestReader oldest_reader, const CopyProgress& progress);

// Gives a writer the limits that the user has chosen for reading.
void SetWriterLimits(const CommonOptions& common, WriterOptions& options);

// A new table. A local table is written into a temporary directory next to its final place, which
// the destructor, or Discard, removes. A table at a URL is written to its final place, because it
// appears only when table.cft is written.
class NewTable {
 public:
  // kInvalidArgument: something is at `path`, and `force` is false; or `force` is true, and `path`
  // is a URL, or is not a table.
  static absl::StatusOr<NewTable> Create(const std::string& path, bool force);
  NewTable(NewTable&& other) noexcept;
  NewTable& operator=(NewTable&&) = delete;
  ~NewTable();

  // The place where the files of the table are written.
  const TableLocation& location() const { return location_; }
  // Returns `status`, the result of writing to `location`, with the final path in its message
  // instead of the temporary directory.
  absl::Status WithFinalPath(const absl::Status& status) const;
  // Moves the complete table to its final path. With `force`, removes the table that was there.
  // Call once, last.
  absl::Status Finish();
  // Removes the temporary directory with all files in it. Afterwards, only destroy the object.
  void Discard();

 private:
  NewTable(std::string path, std::string temporary, TableLocation location);

  std::string path_;
  std::string temporary_;  // empty: there is no temporary directory
  TableLocation location_;
};

}  // namespace cfile::tools
