// HTTP requests with libcurl: several at the same time, over connections that are kept open.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cfile/http_options.h"

namespace cfile::internal {

struct HttpRequest {
  enum class Method : uint8_t { kGet, kHead, kPut, kPost, kDelete };

  Method method = Method::kGet;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::span<const uint8_t> body;                             // memory of the caller
  bool follow_redirects = false;
  // Where the body of a response with status 206 or 200 goes. If `out` is empty, the body is
  // HttpResponse::body, which has at most `max_body_bytes` bytes. A longer body is an error.
  std::span<uint8_t> out;
  uint64_t max_body_bytes = 1 << 20;
};

struct HttpResponse {
  absl::Status transport;  // not OK: there is no response
  bool too_large = false;  // the transport error is a body that is too long
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;         // also of responses with an error
  uint64_t body_bytes = 0;  // that were received

  // True if the server did what was asked for.
  bool ok() const { return transport.ok() && status >= 200 && status < 300; }
  // The value of a header; "" if there is none.
  const std::string& Header(const std::string& name) const;
};

// Adds what only the next attempt can know to a request, such as the time and the signature.
using PrepareRequest = std::function<void(HttpRequest&)>;

// Thread-safe.
class Connections {
 public:
  explicit Connections(const HttpOptions& options);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Sends all requests, several at the same time, and waits for all responses. A request whose
  // failure may pass is sent again (see cfile/http.h) unless `repeatable` is false. `prepare` may
  // be empty; it is called before each attempt with a copy of the request.
  std::vector<HttpResponse> Send(std::span<const HttpRequest> requests,
                                 const PrepareRequest& prepare, bool repeatable = true);
  HttpResponse Send(const HttpRequest& request, const PrepareRequest& prepare,
                    bool repeatable = true);

  // Waits before attempt number `attempt`, which is at least 2, for a random time. So clients that
  // failed together do not come back together.
  void WaitBefore(int attempt) const;

  const HttpOptions& options() const { return options_; }
  HttpCounters counters() const;

 private:
  struct Transfer;
  struct CloseMulti {
    void operator()(void* multi) const;
  };
  using Multi = std::unique_ptr<void, CloseMulti>;  // a handle of libcurl with open connections

  // Sends each request once.
  void SendOnce(std::span<Transfer*> transfers);
  void Configure(Transfer& transfer);
  Multi TakeMulti();

  const HttpOptions options_;
  std::mutex mutex_;  // guards the following
  std::vector<Multi> idle_;
  pid_t process_;  // that opened the connections of idle_
  // The number of requests that may still begin; waits if it is 0.
  class Slots;
  const std::unique_ptr<Slots> slots_;
  std::atomic<uint64_t> requests_ = 0;
  std::atomic<uint64_t> retries_ = 0;
  std::atomic<uint64_t> bytes_received_ = 0;
  std::atomic<uint64_t> bytes_sent_ = 0;
  std::atomic<uint64_t> connections_ = 0;
};

// True if the same request may succeed later: there was no response, or one with the status 429,
// 500, 502, 503 or 504.
bool MayPass(const HttpResponse& response);

// The error for a response that is not a success, or for a failed transport. The message has `name`
// (a redacted URL), the status, the code in an XML body, and the request id.
absl::Status HttpError(const std::string& name, const HttpResponse& response);

// The first 200 bytes of a text of a server, for messages: '?' stands for what is not printable.
std::string Printable(std::string_view text);

}  // namespace cfile::internal
