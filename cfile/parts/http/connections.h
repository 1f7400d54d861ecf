// HTTP requests over connections that are kept open, and repeated if they fail.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cfile/http_options.h"
#include "cfile/parts/http/http_message.h"
#include "cfile/parts/http/transfer_thread.h"

namespace cfile::internal {

// Called before each attempt to send a request. Adds what depends on the time of the attempt, such
// as the signature.
using PrepareRequest = std::function<void(HttpRequest&)>;

// A request that was begun. Used by one thread at a time. The Connections must outlive it.
class PendingResponse {
 public:
  PendingResponse(TransferThread& thread, HttpRequest request, const HttpOptions& options,
                  bool urgent);
  // Ends the request. Nothing writes to HttpRequest::out afterwards.
  ~PendingResponse();
  PendingResponse(const PendingResponse&) = delete;
  PendingResponse& operator=(const PendingResponse&) = delete;

  // Waits for the end of the request. Called at most once.
  HttpResponse Wait();

 private:
  TransferThread& thread_;
  std::unique_ptr<Transfer> transfer_;
  const std::function<absl::Status()>& interrupted_;
};

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

  // Begins a request, which is sent after those of Send and is not repeated, and returns at once.
  std::unique_ptr<PendingResponse> Begin(HttpRequest request, const PrepareRequest& prepare);

  // Waits before attempt number `attempt`, which is at least 2, for a random time, so that clients
  // that failed at the same time do not repeat their requests at the same time. Returns the error
  // of HttpOptions::interrupted.
  absl::Status WaitBefore(int attempt) const;

  const HttpOptions& options() const { return options_; }
  HttpCounters counters() const { return counts_.Get(); }

 private:
  // The thread of this process: a thread does not survive a fork.
  TransferThread& thread();

  const HttpOptions options_;
  TransferCounts counts_;
  std::mutex mutex_;  // guards the following
  std::unique_ptr<TransferThread> thread_;
};

// True if the same request may succeed later: there was no response, or one with the status 429,
// 500, 502, 503 or 504.
bool MayPass(const HttpResponse& response);

// The error for a response that is not a success, or for a failed transport. The message has `name`
// (a redacted URL), the status, the code in an XML body, and the request id.
absl::Status HttpError(const std::string& name, const HttpResponse& response);

}  // namespace cfile::internal
