// Decides whether the first record of a CSV file has the names of the columns.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "cfile/options.h"
#include "tools/import/csv_input.h"
#include "tools/import/type_pass.h"

namespace cfile::tools {

// Returns true if the first record of `input`, which CsvInput has taken for the header, is a row
// (see Import in importer.h). `found` has what the other rows show. If the first record is a row,
// this function adds the record to `found`. Moves input.reader(). Errors: those of CsvReader::Next.
absl::StatusOr<bool> FirstRecordIsARow(CsvInput& input, std::span<const ColumnRule> rules,
                                       OldestReader oldest_reader,
                                       std::vector<ColumnEvidence>& found);

}  // namespace cfile::tools
