// Options of cfile/http.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace cfile {

// How s3:// URLs are reached. If a text is empty, its value is taken from the environment or from a
// file, as in other programs. The first of these that is set counts:
//
//   access_key_id, secret_access_key, session_token
//              AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; without them,
//              the profile AWS_PROFILE (or "default") of AWS_SHARED_CREDENTIALS_FILE
//              (~/.aws/credentials), or of AWS_CONFIG_FILE. Files that change are read again.
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
  size_t max_connections = 16;  // of the client, 1 to 1024; also the most requests in flight
  int max_attempts = 6;         // of one request, at least 1
  // The delay before the second attempt is random, up to this long. The longest delay doubles with
  // each attempt, up to 20 seconds.
  std::chrono::milliseconds retry_delay{200};
  std::chrono::milliseconds connect_timeout{10'000};
  // A request fails if it has no progress for this long, or if it takes much longer than this and a
  // second for each 4 KiB.
  std::chrono::milliseconds stall_timeout{30'000};
  // Ranges of one call are read in one request if at most this many bytes are between them.
  uint64_t merge_gap_bytes = 128 << 10;
  // A directory for pieces of objects that were read, so that the next read needs no request. If it
  // is empty, there is no cache. Missing directories of the path are made with the mode 0700.
  // An existing directory must be a cache or empty: other files in it are never removed.
  // Several processes of one user may share the directory; see Cache in cfile/http.h.
  std::string cache_directory;
  // The cache keeps at most this many bytes. Each process may exceed this by a sixteenth.
  uint64_t max_cache_bytes = uint64_t{10} << 30;
  // A file with the certificates of trusted authorities (PEM). If it is empty, the file is
  // SSL_CERT_FILE of the environment, or the file of the system.
  std::string certificate_file;
  // If it is set, threads that wait for a server call it about five times a second, for example to
  // let a user end the program. If it returns an error, the call of the library returns the error.
  std::function<absl::Status()> interrupted;
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

}  // namespace cfile
