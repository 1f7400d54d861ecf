// Sorts more rows than fit into memory: writes sorted runs of rows to disk, then merges the runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/schema.h"
#include "cfile/table.h"
#include "tools/progress.h"
#include "tools/temporary_folder.h"

namespace cfile::tools {

// A run is a series of sorted rows on disk. Each run is one part of a temporary table.
// The temporary tables are in a TemporaryFolder in the directory of the table that gets the rows.
// Thread-compatible.
class SortedRuns {
 public:
  // Makes the folder in `directory`. `schema` is the schema of the table that gets the rows.
  // `options` has the writer options of each column of this table.
  // `schema` and `options` also say by which columns the rows are sorted.
  // `memory_bytes` is the memory for merging. Merging needs more memory in two cases:
  // - Values are so long that one column of a run needs more than 256 KiB.
  // - The memory has no room for two runs.
  static absl::StatusOr<SortedRuns> Create(const std::string& directory, const Schema& schema,
                                           std::span<const WriterOptions> options,
                                           size_t memory_bytes);

  // Begins a run. The caller appends sorted rows to the run, then calls Finish of the run.
  // The caller calls no function of this class before this Finish.
  // In the input, the rows of the run follow the rows of all earlier runs.
  absl::StatusOr<TableWriter> NewRun();

  // Appends all rows to `to` in the order of their keys.
  // Rows with equal keys keep the order of the runs.
  // Merges in several passes if there are too many runs for the memory.
  // The caller calls MergeInto once, after the last run. There must be at least one run.
  // Errors: those of AppendMerged, and kCancelled if Progress::Cancel was called.
  absl::Status MergeInto(TableWriter& to, Progress& progress);

 private:
  // A temporary table. Each part of the table is a run. All runs of a group are merged in one step.
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

}  // namespace cfile::tools
