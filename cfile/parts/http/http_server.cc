#include "cfile/parts/http/http_server.h"

#include <algorithm>
#include <chrono>

#include "cfile/parts/http/s3_signature.h"
#include "cfile/parts/http/url.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

std::string BucketUrl(const S3Options& s3, const std::string& bucket) {
  const Endpoint endpoint = *ParseEndpoint(s3.endpoint);
  // A certificate for *.HOST does not cover a bucket with dots in its name.
  if (s3.path_style || bucket.find('.') != std::string::npos)
    return encodings::StrCat(endpoint.scheme, endpoint.host, "/", bucket);
  return encodings::StrCat(endpoint.scheme, bucket, ".", endpoint.host);
}

}  // namespace

HttpServer::HttpServer(std::shared_ptr<Connections> connections, std::shared_ptr<DiskCache> cache,
                       std::shared_ptr<S3Keys> keys, const std::string& bucket)
    : connections_(std::move(connections)),
      cache_(std::move(cache)),
      keys_(std::move(keys)),
      s3_(keys_->Now()),
      bucket_url_(BucketUrl(s3_, bucket)) {}

std::string HttpServer::UrlOf(std::string_view key, UrlQuery query) const {
  std::string url = encodings::StrCat(bucket_url_, "/", UrlEncode(key, /*keep_slashes=*/true));
  for (auto& [name, value] : query) {
    name = UrlEncode(name, /*keep_slashes=*/false);
    value = UrlEncode(value, /*keep_slashes=*/false);
  }
  std::sort(query.begin(), query.end());  // as signatures want it
  char separator = '?';
  for (const auto& [name, value] : query) {
    url += separator;
    url += encodings::StrCat(name, "=", value);
    separator = '&';
  }
  return url;
}

std::vector<HttpResponse> HttpServer::Send(std::span<const HttpRequest> requests,
                                           bool repeatable) const {
  return connections_->Send(requests, Signing(), repeatable);
}

std::unique_ptr<PendingResponse> HttpServer::Begin(HttpRequest request) const {
  return connections_->Begin(std::move(request), Signing());
}

PrepareRequest HttpServer::Signing() const {
  if (!is_s3() || s3_.anonymous) return {};
  return [this](HttpRequest& request) {
    SignRequest(keys_->Now(), Sha256Hex(request.body), std::chrono::system_clock::now(), request);
  };
}

HttpResponse HttpServer::Send(const HttpRequest& request, bool repeatable) const {
  return std::move(Send(std::span(&request, 1), repeatable).front());
}

}  // namespace cfile::internal
