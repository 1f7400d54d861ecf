// A request to an HTTP server, and its response.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace cfile::internal {

struct HttpRequest {
  std::string_view method = "GET";  // or HEAD, PUT, POST, DELETE
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::span<const uint8_t> body;                             // memory of the caller
  bool follow_redirects = false;
  bool repeatable = true;  // false: the body must not be sent twice
  // The body of a response with status 206 or 200 is written here. If `out` is empty, the body, of
  // at most `max_body_bytes` bytes, goes to HttpResponse::body; a longer body is an error.
  std::span<uint8_t> out;
  uint64_t max_body_bytes = 1 << 20;
};

struct HttpResponse {
  absl::Status transport;    // not OK: there is no response
  bool too_large = false;    // the transport error is a body that is too long
  bool interrupted = false;  // the transport error is that of HttpOptions::interrupted
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // also of responses with an error
  uint64_t body_bytes = 0;                     // that were received

  // True if the server did what was asked for.
  bool ok() const { return transport.ok() && status >= 200 && status < 300; }
  // The value of a header; "" if there is none.
  const std::string& Header(const std::string& name) const;
};

// Returns the first 200 bytes of a text of a server, for messages. Bytes that are not printable
// become '?'.
std::string Printable(std::string_view text);

}  // namespace cfile::internal
