// Looks at all parts of a table whose table.cft, chunks or columns may be damaged.
#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "cfile/parts/salvage/part_finder.h"
#include "cfile/storage.h"
#include "cfile/table.h"

namespace cfile::internal {

struct SurveyedTable {
  Survey survey;
  // The table with all of survey.parts, in order. table.cft and the chunks are in memory, so the
  // storage need not have them.
  TableReader table;
};

// Finds the parts, and reads all their files, without changing anything. `force`: if table.cft is
// sound, also finds the parts that it does not name. Errors: those of Repair.
absl::StatusOr<SurveyedTable> SurveyTable(const std::shared_ptr<Storage>& storage, bool force,
                                          const ReaderOptions& options);

// Reads the file of a column. If SaysLost is true for the result, the file is damaged or missing.
// OK if the file is sound, if the part has no file of the column, or if a limit or a missing codec
// prevents reading it.
absl::Status CheckFile(const TableReader& table, size_t part, size_t column);

}  // namespace cfile::internal
