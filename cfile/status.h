// Macros that pass on errors of functions that return absl::Status or absl::StatusOr, and words for
// messages.
//
//   absl::Status CopyColumn(const std::string& from, const std::string& to) {
//     CFILE_ASSIGN_OR_RETURN(const cfile::Reader reader, cfile::Reader::Open(from));
//     ...
//     CFILE_RETURN_IF_ERROR(writer->Append(values));
//
// CFILE_RETURN_IF_ERROR(expression): returns the status of `expression` from the calling function
// unless it is OK.
// CFILE_ASSIGN_OR_RETURN(declaration, expression): initializes `declaration` with the value of
// `expression`, or returns its status from the calling function. It expands to several statements,
// so it needs braces after an `if`.
#pragma once

#include "encodings/core/status.h"

namespace cfile {

// absl::StrCat that also takes std::string_view, for messages.
using encodings::StrCat;
// The words by which messages name a limit that users choose.
using encodings::AboveLimit;

}  // namespace cfile
