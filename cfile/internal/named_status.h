// Errors that say once which file they are about.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cfile::internal {

// True if `message` names `name`: as a word of its own, in quotes or not, or before a colon.
bool Names(absl::string_view message, const std::string& name);

// `status` with this message; its code and payloads stay.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

// `status` with `name` and a colon before its message if the message does not name it yet: what a
// user's Source or Sink returns may do that or not. OK stays OK.
absl::Status Named(const absl::Status& status, const std::string& name);

}  // namespace cfile::internal
