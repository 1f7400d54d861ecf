// Says why automatic choice has taken an encoding.
#pragma once

#include <string>

#include "cfile/file_info.h"
#include "cfile/types.h"

namespace cfile::tools {

// In a few words: the property of the values that makes the encoding small. If all values have the
// same size, also what is left of this size: "few distinct values: 3 % of plain". This is about the
// encoding that takes the most bytes of the column. `totals`: of a file of `type` that was written
// with automatic choice, after Finish.
std::string EncodingReason(const ColumnType& type, const ColumnTotals& totals);

}  // namespace cfile::tools
