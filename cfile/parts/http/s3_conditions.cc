#include "cfile/parts/http/s3_conditions.h"

#include "cfile/core/io/file_system.h"
#include "encodings/core/status.h"

namespace cfile::internal {

using encodings::StrCat;

void AddCondition(const std::optional<std::string>& version, HttpRequest& request) {
  if (version) {
    request.headers.emplace_back("if-match", *version);
  } else {
    request.headers.emplace_back("if-none-match", "*");
  }
}

absl::Status CheckCondition(const HttpServer& bucket, const std::string& key,
                            const std::string& name, bool needs_version) {
  std::atomic<bool>& known = bucket.has_condition(needs_version);
  if (known) return absl::OkStatus();
  CFILE_ASSIGN_OR_RETURN(const std::string random, RandomName());
  HttpRequest request{.method = "PUT", .url = bucket.UrlOf(StrCat(key, kProbeInfix, random))};
  std::optional<std::string> no_version;
  if (needs_version) no_version = "\"00000000000000000000000000000000\"";
  AddCondition(no_version, request);
  HttpResponse response = bucket.Send(request);
  const bool made = response.ok();
  // The first request has made an object, so that the second one must be refused.
  if (made && !needs_version) response = bucket.Send(request);
  // If an answer was lost, the object is there although `made` is false.
  if (made || !needs_version) (void)bucket.Send({.method = "DELETE", .url = request.url});
  if (response.ok()) {
    return absl::FailedPreconditionError(StrCat(
        name, ": the server ignores the condition ", needs_version ? "If-Match" : "If-None-Match",
        " of a PUT (", bucket.UrlOf(""), "), so writers could replace each other's objects"));
  }
  // Servers answer 404 or 412 if an object that must have a version is not there.
  if (response.status != 412 && !(needs_version && response.status == 404))
    return HttpError(name, response);
  known = true;
  return absl::OkStatus();
}

}  // namespace cfile::internal
