// Requests to one server: signed for S3, or plain.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfile/http_options.h"
#include "cfile/parts/http/connections.h"
#include "cfile/parts/http/disk_cache.h"
#include "cfile/parts/http/s3_credentials.h"

namespace cfile::internal {

// Names and values of a URL's query, not encoded.
using UrlQuery = std::vector<std::pair<std::string, std::string>>;

// Thread-safe.
class HttpServer {
 public:
  // A server whose requests are not signed. It may redirect them.
  HttpServer(std::shared_ptr<Connections> connections, std::shared_ptr<DiskCache> cache)
      : connections_(std::move(connections)), cache_(std::move(cache)) {}
  // A bucket of S3. `bucket`: a name that ParseS3Url has accepted.
  HttpServer(std::shared_ptr<Connections> connections, std::shared_ptr<DiskCache> cache,
             std::shared_ptr<S3Keys> keys, const std::string& bucket);

  // The URL of an object in the bucket, or of the bucket itself if `key` is empty.
  std::string UrlOf(std::string_view key, UrlQuery query = {}) const;

  // Sends requests, which are signed if that is needed (see Connections::Send).
  std::vector<HttpResponse> Send(std::span<const HttpRequest> requests,
                                 bool repeatable = true) const;
  HttpResponse Send(const HttpRequest& request, bool repeatable = true) const;
  // Begins a request (see Connections::Begin).
  std::unique_ptr<PendingResponse> Begin(HttpRequest request) const;

  DiskCache* cache() const { return cache_.get(); }  // null: there is none
  bool is_s3() const { return keys_ != nullptr; }
  absl::Status WaitBefore(int attempt) const { return connections_->WaitBefore(attempt); }
  const HttpOptions& options() const { return connections_->options(); }
  const S3Options& s3() const { return s3_; }
  // True if the server is known to check conditions of PUT requests: for a version, or that there
  // is no object (see s3_conditions.h).
  std::atomic<bool>& has_condition(bool of_version) const { return has_condition_[of_version]; }

 private:
  // Signs requests; empty if they are not signed.
  PrepareRequest Signing() const;

  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<DiskCache> cache_;
  const std::shared_ptr<S3Keys> keys_;  // null: not S3
  const S3Options s3_;                  // with the first keys
  std::string bucket_url_;              // without a slash at the end
  mutable std::atomic<bool> has_condition_[2] = {false, false};
};

}  // namespace cfile::internal
