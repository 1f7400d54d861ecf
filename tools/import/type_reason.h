// Says why a column of a CSV file has its type, for the summary.
#pragma once

#include <span>
#include <vector>

#include "cfile/options.h"
#include "tools/import/csv_input.h"
#include "tools/import/type_pass.h"
#include "tools/records/type_inference.h"

namespace cfile::tools {

// The reason of each column whose type was inferred from `columns`. Counts lines up to the last line
// that a reason names. After the call, the position of input.reader() is undefined.
std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     OldestReader oldest_reader);

}  // namespace cfile::tools
