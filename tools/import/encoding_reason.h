// Says why a column has its encoding, for the summary.
#pragma once

#include <string>

#include "tools/import/import_options.h"
#include "tools/import/import_result.h"

namespace cfile::tools {

// In a few words: the option that chose the encoding, or the property of the values that makes the
// encoding small. If all values have the same size, also what is left of this size: "few distinct
// values: 3 % of plain". This is about the encoding that takes the most bytes of the column.
std::string EncodingReason(const ImportOptions& options, const ImportResult& result,
                           const ImportedColumn& column);

}  // namespace cfile::tools
