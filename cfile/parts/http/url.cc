#include "cfile/parts/http/url.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::StrCat;

bool IsBucketCharacter(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) ||
         absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '.';
}

}  // namespace

std::string RedactedUrl(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  std::string_view rest = url.substr(begin);
  // An s3:// key may contain ? and #.
  if (!url.starts_with("s3://")) rest = rest.substr(0, rest.find_first_of("?#"));
  const size_t path = std::min(rest.find('/'), rest.size());
  const size_t at = rest.substr(0, path).rfind('@');
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  return StrCat(url.substr(0, begin), rest);
}

absl::StatusOr<S3Url> ParseS3Url(std::string_view url) {
  constexpr std::string_view kScheme = "s3://";
  if (!url.starts_with(kScheme)) {
    return absl::InvalidArgumentError(StrCat(RedactedUrl(url), ": not an s3:// URL"));
  }
  const std::string_view rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view bucket = rest.substr(0, slash);
  const bool dots = bucket.find("..") != std::string_view::npos;
  if (bucket.size() < 3 || bucket.size() > 63 || dots || !IsBucketCharacter(bucket.front()) ||
      !std::all_of(bucket.begin(), bucket.end(), IsBucketCharacter) || bucket.front() == '.' ||
      bucket.back() == '.') {
    return absl::InvalidArgumentError(
        StrCat(RedactedUrl(url), ": the name of the bucket is not one that S3 allows"));
  }
  const std::string_view key = slash == rest.size() ? "" : rest.substr(slash + 1);
  if (key.size() > 1024) {
    return absl::InvalidArgumentError(
        StrCat(RedactedUrl(url), ": a key has at most 1024 bytes, this one has ", key.size()));
  }
  return S3Url{.bucket = std::string(bucket), .key = std::string(key)};
}

absl::StatusOr<Endpoint> ParseEndpoint(std::string_view url) {
  const size_t scheme = url.find("://");
  const std::string_view name = scheme == std::string_view::npos ? "" : url.substr(0, scheme + 3);
  std::string_view host = url.substr(std::min(url.size(), name.size()));
  if (host.ends_with('/')) host.remove_suffix(1);
  // libcurl leaves the usual port out of the header Host, which is signed.
  const std::string_view usual_port = name == "https://" ? ":443" : ":80";
  if (host.ends_with(usual_port)) host.remove_suffix(usual_port.size());
  std::string_view wrong;
  if (name != "https://" && name != "http://") {
    wrong = "it does not begin with https:// or http://";
  } else if (host.find('@') != std::string_view::npos) {
    wrong =
        "it has a user or a password; the keys are in AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY";
  } else if (host.empty()) {
    wrong = "it has no host";
  } else if (host.find_first_of("/?# ") != std::string_view::npos) {
    wrong = "something follows the host and the port";
  }
  if (!wrong.empty()) {
    return absl::InvalidArgumentError(
        StrCat("the endpoint \"", RedactedUrl(url),
               "\" is not https://HOST or https://HOST:PORT: ", wrong));
  }
  return Endpoint{.scheme = std::string(name), .host = std::string(host)};
}

absl::Status CheckWebUrl(std::string_view url) {
  const bool is_url = std::all_of(url.begin(), url.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
  const size_t host = url.find("://") + 3;
  if ((!url.starts_with("http://") && !url.starts_with("https://")) || !is_url ||
      host == url.size() || url[host] == '/') {
    return absl::InvalidArgumentError(StrCat(RedactedUrl(url), ": not an http:// or https:// URL"));
  }
  return absl::OkStatus();
}

std::string UrlEncode(std::string_view text, bool keep_slashes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~' ||
        (c == '/' && keep_slashes)) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

}  // namespace cfile::internal
