// Says why a column of a CSV file has its type, for the summary.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cfile/options.h"
#include "tools/import/csv_input.h"
#include "tools/import/type_pass.h"

namespace cfile::tools {

struct TypeReason {
  std::string text;         // `line 7 has "NA"`, "all values", "--type", ...
  bool is_notable = false;  // the values before that line have another type, or null_text is set
  // Not empty: the type is string only because of unquoted fields with this text. If it meant null,
  // the type would be `type_without`.
  std::string null_text;
  std::string type_without;
};

// The reason of each column whose type was inferred from `columns`. Counts lines up to the last line
// that a reason names. After the call, the position of input.reader() is undefined.
std::vector<TypeReason> ExplainTypes(CsvInput& input, std::span<const ColumnEvidence> columns,
                                     Compatibility compatibility);

}  // namespace cfile::tools
