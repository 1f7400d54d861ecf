// Adds a file's name to errors that do not have it yet.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cfile::internal {

// True if `message` contains `name` as a separate word, or as the folder of a path.
bool Names(absl::string_view message, const std::string& name);

// Returns `status` with another message and the same code and payloads.
absl::Status WithMessage(const absl::Status& status, absl::string_view message);

// Puts `name` and a colon before the message, unless it has the name already, as errors of a user's
// Source or Sink may. OK stays OK.
absl::Status Named(const absl::Status& status, const std::string& name);
// Named for an error of the Sink with this name. A file's sink may name its temporary file, which
// is in the same folder, so a message that contains the folder of `name` stays unchanged.
absl::Status NamedSink(const absl::Status& status, const std::string& name);
template <typename T>
absl::StatusOr<T> Named(absl::StatusOr<T> result, const std::string& name) {
  if (result.ok()) return result;
  return Named(result.status(), name);
}

}  // namespace cfile::internal
