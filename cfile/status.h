// Macros that pass on errors of functions that return absl::Status or absl::StatusOr, functions
// that build the texts of errors (encodings/core/status.h), and functions that mark errors.
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

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "encodings/core/status.h"

namespace cfile {

// A payload that marks errors that say that rows do not fit the columns of a table. If AppendTable
// (cfile/table_columns.h) gets such rows, it changes the columns so that the rows fit, or says why
// it cannot.
inline constexpr absl::string_view kUnfitRows = "cfile.unfit_rows";

// Returns `error` with the mark.
inline absl::Status UnfitRows(absl::Status error) {
  error.SetPayload(kUnfitRows, absl::Cord());
  return error;
}

inline bool IsUnfitRows(const absl::Status& status) {
  return status.GetPayload(kUnfitRows).has_value();
}

// Returns `error`, with the mark if `cause` has it.
inline absl::Status MarkedLike(const absl::Status& cause, absl::Status error) {
  return IsUnfitRows(cause) ? UnfitRows(std::move(error)) : error;
}

}  // namespace cfile
