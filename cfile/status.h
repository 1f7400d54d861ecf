// Macros that pass on errors of functions that return absl::Status or absl::StatusOr, and functions
// that build the texts of errors.
//
//   absl::Status CopyColumn(const std::string& from, const std::string& to) {
//     CFILE_ASSIGN_OR_RETURN(const cfile::Reader reader, cfile::Reader::Open(from));
//     ...
//     CFILE_RETURN_IF_ERROR(writer->Append(values));
//
// CFILE_RETURN_IF_ERROR(expression): if the status of `expression` is not OK, returns this status
// from the calling function.
//
// CFILE_ASSIGN_OR_RETURN(declaration, expression): initializes `declaration` with the value of
// `expression`; if `expression` is an error, returns the error from the calling function. This
// macro expands to several statements, so it needs braces after an `if`.
#pragma once

#include "encodings/core/status.h"

namespace cfile {

// Does the same as absl::StrCat, but also takes std::string_view.
using encodings::StrCat;
// Returns the text by which errors name a limit that users choose, for example: "above the limit
// of 64: raise max_depth".
using encodings::AboveLimit;

}  // namespace cfile
