// Shared by the summaries of a file and of a table.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/dump/dump.h"
#include "tools/progress.h"

namespace cfile::tools {

// A progress line: how much was read of files that are opened with `observer`, one after another.
class SummaryProgress {
 public:
  SummaryProgress();
  ReadObserver observer();
  // `total_bytes`: the size of all files.
  void Begin(uint64_t total_bytes);
  // From now on, BlockTotals::Add reads this file.
  void BeginFile(const Reader& reader);
  // Removes the line, until Begin is called.
  void End();

 private:
  Progress progress_;
  uint64_t done_bytes_ = 0;  // the size of the files before the current one
  uint64_t file_bytes_ = 0;  // the size of the current file
  uint64_t passes_ = 1;      // how often the current file is read
  uint64_t read_bytes_ = 0;  // the bytes of the current file that were read, in all passes
  bool ended_ = false;
};

Outcome SummarizeTable(const CommonOptions& common, const TableReader& table, bool by_size,
                       SummaryProgress& progress, Output& output);

}  // namespace cfile::tools
