// Sorts more rows than fit into memory: sorted runs of them are written to disk, then merged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/import/progress.h"

namespace cfile::tools {

// The runs are parts of temporary tables, which lie in a folder in the directory of the table that
// gets the rows. The destructor removes the folder. A killed process leaves it; CollectGarbage
// (cfile/table_maintenance.h) recognises it by its name. Thread-compatible.
class SortedRuns {
 public:
  // Makes the folder in `directory`. `schema`, `options`: of the table, one for each column; they
  // say by which column the rows are sorted. `memory_bytes`: for merging; it is exceeded if a run
  // and column needs more than 256 KiB, because its values are long, or if there is not room for
  // two runs.
  static absl::StatusOr<SortedRuns> Create(const std::string& directory, const Schema& schema,
                                           std::span<const WriterOptions> options,
                                           size_t memory_bytes);

  // Begins a run. The caller appends sorted rows, which follow those of earlier runs in the input,
  // and calls Finish before it calls any other function here.
  absl::StatusOr<TableWriter> NewRun();

  // Appends all rows to `to` in their order; rows with equal keys in the order of the runs. Merges
  // in several passes if there are too many runs for the memory. Call once, last; there must be a
  // run. Errors as AppendMerged; kCancelled: Progress::Cancel was called.
  absl::Status MergeInto(TableWriter& to, Progress& progress);

 private:
  // A table whose parts are runs.
  struct Group {
    std::string directory;
    size_t num_runs = 0;
  };
  struct RemoveFolder {
    void operator()(const std::filesystem::path* folder) const;
  };

  SortedRuns() = default;
  absl::Status Merge(const Group& group, TableWriter& to, Progress& progress) const;

  std::unique_ptr<const std::filesystem::path, RemoveFolder> folder_;
  Schema schema_;
  std::vector<WriterOptions> options_;
  ReaderOptions reader_options_;
  size_t max_runs_ = 0;        // that are merged at a time
  size_t num_groups_ = 0;      // that were begun
  std::vector<Group> groups_;  // in the order of the rows; all but the last have max_runs_ runs
};

}  // namespace cfile::tools
