// Says why the automatic choice has taken an encoding.
#pragma once

#include <string>

#include "cfile/file_info.h"
#include "cfile/types.h"

namespace cfile::tools {

// Returns, in a few words, the property of the values that makes the encoding small. If all values
// have the same size, the text also says which part of this size is left: "few distinct values: 3 %
// of plain". If the column has several encodings, the text is about the one with the most bytes.
// `type`: the type of the column. `totals`: the totals after Finish of a writer that chose the
// encoding automatically.
std::string EncodingReason(const ColumnType& type, const ColumnTotals& totals);

}  // namespace cfile::tools
