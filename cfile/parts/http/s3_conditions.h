// Conditions of PUT requests, by which writers exclude each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cfile/parts/http/http_server.h"

namespace cfile::internal {

// The names of the objects that CheckCondition makes have this text before a random name. Lists of
// objects leave them out.
inline constexpr std::string_view kProbeInfix = ".probe-";

// Lets the server refuse the request (status 412) unless the object has this version (its ETag).
// nullopt: unless there is no object.
void AddCondition(const std::optional<std::string>& version, HttpRequest& request);

// Checks that the server obeys such a condition; otherwise, two writers could replace each other's
// objects without an error. Tries the condition once for each bucket of a client and each kind of
// condition, with an object that it makes for this; the name of this object begins with `key`.
// `needs_version`: true if the condition is that the object has a certain version; false if it is
// that no such object exists. `name`: the object's name in messages. kFailedPrecondition: the
// server ignores the condition. Other errors: those of the requests.
absl::Status CheckCondition(const HttpServer& bucket, const std::string& key,
                            const std::string& name, bool needs_version);

}  // namespace cfile::internal
