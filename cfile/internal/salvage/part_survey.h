// Looks at all parts of a table whose table.cft, chunks or columns may be damaged.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/internal/salvage/part_finder.h"
#include "cfile/storage.h"

namespace cfile::internal {

// Finds the parts and checks their files. Does not change anything. Errors as Repair.
absl::StatusOr<Survey> SurveyTable(const Storage& storage, const SurveyOptions& options);

}  // namespace cfile::internal
