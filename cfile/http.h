// Files and tables behind URLs: https://HOST/PATH (read only) and s3://BUCKET/KEY (Amazon S3 and
// the many servers that speak its protocol). Link cfile::http, which needs libcurl and OpenSSL.
//
//   auto web = cfile::HttpClient::Create();
//   auto file = cfile::Reader::Open(*web->OpenUrl("https://example.org/prices.cfile"));
//   auto table = cfile::TableReader::Open(*web->OpenTable("s3://bucket/flights"));
//
// Requests. Opening a file takes two requests at the same time; Storage::OpenMany opens several
// files at the same time. WholeFiles::OpenWhole reads a small file with one request.
// Source::ReadMany has several requests in flight, and reads ranges that lie near each other in one
// request. Source::BeginRead reads in the background. One thread of the client sends all requests.
// It starts with the first request, and ends when the client and all its sources, sinks and
// storages are destroyed. After a fork, the child has a thread and connections of its own. A
// request that may be repeated is repeated after a connection error, a timeout, or the status 429,
// 500, 502, 503 or 504, after a random delay that grows with each attempt.
//
// Versions. A source asks for the version (ETag) of the object that it has opened. If the object
// changes, reads return kAborted; a source never returns bytes of two versions.
//
// Cache. A piece in the cache belongs to one version (ETag) of an object. Opening an object always
// asks the server for the version. Objects without a strong ETag are not cached. Each piece has a
// checksum; a damaged piece is read from the server again.
//
// Secrets. Messages name a URL without user, password and query. They name the status and the
// request id of the server, and never a key or a signature. TLS certificates are verified.
// Redirects of s3:// are errors; those of https:// are followed to https:// only, without
// credentials.
//
// Errors. kNotFound: status 404. kPermissionDenied: 401, 403. kAborted: the object has changed.
// kUnavailable: the server cannot be reached, or still fails after the last attempt; to try again
// later may help. kInvalidArgument: the URL or an option is wrong. kFailedPrecondition: the server
// cannot do what is needed, for example answer a request for a range.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/http_options.h"
#include "cfile/io.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

// Connections to servers. Thread-safe; copies share the connections, which stay open as long as a
// client, source, sink or storage uses them.
class CFILE_EXPORT HttpClient {
 public:
  // kInvalidArgument: an option is out of its range, or credentials cannot be read.
  static absl::StatusOr<HttpClient> Create(const HttpOptions& options = {});

  HttpClient(const HttpClient&);
  HttpClient& operator=(const HttpClient&);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Opens the object at an http://, https:// or s3:// URL for reading.
  absl::StatusOr<std::shared_ptr<const Source>> OpenUrl(std::string_view url) const;

  // Begins to write an object at an s3:// URL, which Sink::Finish makes visible. A large object is
  // uploaded in parts. If the sink is destroyed before Finish, the upload is aborted. Memory: one
  // part. The metadata of each object have a random id. If the server's answer is lost or is an
  // error, Finish compares this id to find out whether the object was made. kKept needs a server
  // that obeys the condition If-None-Match.
  absl::StatusOr<std::unique_ptr<Sink>> CreateUrl(
      std::string_view url, ExistingFile existing = ExistingFile::kReplaced) const;

  // Returns a Storage for the table at a URL. TableReader, TableWriter and the functions that
  // change tables take a Storage. Only tables at s3:// URLs can be changed. Commit needs a server
  // that obeys the conditions If-Match and If-None-Match of PUT. The first commit in a bucket tries
  // them with an object of its own. kFailedPrecondition: the server ignores them.
  absl::StatusOr<std::shared_ptr<Storage>> OpenTable(std::string_view url) const;

  HttpCounters counters() const;

 private:
  class CFILE_HIDDEN Impl;
  explicit HttpClient(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace cfile
