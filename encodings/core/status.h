// Encodings report errors as absl::Status. kDataLoss: bytes are damaged or malformed. kOutOfRange:
// the bytes need more than a limit allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace cfile::encodings {

// In this version of Abseil, absl::string_view is not std::string_view, and absl::StrCat does not
// accept the latter. This StrCat accepts both.
template <typename Part>
const Part& StrCatPart(const Part& part) {
  return part;
}
inline absl::string_view StrCatPart(std::string_view part) { return {part.data(), part.size()}; }
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  return absl::StrCat(StrCatPart(parts)...);
}

// Returns kDataLoss with the concatenation of `parts` as message. The message says what was found,
// where in the block, and what was expected. The caller that has the file adds the file's name and
// the block's offset.
template <typename... Parts>
absl::Status DataLoss(const Parts&... parts) {
  return absl::DataLossError(StrCat(parts...));
}

// Returns kOutOfRange with the concatenation of `parts` as message: a limit that users choose is
// exceeded, but nothing is damaged. The last part is the result of AboveLimit.
template <typename... Parts>
absl::Status OutOfRange(const Parts&... parts) {
  return absl::OutOfRangeError(StrCat(parts...));
}

// Returns the text by which a message names a limit that users choose: "above the limit of 64:
// raise max_depth".
inline std::string AboveLimit(uint64_t limit, std::string_view option) {
  return StrCat("above the limit of ", limit, ": raise ", option);
}

}  // namespace cfile::encodings

// This Abseil (20220623) has no status_macros.h yet.
#define CFILE_CONCAT_INNER(a, b) a##b
#define CFILE_CONCAT(a, b) CFILE_CONCAT_INNER(a, b)
#define CFILE_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                        \
    if (absl::Status cfile_status_ = (expression); !cfile_status_.ok()) return cfile_status_; \
  } while (false)
#define CFILE_ASSIGN_OR_RETURN(declaration, expression) \
  CFILE_ASSIGN_OR_RETURN_INNER(CFILE_CONCAT(cfile_status_or_, __COUNTER__), declaration, expression)
#define CFILE_ASSIGN_OR_RETURN_INNER(status_or, declaration, expression) \
  auto status_or = (expression);                                         \
  if (!status_or.ok()) return std::move(status_or).status();             \
  declaration = *std::move(status_or)
