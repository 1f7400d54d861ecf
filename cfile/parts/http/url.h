// Parts of URLs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cfile::internal {

// The URL for messages: without user, password, query and fragment. Keys of s3:// URLs stay whole.
std::string RedactedUrl(std::string_view url);

// An s3:// URL. The key is not encoded, as people write it: s3://bucket/a b/c.
struct S3Url {
  std::string bucket;
  std::string key;  // without / at the beginning; may be empty
};

// kInvalidArgument: not an s3:// URL with a bucket whose name S3 allows.
absl::StatusOr<S3Url> ParseS3Url(std::string_view url);

// The scheme with "://", and the host, of an http:// or https:// URL. The host has the port if it is
// not the usual one of the scheme.
struct Endpoint {
  std::string scheme;
  std::string host;
};

// kInvalidArgument: `url` has another scheme, a user, a path, a query, or no host.
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view url);

// kInvalidArgument: `url` is not an http:// or https:// URL with a host, or has bytes that a URL
// cannot have, such as spaces.
absl::Status CheckWebUrl(std::string_view url);

// Percent-encodes all bytes but letters, digits, '-', '.', '_' and '~', as S3's signatures want it.
// `keep_slashes`: true for the path, false for names and values of the query.
std::string UrlEncode(std::string_view text, bool keep_slashes);

}  // namespace cfile::internal
