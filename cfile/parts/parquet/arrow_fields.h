// The fields of Arrow that the columns of an exported Parquet file have.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/parts/arrow/c_data.h"
#include "cfile/parts/parquet/parquet_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the Arrow fields of the columns of a Parquet file. The file is the export of a table with
// `schema`. Libraries of Arrow find the same fields in a file without ARROW:schema, except that
// timestamps have the time zones of their columns here.
// kUnimplemented: a column has no Arrow type.
absl::StatusOr<ArrowField> FieldsOf(const Schema& schema, const ParquetOfSchema& parquet);

// True if `field` describes a column correctly. `own`: the field that FieldsOf returns for the
// column. `field` may say more than `own`: for example, that strings are a dictionary, or that
// integers are a duration.
bool Describes(const ArrowField& field, const ArrowField& own);

}  // namespace cfile::internal
