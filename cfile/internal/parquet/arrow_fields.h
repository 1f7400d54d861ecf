// The fields of Arrow that the columns of an exported Parquet file have.
#pragma once

#include "absl/status/statusor.h"
#include "cfile/internal/arrow/c_data.h"
#include "cfile/internal/parquet/parquet_schema.h"
#include "cfile/schema.h"

namespace cfile::internal {

// Returns the fields of the columns of a Parquet file that is made of a table with `schema`, as
// libraries of Arrow read them if there is no schema of Arrow, but with time zones.
// kUnimplemented: a column has no Arrow type.
absl::StatusOr<ArrowField> FieldsOf(const Schema& schema, const ParquetOfSchema& parquet);

// True if `field` describes a column correctly. `own`: the field of the column in FieldsOf.
// `field` may say that strings are a dictionary, that integers are a duration, and the like.
bool Describes(const ArrowField& field, const ArrowField& own);

}  // namespace cfile::internal
