#include "tools/import/table_sorter.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cfile/block_cache.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"

namespace cfile::tools {
namespace {

// The blocks are small because a merge needs memory for four blocks of each run: it holds two, and
// reads two more ahead.
constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kRunBytes = 4 * kBlockBytes;
// A merge has up to two open files for each run.
constexpr size_t kMaxRuns = 128;

}  // namespace

absl::StatusOr<SortedRuns> SortedRuns::Create(const std::string& directory, const Schema& schema,
                                              std::span<const WriterOptions> options,
                                              size_t memory_bytes) {
  SortedRuns runs;
  CFILE_ASSIGN_OR_RETURN(runs.folder_, TemporaryFolder::Create(directory));
  runs.schema_ = schema;
  runs.max_runs_ = std::clamp<size_t>(memory_bytes / kRunBytes, 2, kMaxRuns);
  for (const WriterOptions& column : options) {
    WriterOptions& run = runs.options_.emplace_back(TemporaryOptions(column));
    run.value_index = column.value_index;
    run.block_size_bytes = std::min(kBlockBytes, column.max_block_size_bytes / 2);
  }
  // Mapped files and cached blocks would take more memory than the merge needs.
  runs.reader_options_ = {.access = ReaderOptions::Access::kPread,
                          .block_cache = std::make_shared<BlockCache>(0),
                          .read_ahead_bytes = 2 * kBlockBytes,
                          .max_block_size_bytes = options[0].max_block_size_bytes,
                          .max_metadata_size_bytes = options[0].max_metadata_size_bytes,
                          .record_limits = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX}};
  return runs;
}

absl::StatusOr<TableWriter> SortedRuns::NewRun() {
  if (groups_.empty() || groups_.back().num_runs == max_runs_) {
    groups_.push_back({folder_->Path(std::to_string(num_groups_++))});
  }
  Group& group = groups_.back();
  return group.num_runs++ == 0 ? TableWriter::Create(group.directory, schema_, options_)
                               : TableWriter::Append(group.directory, options_);
}

absl::Status SortedRuns::Merge(const Group& group, TableWriter& to, Progress& progress) const {
  CFILE_ASSIGN_OR_RETURN(const TableReader table,
                         TableReader::Open(group.directory, reader_options_));
  progress.Begin("merging", 0);
  CFILE_RETURN_IF_ERROR(
      AppendMerged(table, to, [&](uint64_t rows) { return progress.Update(0, rows); }));
  std::error_code ignored;
  std::filesystem::remove_all(group.directory, ignored);
  return absl::OkStatus();
}

absl::Status SortedRuns::MergeInto(TableWriter& to, Progress& progress) {
  while (groups_.size() > 1) {
    for (const Group& group : std::exchange(groups_, {})) {
      CFILE_ASSIGN_OR_RETURN(TableWriter run, NewRun());
      CFILE_RETURN_IF_ERROR(Merge(group, run, progress));
      CFILE_RETURN_IF_ERROR(run.Finish());
    }
  }
  return Merge(groups_[0], to, progress);
}

}  // namespace cfile::tools
