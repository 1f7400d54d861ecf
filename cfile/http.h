// Files and tables behind URLs: https://HOST/PATH (read only) and s3://BUCKET/KEY (Amazon S3 and
// the many servers that speak its protocol). Link cfile::http, which needs libcurl and OpenSSL.
//
//   auto web = cfile::HttpClient::Create();
//   auto file = cfile::Reader::Open(*web->OpenUrl("https://example.org/prices.cfile"));
//   auto table = cfile::TableReader::Open(*web->OpenTable("s3://bucket/flights"));
//
// Requests. Opening a file takes two requests at the same time. Source::ReadMany has several
// requests in flight, and reads ranges that lie near each other in one request. A request that may be
// repeated is repeated after a connection error, a timeout, or the status 429, 500, 502, 503 or 504,
// after a random delay that grows with each attempt.
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

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cfile/io.h"
#include "cfile/storage.h"
#include "encodings/core/export.h"

namespace cfile {

// How s3:// URLs are reached. An empty text is taken from the environment or from a file, as by
// other programs:
//
//   access_key_id, secret_access_key, session_token
//              AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; without them,
//              the profile AWS_PROFILE (or "default") of AWS_SHARED_CREDENTIALS_FILE
//              (~/.aws/credentials)
//   region     AWS_REGION, AWS_DEFAULT_REGION; the profile of AWS_CONFIG_FILE (~/.aws/config);
//              us-east-1
//   endpoint   AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; https://s3.REGION.amazonaws.com
struct S3Options {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
  std::string region;
  std::string endpoint;    // a URL: scheme, host, and a port if it is not the usual one
  bool anonymous = false;  // true: requests are not signed
  // True: the bucket is the first part of the path. False: it is the first part of the host name.
  // An endpoint that is set here or by the environment always has the bucket in the path.
  bool path_style = false;
  // A file is written in parts of this many bytes (at least 5 MiB), which are held in memory.
  size_t part_size_bytes = size_t{8} << 20;
};

struct HttpOptions {
  size_t max_connections = 16;  // of the client, at least 1; also the most requests in flight
  int max_attempts = 6;         // of one request, at least 1
  // The delay before the second attempt is random, up to this long. The longest delay doubles with
  // each attempt, up to 20 seconds.
  std::chrono::milliseconds retry_delay{200};
  std::chrono::milliseconds connect_timeout{10'000};
  // A request fails if it has no progress for this long.
  std::chrono::milliseconds stall_timeout{30'000};
  // Ranges of one call are read in one request if at most this many bytes are between them.
  uint64_t merge_gap_bytes = 128 << 10;
  // A directory for pieces of objects that were read, so that the next read needs no request. ""
  // means no cache. Several processes of one user may share the directory; see Cache above.
  std::string cache_directory;
  // The cache keeps at most this many bytes. Each process may exceed this by a sixteenth.
  uint64_t max_cache_bytes = uint64_t{10} << 30;
  // A file with the certificates of trusted authorities (PEM). Empty: those of the system.
  std::string certificate_file;
  S3Options s3;
};

// What a client has done. Attempts count as requests.
struct HttpCounters {
  uint64_t requests = 0;
  uint64_t retries = 0;
  uint64_t bytes_received = 0;  // of bodies
  uint64_t bytes_sent = 0;      // of bodies
  uint64_t connections = 0;     // that were opened
};

// Connections to servers. Thread-safe, and a plain handle: copies share the connections. Sources,
// sinks and storages keep the connections open as long as they exist.
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

  // Begins an object at an s3:// URL. It becomes visible with Finish, and replaces an object that
  // is there. Objects of more than one part are uploaded part by part; if Finish was not called, the
  // destructor aborts the upload. Memory: one part.
  absl::StatusOr<std::unique_ptr<Sink>> CreateUrl(std::string_view url) const;

  // The objects of the table at an s3:// URL, for TableReader, TableWriter and the functions that
  // change tables. Commit needs a server that compares versions (If-Match and If-None-Match of PUT).
  absl::StatusOr<std::shared_ptr<Storage>> OpenTable(std::string_view url) const;

  HttpCounters counters() const;

 private:
  class CFILE_HIDDEN Impl;
  explicit HttpClient(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

// True if `text` begins with http://, https:// or s3://, so that it is a URL for HttpClient.
CFILE_EXPORT bool IsHttpUrl(std::string_view text);

// The URL for messages: without user, password, query and fragment.
CFILE_EXPORT std::string RedactedUrl(std::string_view url);

}  // namespace cfile
