// --append: adds the rows of an input to a table that exists.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "tools/import/import_options.h"
#include "tools/import/import_result.h"

namespace cfile::tools {

// Calls import(options). With --evolve, if the rows do not fit the columns of the table: imports
// the input into a temporary table, and appends this one with AppendTable (cfile/table_columns.h).
// `is_text`: values of the input have no types. So they get the types of the table, except
// integers, float and double, which may need a wider type.
// Without --evolve, the error says if this option helps.
absl::StatusOr<ImportResult> AppendInput(
    const ImportOptions& options, bool is_text,
    absl::FunctionRef<absl::StatusOr<ImportResult>(const ImportOptions&)> import);

}  // namespace cfile::tools
