#include "cfile/parts/http/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <map>
#include <new>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "encodings/core/assert.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using encodings::AsBytes;
using encodings::StrCat;
using Sha256 = std::array<uint8_t, 32>;

std::string Hex(const Sha256& hash) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

Sha256 Hash(std::span<const uint8_t> bytes) {
  Sha256 hash;
  if (EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();  // its only way to fail
  return hash;
}

Sha256 Keyed(std::span<const uint8_t> key, std::string_view text) {
  Sha256 hash;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), AsBytes(text).data(),
           text.size(), hash.data(), nullptr) == nullptr)
    throw std::bad_alloc();
  return hash;
}

std::string Trimmed(const std::string& text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace

std::string Sha256Hex(std::span<const uint8_t> bytes) { return Hex(Hash(bytes)); }

void SignRequest(const S3Options& options, std::string_view payload_hash,
                 std::chrono::system_clock::time_point now, HttpRequest& request) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc;
  gmtime_r(&seconds, &utc);
  char time[17];
  std::strftime(time, sizeof(time), "%Y%m%dT%H%M%SZ", &utc);
  const std::string date(time, 8);

  request.headers.emplace_back("x-amz-date", time);
  request.headers.emplace_back("x-amz-content-sha256", payload_hash);
  if (!options.session_token.empty())
    request.headers.emplace_back("x-amz-security-token", options.session_token);

  // Divide the URL: scheme://host/path?query.
  const std::string_view url = request.url;
  const size_t host_at = url.find("://") + 3;
  const size_t path_at = url.find('/', host_at);
  CFILE_ASSERT(path_at != std::string_view::npos);
  const size_t query_at = std::min(url.find('?', path_at), url.size());
  const std::string_view host = url.substr(host_at, path_at - host_at);
  const std::string_view path = url.substr(path_at, query_at - path_at);
  const std::string_view query = query_at == url.size() ? "" : url.substr(query_at + 1);

  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.headers) headers[name] = Trimmed(value);
  headers["host"] = host;
  std::string signed_names, canonical_headers;
  for (const auto& [name, value] : headers) {
    if (!signed_names.empty()) signed_names += ';';
    signed_names += name;
    canonical_headers += StrCat(name, ":", value, "\n");
  }
  const std::string canonical = StrCat(request.method, "\n", path, "\n", query, "\n",
                                       canonical_headers, "\n", signed_names, "\n", payload_hash);

  const std::string scope = StrCat(date, "/", options.region, "/s3/aws4_request");
  const std::string to_sign =
      StrCat("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", Hex(Hash(AsBytes(canonical))));
  Sha256 key = Keyed(AsBytes(StrCat("AWS4", options.secret_access_key)), date);
  for (const std::string_view part : {std::string_view(options.region), std::string_view("s3"),
                                      std::string_view("aws4_request")}) {
    key = Keyed(key, part);
  }
  request.headers.emplace_back(
      "authorization",
      StrCat("AWS4-HMAC-SHA256 Credential=", options.access_key_id, "/", scope,
             ", SignedHeaders=", signed_names, ", Signature=", Hex(Keyed(key, to_sign))));
}

}  // namespace cfile::internal
