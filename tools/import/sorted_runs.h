// Sorts more rows than fit into memory: writes sorted runs of rows to disk, then merges the runs.
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

// Each run is a part of a temporary table. The temporary tables are in a folder in the directory of
// the table that gets the rows. The destructor removes this folder. If the process is killed, the
// folder stays. CollectGarbage (cfile/table_maintenance.h) recognises it by its name.
// Thread-compatible.
class SortedRuns {
 public:
  // Makes the folder in `directory`. `schema` and `options` (one element for each column) are those
  // of the table. They say by which columns the rows are sorted. `memory_bytes` is the memory for
  // merging. Merging needs more memory if one column of a run needs more than 256 KiB because its
  // values are long, or if the memory has no room for two runs.
  static absl::StatusOr<SortedRuns> Create(const std::string& directory, const Schema& schema,
                                           std::span<const WriterOptions> options,
                                           size_t memory_bytes);

  // Begins a run. The caller appends sorted rows to the run. In the input, these rows follow the
  // rows of earlier runs. The caller calls Finish before it calls any other function of this class.
  absl::StatusOr<TableWriter> NewRun();

  // Appends all rows to `to` in the order of their keys. Rows with equal keys keep the order of the
  // runs. Merges in several passes if there are too many runs for the memory. Call this once, after
  // the last run. There must be at least one run. Errors: those of AppendMerged, and kCancelled if
  // Progress::Cancel was called.
  absl::Status MergeInto(TableWriter& to, Progress& progress);

 private:
  // A temporary table. Its parts are runs, which are merged together.
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
  size_t max_runs_ = 0;        // the most runs of a group
  size_t num_groups_ = 0;      // how many groups were begun; the next group has this number as name
  std::vector<Group> groups_;  // in the order of the input; only the last can have fewer runs
};

}  // namespace cfile::tools
