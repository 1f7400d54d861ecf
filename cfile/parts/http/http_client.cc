#include "cfile/http.h"

#include <map>
#include <mutex>
#include <utility>

#include "cfile/parts/http/connections.h"
#include "cfile/parts/http/disk_cache.h"
#include "cfile/parts/http/http_source.h"
#include "cfile/parts/http/http_storage.h"
#include "cfile/parts/http/s3_credentials.h"
#include "cfile/parts/http/s3_storage.h"
#include "cfile/parts/http/url.h"
#include "encodings/core/status.h"

namespace cfile {

using encodings::StrCat;
using internal::HttpServer;
using internal::RedactedUrl;
using internal::S3Url;

class HttpClient::Impl {
 public:
  Impl(const HttpOptions& options, std::shared_ptr<internal::DiskCache> cache)
      : connections_(std::make_shared<internal::Connections>(options)),
        cache_(std::move(cache)),
        web_(std::make_shared<HttpServer>(connections_, cache_)) {}

  // For URLs that are not s3://.
  const std::shared_ptr<const HttpServer>& web() const { return web_; }

  absl::StatusOr<std::shared_ptr<const HttpServer>> Bucket(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    if (keys_ == nullptr) {
      CFILE_ASSIGN_OR_RETURN(keys_, internal::S3Keys::Read(connections_->options().s3));
    }
    std::shared_ptr<const HttpServer>& bucket = buckets_[name];
    if (bucket == nullptr) bucket = std::make_shared<HttpServer>(connections_, cache_, keys_, name);
    return bucket;
  }

  HttpCounters counters() const { return connections_->counters(); }

 private:
  const std::shared_ptr<internal::Connections> connections_;
  const std::shared_ptr<internal::DiskCache> cache_;
  const std::shared_ptr<const HttpServer> web_;
  mutable std::mutex mutex_;                        // guards the following
  mutable std::shared_ptr<internal::S3Keys> keys_;  // read when the first s3:// URL is used
  mutable std::map<std::string, std::shared_ptr<const HttpServer>> buckets_;  // by name
};

namespace {

constexpr size_t kMinPartBytes = size_t{5} << 20;  // of S3, for all parts but the last one

absl::Status CheckOptions(const HttpOptions& options) {
  const auto wrong = [](std::string_view what) { return absl::InvalidArgumentError(StrCat(what)); };
  if (options.max_connections < 1 || options.max_connections > 1024)
    return wrong("max_connections is from 1 to 1024");
  if (options.max_attempts < 1) return wrong("max_attempts is at least 1");
  if (options.retry_delay.count() < 0) return wrong("retry_delay is at least 0");
  if (options.connect_timeout.count() < 1) return wrong("connect_timeout is at least 1 ms");
  if (options.stall_timeout.count() < 1000) return wrong("stall_timeout is at least 1 s");
  if (options.s3.part_size_bytes < kMinPartBytes) return wrong("part_size_bytes is at least 5 MiB");
  return absl::OkStatus();
}

absl::Status WithoutKey(std::string_view url) {
  return absl::InvalidArgumentError(
      StrCat(RedactedUrl(url),
             ": expected the URL of an object, s3://BUCKET/KEY; this URL names only a bucket"));
}

absl::Status NotS3(std::string_view url) {
  return absl::InvalidArgumentError(
      StrCat(RedactedUrl(url), ": files can be written only to s3:// URLs"));
}

}  // namespace

absl::StatusOr<HttpClient> HttpClient::Create(const HttpOptions& options) {
  CFILE_RETURN_IF_ERROR(CheckOptions(options));
  std::shared_ptr<internal::DiskCache> cache;
  if (!options.cache_directory.empty()) {
    CFILE_ASSIGN_OR_RETURN(
        cache, internal::DiskCache::Open(options.cache_directory, options.max_cache_bytes));
  }
  return HttpClient(std::make_shared<Impl>(options, std::move(cache)));
}

HttpClient::HttpClient(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::HttpClient(const HttpClient&) = default;
HttpClient& HttpClient::operator=(const HttpClient&) = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

absl::StatusOr<std::shared_ptr<const Source>> HttpClient::OpenUrl(std::string_view url) const {
  if (!url.starts_with("s3://")) {
    CFILE_RETURN_IF_ERROR(internal::CheckWebUrl(url));
    return internal::OpenHttpSource(impl_->web(), std::string(url), RedactedUrl(url));
  }
  CFILE_ASSIGN_OR_RETURN(const S3Url parsed, internal::ParseS3Url(url));
  if (parsed.key.empty()) return WithoutKey(url);
  CFILE_ASSIGN_OR_RETURN(const auto bucket, impl_->Bucket(parsed.bucket));
  return internal::OpenHttpSource(bucket, bucket->UrlOf(parsed.key), RedactedUrl(url));
}

absl::StatusOr<std::unique_ptr<Sink>> HttpClient::CreateUrl(std::string_view url,
                                                            ExistingFile existing) const {
  if (!url.starts_with("s3://")) return NotS3(url);
  CFILE_ASSIGN_OR_RETURN(S3Url parsed, internal::ParseS3Url(url));
  if (parsed.key.empty()) return WithoutKey(url);
  CFILE_ASSIGN_OR_RETURN(auto bucket, impl_->Bucket(parsed.bucket));
  return internal::NewS3Sink(std::move(bucket), std::move(parsed.key), RedactedUrl(url), existing);
}

absl::StatusOr<std::shared_ptr<Storage>> HttpClient::OpenTable(std::string_view url) const {
  while (url.ends_with('/')) url.remove_suffix(1);
  if (!url.starts_with("s3://")) {
    CFILE_RETURN_IF_ERROR(internal::CheckWebUrl(url));
    if (url.find_first_of("?#") != std::string_view::npos) {
      return absl::InvalidArgumentError(
          StrCat(RedactedUrl(url), ": the URL of a table has no query and no fragment"));
    }
    return std::make_shared<internal::HttpStorage>(impl_->web(), StrCat(url, "/"),
                                                   RedactedUrl(url));
  }
  CFILE_ASSIGN_OR_RETURN(S3Url parsed, internal::ParseS3Url(url));
  CFILE_ASSIGN_OR_RETURN(auto bucket, impl_->Bucket(parsed.bucket));
  return internal::NewS3Storage(std::move(bucket), std::move(parsed.key), RedactedUrl(url));
}

HttpCounters HttpClient::counters() const { return impl_->counters(); }

}  // namespace cfile
