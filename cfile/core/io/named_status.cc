#include "cfile/core/io/named_status.h"

#include "absl/strings/cord.h"
#include "encodings/core/status.h"

namespace cfile::internal {

bool Names(absl::string_view message, const std::string& name) {
  if (name.empty()) return true;  // there is nothing to add
  const auto is_one_of = [](char c, absl::string_view set) {
    return set.find(c) != absl::string_view::npos;
  };
  for (size_t at = message.find(name); at != absl::string_view::npos;
       at = message.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || is_one_of(message[at - 1], " '\"(")) &&
        (end == message.size() || is_one_of(message[end], " '\"):,/"))) {
      return true;
    }
  }
  return false;
}

absl::Status WithMessage(const absl::Status& status, absl::string_view message) {
  absl::Status result(status.code(), message);
  status.ForEachPayload([&](absl::string_view type_url, const absl::Cord& payload) {
    result.SetPayload(type_url, payload);
  });
  return result;
}

absl::Status Named(const absl::Status& status, const std::string& name) {
  if (status.ok() || Names(status.message(), name)) return status;
  return WithMessage(status, StrCat(name, ": ", status.message()));
}

absl::Status NamedSink(const absl::Status& status, const std::string& name) {
  if (status.ok()) return status;  // allocate nothing: the file may already be in place
  const size_t slash = name.rfind('/');
  const bool in_folder = slash != std::string::npos && slash > 0;
  if (in_folder && Names(status.message(), name.substr(0, slash))) return status;
  return Named(status, name);
}

}  // namespace cfile::internal
