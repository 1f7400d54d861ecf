// The keys, the region and the endpoint for s3:// URLs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/http_options.h"

namespace cfile::internal {

// The sections of an INI file, as the command-line tools of Amazon write it:
// {section: {name: value}}. Lines that begin with # or ; are comments. Lines with leading spaces
// belong to the setting before them and are left out, like lines without '='.
using IniSections = std::map<std::string, std::map<std::string, std::string>>;
IniSections ParseIni(std::string_view text);

// Sets the empty fields of `options` from the environment and from the files that
// cfile/http_options.h names. Then all fields are set, with two exceptions: the session token may be
// empty, and the keys are empty if `anonymous` is set. kFailedPrecondition: there are no keys.
// kInvalidArgument: a file cannot be read, only one of the two keys is there, or the region or the
// endpoint is malformed.
absl::StatusOr<S3Options> CompleteS3Options(S3Options options);

}  // namespace cfile::internal
