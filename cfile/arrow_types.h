// Keeps what Arrow's types say and no column can say.
//
//   what Arrow has       a column stores          what comes back
//   duration             int64                    the duration
//   float16              float                    float16
//   null                 string, all null         null, as long as all values are null
//   an extension type    the type of its storage  the extension type
//   metadata of fields and of the schema          the same, without the key "pandas"
//
// A text says what the columns were: the value of the key ARROW:schema in the metadata of the table,
// as in Parquet files. Metadata with keys that begin with "cfile." are not kept.
//
//   CFILE_ASSIGN_OR_RETURN(std::string text, cfile::StoreArrowTypes(std::nullopt, &stream));
//   ...                 // ImportArrowSchema and AppendArrow: cfile/arrow_import.h
//   if (!text.empty()) options.metadata.emplace_back("ARROW:schema", text);  // of the first column
//   ...
//   CFILE_RETURN_IF_ERROR(cfile::RestoreArrowTypes(text, is_null, &exported_stream));
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/arrow_c_data.h"
#include "encodings/core/export.h"

namespace cfile {

// Replaces *stream by a stream whose types columns have. The new stream owns the earlier one.
// Returns the value of ARROW:schema. Returns "" if all types and metadata come back without it.
//
// `described`: for rows that go to a table that exists, its ARROW:schema, or "" if it has none.
// Then durations and float16 must have the type that the table has.
//
// Durations, float16 and null inside of lists, structs and maps stay as they are. ImportArrowSchema
// refuses them.
//
// kUnimplemented: the storage of an extension type would come back as another type, for example if
// it is a dictionary. kInvalidArgument: the schema is malformed, or a type differs from that of the
// table. Both errors name the field. The error of the stream. After an error *stream is unchanged.
CFILE_EXPORT absl::StatusOr<std::string> StoreArrowTypes(
    const std::optional<std::string>& described, ArrowArrayStream* stream);

// Replaces *stream, an exported stream, by a stream with the types that `arrow_schema` describes.
// Fields are found by name. A field stays as it is if its column has another type than the
// described one is stored in. `is_null` says whether all values of a column are null. It is called
// before the function returns, and only for columns that had the type null.
// If `arrow_schema` is no schema of Arrow, the function changes nothing.
//
// Errors: as above. The new stream returns EINVAL if a list does not have the length of its type.
CFILE_EXPORT absl::Status RestoreArrowTypes(
    std::string_view arrow_schema, absl::FunctionRef<bool(const std::string& column)> is_null,
    ArrowArrayStream* stream);

}  // namespace cfile
