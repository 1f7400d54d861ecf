// Sorts the rows of a table, also more than fit into memory: writes sorted runs of rows to disk,
// then merges the runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/progress.h"
#include "tools/temporary_folder.h"

namespace cfile::tools {

// The options of a column of a temporary table.
inline WriterOptions TemporaryOptions(const WriterOptions& column) {
  return {.encoding = Encoding::kPlain,
          .compression = Compression::kNone,
          .block_size_bytes = column.block_size_bytes,
          .max_block_size_bytes = column.max_block_size_bytes,
          .max_metadata_size_bytes = column.max_metadata_size_bytes,
          .statistics = false};
}

// A run is a series of sorted rows on disk: one part of a temporary table in a TemporaryFolder.
// Thread-compatible.
class SortedRuns {
 public:
  // Makes the folder in `directory`. `schema` and `options` are those of the table that gets the
  // rows, and say how the rows are sorted. `memory_bytes` is for merging, which needs more if
  // values are so long that one column of a run needs more than 256 KiB, or if there is no room for
  // two runs.
  static absl::StatusOr<SortedRuns> Create(const std::string& directory, const Schema& schema,
                                           std::span<const WriterOptions> options,
                                           size_t memory_bytes);

  // Begins a run. The caller appends sorted rows, which follow the rows of all earlier runs in the
  // input, and calls Finish of the run before any other function of this class.
  absl::StatusOr<TableWriter> NewRun();

  // Appends all rows to `to` in the order of their keys, rows with equal keys in the order of the
  // runs. Merges in several passes if there are too many runs for the memory. Call it once, after
  // the last run; there must be one. Errors: those of AppendMerged, and kCancelled.
  absl::Status MergeInto(TableWriter& to, Progress& progress);

 private:
  // A temporary table whose runs are merged in one step.
  struct Group {
    std::string directory;
    size_t num_runs = 0;
  };

  SortedRuns() = default;
  absl::Status Merge(const Group& group, TableWriter& to, Progress& progress) const;

  std::optional<TemporaryFolder> folder_;
  Schema schema_;
  std::vector<WriterOptions> options_;
  ReaderOptions reader_options_;
  size_t max_runs_ = 0;        // a group has at most this many runs
  size_t num_groups_ = 0;      // groups begun so far; also the name of the next group
  std::vector<Group> groups_;  // in input order; only the last may have fewer than max_runs_
};

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

  // Appends all rows to `to` in the order of the columns `sorted_by`, the most significant first;
  // rows with equal keys keep their order. The writer of the temporary table is finished. Does not
  // call to.Finish. Returns true if the rows had another order. `memory_bytes`: for the keys of the
  // rows. If they need more, the rows are sorted in runs. kInvalidArgument, with `input`, from
  // which the rows came, and the number of the row: it has a null or nan in a sort column that does
  // not allow it. Other errors are those of reading and writing, and kCancelled.
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
