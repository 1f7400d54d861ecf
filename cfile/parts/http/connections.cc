#include "cfile/parts/http/connections.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <pugixml.hpp>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cfile/parts/http/transfer.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestDelay{20'000};

bool IsReadable(const char* path) { return path != nullptr && access(path, R_OK) == 0; }

// Returns the file with the certificates of trusted authorities: `chosen`, or SSL_CERT_FILE of the
// environment, or the file of the system. "" means the place that libcurl was built with.
std::string CertificateFile(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const char* const environment = std::getenv("SSL_CERT_FILE");
  if (environment != nullptr && *environment != '\0') return environment;
  // A binary package may run on another system than that for which its libcurl was built.
  const curl_version_info_data* const version = curl_version_info(CURLVERSION_NOW);
  if (IsReadable(version->cainfo) || IsReadable(version->capath)) return "";
  for (const char* path : {
           "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
           "/etc/ssl/ca-bundle.pem",              // SUSE
           "/etc/ssl/cert.pem",                   // Alpine
       }) {
    if (IsReadable(path)) return path;
  }
  return "";
}

HttpOptions Completed(HttpOptions options) {
  options.certificate_file = CertificateFile(options.certificate_file);
  return options;
}

}  // namespace

PendingResponse::PendingResponse(TransferThread& thread, HttpRequest request,
                                 const HttpOptions& options, bool urgent)
    : thread_(thread),
      transfer_(std::make_unique<Transfer>(std::move(request), options)),
      interrupted_(options.interrupted) {
  thread_.Begin(*transfer_, urgent);
}

PendingResponse::~PendingResponse() {
  // In the child of a fork, libcurl could close a connection that belongs to the parent.
  if (!thread_.Cancel(*transfer_)) (void)transfer_.release();
}

HttpResponse PendingResponse::Wait() { return thread_.Wait(*transfer_, interrupted_); }

Connections::Connections(const HttpOptions& options) : options_(Completed(options)) {}

Connections::~Connections() {
  if (thread_ != nullptr && !thread_->is_of_this_process()) (void)thread_.release();
}

TransferThread& Connections::thread() {
  const std::lock_guard lock(mutex_);
  // After a fork, the connections belong to the parent. Closing them here would disturb it.
  if (thread_ != nullptr && !thread_->is_of_this_process()) (void)thread_.release();
  if (thread_ == nullptr)
    thread_ = std::make_unique<TransferThread>(options_.max_connections, &counts_);
  return *thread_;
}

std::vector<HttpResponse> Connections::Send(std::span<const HttpRequest> requests,
                                            const PrepareRequest& prepare, bool repeatable) {
  TransferThread& sender = thread();
  std::vector<HttpResponse> responses(requests.size());
  std::vector<size_t> open(requests.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  for (int attempt = 1; !open.empty(); ++attempt) {
    std::deque<PendingResponse> pending;
    for (const size_t i : open) {
      HttpRequest request = requests[i];
      request.repeatable = repeatable;
      if (prepare) prepare(request);
      pending.emplace_back(sender, std::move(request), options_, /*urgent=*/true);
    }
    absl::Status interrupt;
    for (size_t i = 0; i < open.size(); ++i) {
      HttpResponse& response = responses[open[i]];
      response = interrupt.ok() ? pending[i].Wait()
                                : HttpResponse{.transport = interrupt, .interrupted = true};
      if (response.interrupted) interrupt = response.transport;
    }
    if (!interrupt.ok()) break;
    std::erase_if(open, [&](size_t i) { return !MayPass(responses[i]); });
    if (open.empty() || !repeatable || attempt >= options_.max_attempts) break;
    counts_.retries += open.size();
    if (absl::Status status = WaitBefore(attempt + 1); !status.ok()) {
      for (const size_t i : open) responses[i] = {.transport = status, .interrupted = true};
      break;
    }
  }
  return responses;
}

std::unique_ptr<PendingResponse> Connections::Begin(HttpRequest request,
                                                    const PrepareRequest& prepare) {
  if (prepare) prepare(request);
  return std::make_unique<PendingResponse>(thread(), std::move(request), options_,
                                           /*urgent=*/false);
}

absl::Status Connections::WaitBefore(int attempt) const {
  milliseconds longest = options_.retry_delay;
  for (int i = 2; i < attempt && longest < kLongestDelay; ++i) longest *= 2;
  longest = std::min(longest, std::max(options_.retry_delay, kLongestDelay));
  thread_local std::minstd_rand random(std::random_device{}());
  milliseconds left(std::uniform_int_distribution<milliseconds::rep>(0, longest.count())(random));
  for (; left.count() > 0; left -= kInterruptInterval) {
    std::this_thread::sleep_for(std::min(left, kInterruptInterval));
    if (options_.interrupted) CFILE_RETURN_IF_ERROR(options_.interrupted());
  }
  return absl::OkStatus();
}

bool MayPass(const HttpResponse& response) {
  if (!response.transport.ok()) return !response.too_large && !response.interrupted;
  switch (response.status) {
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return false;
  }
}

absl::Status HttpError(const std::string& name, const HttpResponse& response) {
  std::string message = name;
  if (!response.transport.ok()) {
    absl::StrAppend(&message, ": ", response.transport.message());
    return {response.interrupted ? response.transport.code() : absl::StatusCode::kUnavailable,
            message};
  }
  absl::StrAppend(&message, ": the server answered ", response.status);
  // Servers of S3 explain an error in XML.
  pugi::xml_document document;
  if (document.load_buffer(response.body.data(), response.body.size())) {
    const pugi::xml_node error = document.child("Error");
    const std::string_view code = error.child_value("Code"), text = error.child_value("Message");
    if (!code.empty()) absl::StrAppend(&message, " ", Printable(code));
    if (!text.empty()) absl::StrAppend(&message, " (", Printable(text), ")");
  }
  if (const std::string& id = response.Header("x-amz-request-id"); !id.empty()) {
    absl::StrAppend(&message, ", request id ", Printable(id));
  }
  switch (response.status) {
    case 401:
    case 403:
      return absl::PermissionDeniedError(message);
    case 404:
    case 410:
      return absl::NotFoundError(message);
    case 409:
    case 412:
      return absl::AbortedError(message);
    default:
      return MayPass(response) ? absl::UnavailableError(message)
                               : absl::FailedPreconditionError(message);
  }
}

}  // namespace cfile::internal
