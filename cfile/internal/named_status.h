// Errors that say once which file they are about.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cfile::internal {

// True if `message` has `name` as a word of its own, or as the folder of a path.
bool Names(absl::string_view message, const std::string& name);

// `status` with this message; its code and payloads stay.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

// `status` with `name` and a colon before its message if the message does not name it yet: what a
// user's Source or Sink returns may do that or not. OK stays OK.
absl::Status Named(const absl::Status& status, const std::string& name);
// The same for what a Sink of this name returned. The sink of a file names its temporary file, in
// the same folder, which is as good.
absl::Status NamedSink(const absl::Status& status, const std::string& name);
template <typename T>
absl::StatusOr<T> Named(absl::StatusOr<T> result, const std::string& name) {
  if (result.ok()) return result;
  return Named(result.status(), name);
}

}  // namespace cfile::internal
