// Sorts the rows of a table.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/progress.h"
#include "tools/temporary_folder.h"

namespace cfile::tools {

// A temporary table that holds rows in any order, in a folder in the directory of the table that
// gets the rows. The destructor removes the folder. Thread-compatible.
class UnsortedTable {
 public:
  // `schema`: of the table that gets the rows. `directory`: of this table; it exists.
  // `column_options`: of this table. They also say which column gets a value index.
  static absl::StatusOr<UnsortedTable> Create(const std::string& directory, const Schema& schema,
                                              std::vector<WriterOptions> column_options);

  // The directory and the writer options of the temporary table.
  std::string path() const { return folder_.Path("unsorted"); }
  const std::vector<WriterOptions>& own_options() const { return own_options_; }
  absl::StatusOr<TableWriter> NewWriter() const;

  // Appends all rows to `to` in the order of the columns `sorted_by`, the most significant first.
  // Rows with equal keys keep their order. The rows are in the table: its writer is finished. Does
  // not call to.Finish. Returns true if the rows had another order.
  // `memory_bytes`: for the keys of the rows. If they need more, the rows are sorted in runs.
  // kInvalidArgument: a row has a null or nan in a sort column that does not allow it. The error
  // names `input`, from which the rows came, and the row, counted from 1. kCancelled:
  // Progress::Cancel was called. Other errors are those of reading and writing.
  absl::StatusOr<bool> AppendSortedTo(TableWriter& to, const std::string& input,
                                      const std::vector<std::string>& sorted_by,
                                      size_t memory_bytes, Progress& progress) const;

 private:
  UnsortedTable(TemporaryFolder folder, std::string directory)
      : folder_(std::move(folder)), directory_(std::move(directory)) {}

  TemporaryFolder folder_;
  std::string directory_;
  Schema schema_;  // without keys
  std::vector<WriterOptions> column_options_, own_options_;
};

}  // namespace cfile::tools
