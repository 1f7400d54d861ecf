#include "cfile/internal/http/connections.h"

#include <curl/curl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <pugixml.hpp>
#include <random>
#include <string_view>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "encodings/core/bytes.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kMaxErrorBodyBytes = 64 << 10;
constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr milliseconds kLongestDelay{20'000};
// Each thread that waits for responses has a handle of libcurl. This many are kept for reuse, each
// with at most max_connections open connections.
constexpr size_t kMaxIdleMultis = 4;

// libcurl wants one initialization for the whole process, and it is never undone.
void InitializeCurl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)done;
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

std::string Printable(std::string_view text) {
  std::string shown(text.substr(0, 200));
  for (char& c : shown) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return shown;
}

const std::string& HttpResponse::Header(const std::string& name) const {
  static const std::string none;
  const auto found = headers.find(name);
  return found == headers.end() ? none : found->second;
}

// Limits the requests in flight of all threads.
class Connections::Slots {
 public:
  explicit Slots(size_t free) : free_(free) {}

  // Takes up to `most` slots, and waits until there is at least one if `wait` is set.
  size_t Take(size_t most, bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, [&] { return free_ > 0; });
    const size_t taken = std::min(most, free_);
    free_ -= taken;
    return taken;
  }

  void Return() {
    const std::lock_guard lock(mutex_);
    ++free_;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t free_;
};

// One request and what libcurl needs for it.
struct Connections::Transfer {
  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  HttpRequest request;
  HttpResponse response;
  std::unique_ptr<CURL, FreeEasy> easy;
  std::unique_ptr<curl_slist, FreeList> headers;
  size_t header_bytes = 0;
  size_t sent_bytes = 0;
  bool refused = false;  // the response has more bytes than may be kept
  std::array<char, CURL_ERROR_SIZE> error = {};

  void Header(const std::string& line) {
    curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    (void)headers.release();
    headers.reset(longer);
  }

  int Status() const {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  // Called by libcurl for each header line. A redirect begins a new response.
  static size_t TakeHeader(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    std::string_view line(data, size);
    while (!line.empty() && absl::ascii_isspace(static_cast<unsigned char>(line.back())))
      line.remove_suffix(1);
    transfer.header_bytes += size;
    if (transfer.header_bytes > kMaxHeaderBytes) return 0;
    if (line.starts_with("HTTP/")) {
      transfer.response.headers.clear();
      return size;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string name(line.substr(0, colon));
    absl::AsciiStrToLower(&name);
    const std::string_view value = line.substr(colon + 1);
    transfer.response.headers[std::move(name)] = value.substr(std::min(
        value.find_first_not_of(" \t"), value.size()));
    return size;
  }

  static size_t TakeBody(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    HttpResponse& response = transfer.response;
    const bool wanted = IsSuccess(transfer.Status());
    const std::span<uint8_t> out = transfer.request.out;
    if (wanted && !out.empty()) {
      if (size > out.size() - response.body_bytes) {
        transfer.refused = true;
        return 0;
      }
      std::memcpy(out.data() + response.body_bytes, data, size);
    } else {
      const uint64_t most = wanted ? transfer.request.max_body_bytes : kMaxErrorBodyBytes;
      if (size > most - std::min<uint64_t>(most, response.body.size())) {
        transfer.refused = true;
        return 0;
      }
      response.body.append(data, size);
    }
    response.body_bytes += size;
    return size;
  }

  static size_t GiveBody(char* data, size_t, size_t size, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    const auto rest = transfer.request.body.subspan(transfer.sent_bytes);
    const size_t given = std::min(size, rest.size());
    if (given > 0) std::memcpy(data, rest.data(), given);
    transfer.sent_bytes += given;
    return given;
  }

  // libcurl goes back to the start of the body if a kept connection turns out to be closed.
  static int SeekBody(void* self, curl_off_t offset, int origin) {
    auto& transfer = *static_cast<Transfer*>(self);
    if (origin != SEEK_SET || offset < 0 ||
        static_cast<uint64_t>(offset) > transfer.request.body.size())
      return CURL_SEEKFUNC_FAIL;
    transfer.sent_bytes = static_cast<size_t>(offset);
    return CURL_SEEKFUNC_OK;
  }
};

void Connections::CloseMulti::operator()(void* multi) const { curl_multi_cleanup(multi); }

Connections::Connections(const HttpOptions& options)
    : options_(options), process_(getpid()), slots_(std::make_unique<Slots>(options.max_connections)) {
  InitializeCurl();
}

Connections::~Connections() = default;

HttpCounters Connections::counters() const {
  return {.requests = requests_,
          .retries = retries_,
          .bytes_received = bytes_received_,
          .bytes_sent = bytes_sent_,
          .connections = connections_};
}

Connections::Multi Connections::TakeMulti() {
  {
    const std::lock_guard lock(mutex_);
    // After a fork, the connections belong to the parent. Closing them here would disturb it.
    if (process_ != getpid()) {
      for (Multi& multi : idle_) (void)multi.release();
      idle_.clear();
      process_ = getpid();
    }
    if (!idle_.empty()) {
      Multi multi = std::move(idle_.back());
      idle_.pop_back();
      return multi;
    }
  }
  Multi multi(curl_multi_init());
  if (multi == nullptr) throw std::bad_alloc();
  const auto most = static_cast<long>(options_.max_connections);
  curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, most);
  return multi;
}

void Connections::Configure(Transfer& transfer) {
  transfer.easy.reset(curl_easy_init());
  if (transfer.easy == nullptr) throw std::bad_alloc();
  CURL* const easy = transfer.easy.get();
  const HttpRequest& request = transfer.request;
  const auto set = [easy](CURLoption option, auto value) {
    [[maybe_unused]] const CURLcode code = curl_easy_setopt(easy, option, value);
    assert(code == CURLE_OK);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);  // a signature is of the path as it is
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME,
      std::max(1L, static_cast<long>(options_.stall_timeout.count() / 1000)));
  set(CURLOPT_ERRORBUFFER, transfer.error.data());
  set(CURLOPT_USERAGENT, "cfile/" CFILE_VERSION);
  if (!options_.certificate_file.empty()) set(CURLOPT_CAINFO, options_.certificate_file.c_str());
  const bool secure = request.url.starts_with("https:");
  set(CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
  set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, 5L);
  switch (request.method) {
    case HttpRequest::Method::kGet: break;
    case HttpRequest::Method::kHead: set(CURLOPT_NOBODY, 1L); break;
    case HttpRequest::Method::kPut: set(CURLOPT_UPLOAD, 1L); break;
    case HttpRequest::Method::kPost:
      set(CURLOPT_UPLOAD, 1L);
      set(CURLOPT_CUSTOMREQUEST, "POST");
      break;
    case HttpRequest::Method::kDelete: set(CURLOPT_CUSTOMREQUEST, "DELETE"); break;
  }
  if (request.method == HttpRequest::Method::kPut || request.method == HttpRequest::Method::kPost) {
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &Transfer::GiveBody);
    set(CURLOPT_READDATA, static_cast<void*>(&transfer));
    set(CURLOPT_SEEKFUNCTION, &Transfer::SeekBody);
    set(CURLOPT_SEEKDATA, static_cast<void*>(&transfer));
    transfer.Header("Expect:");  // sends the body without waiting for "100 Continue"
  }
  for (const auto& [name, value] : request.headers) {
    transfer.Header(value.empty() ? absl::StrCat(name, ";") : absl::StrCat(name, ": ", value));
  }
  set(CURLOPT_HTTPHEADER, transfer.headers.get());
  set(CURLOPT_HEADERFUNCTION, &Transfer::TakeHeader);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &Transfer::TakeBody);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_PRIVATE, static_cast<void*>(&transfer));
}

void Connections::SendOnce(std::span<Transfer*> transfers) {
  Multi multi = TakeMulti();
  size_t begun = 0, running = 0;
  const auto finish = [&](Transfer& transfer, CURLcode code) {
    HttpResponse& response = transfer.response;
    response.status = transfer.Status();
    long opened = 0;
    curl_easy_getinfo(transfer.easy.get(), CURLINFO_NUM_CONNECTS, &opened);
    connections_ += static_cast<uint64_t>(opened);
    bytes_received_ += response.body_bytes;
    bytes_sent_ += transfer.sent_bytes;
    if (transfer.refused) {
      response.too_large = true;
      response.transport = absl::UnavailableError("the response is longer than expected");
    } else if (code == CURLE_OK && response.status == 206 && !transfer.request.out.empty() &&
               response.body_bytes < transfer.request.out.size()) {
      response.transport = absl::UnavailableError(
          absl::StrCat("the response has ", response.body_bytes, " bytes instead of ",
                       transfer.request.out.size()));
    } else if (code != CURLE_OK) {
      const char* text = transfer.error[0] != 0 ? transfer.error.data() : curl_easy_strerror(code);
      response.transport = absl::UnavailableError(Printable(text));
    }
    curl_multi_remove_handle(multi.get(), transfer.easy.get());
    slots_->Return();
    --running;
  };
  while (begun < transfers.size() || running > 0) {
    if (begun < transfers.size()) {
      const size_t taken = slots_->Take(transfers.size() - begun, /*wait=*/running == 0);
      for (size_t i = 0; i < taken; ++i, ++begun, ++running) {
        Transfer& transfer = *transfers[begun];
        ++requests_;
        Configure(transfer);
        curl_multi_add_handle(multi.get(), transfer.easy.get());
      }
    }
    int still_running = 0, left = 0;
    curl_multi_perform(multi.get(), &still_running);
    bool finished = false;
    while (CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      finish(*static_cast<Transfer*>(transfer), message->data.result);
      finished = true;
    }
    // Waits at most a short time if other threads may free a slot.
    if (!finished && running > 0) {
      curl_multi_poll(multi.get(), nullptr, 0, begun < transfers.size() ? 5 : 1000, nullptr);
    }
  }
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdleMultis) idle_.push_back(std::move(multi));
}

std::vector<HttpResponse> Connections::Send(std::span<const HttpRequest> requests,
                                            const PrepareRequest& prepare, bool repeatable) {
  std::vector<Transfer> transfers(requests.size());
  std::vector<Transfer*> open;
  for (Transfer& transfer : transfers) open.push_back(&transfer);
  for (int attempt = 1; !open.empty(); ++attempt) {
    for (Transfer* transfer : open) {
      const HttpRequest& request = requests[static_cast<size_t>(transfer - transfers.data())];
      *transfer = Transfer();
      transfer->request = request;
      if (prepare) prepare(transfer->request);
    }
    SendOnce(open);
    std::erase_if(open, [](const Transfer* transfer) { return !MayPass(transfer->response); });
    if (!repeatable || attempt >= options_.max_attempts) break;
    if (open.empty()) break;
    retries_ += open.size();
    WaitBefore(attempt + 1);
  }
  std::vector<HttpResponse> responses;
  for (Transfer& transfer : transfers) responses.push_back(std::move(transfer.response));
  return responses;
}

void Connections::WaitBefore(int attempt) const {
  milliseconds longest = options_.retry_delay;
  for (int i = 2; i < attempt && longest < kLongestDelay; ++i) longest *= 2;
  longest = std::min(longest, std::max(options_.retry_delay, kLongestDelay));
  thread_local std::minstd_rand random(std::random_device{}());
  std::this_thread::sleep_for(
      milliseconds(std::uniform_int_distribution<milliseconds::rep>(0, longest.count())(random)));
}

HttpResponse Connections::Send(const HttpRequest& request, const PrepareRequest& prepare,
                               bool repeatable) {
  return std::move(Send(std::span(&request, 1), prepare, repeatable).front());
}

bool MayPass(const HttpResponse& response) {
  if (!response.transport.ok()) return !response.too_large;
  switch (response.status) {
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return false;
  }
}

absl::Status HttpError(const std::string& name, const HttpResponse& response) {
  std::string message = name;
  if (!response.transport.ok()) {
    absl::StrAppend(&message, ": ", response.transport.message());
    return absl::UnavailableError(message);
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
    case 403: return absl::PermissionDeniedError(message);
    case 404:
    case 410: return absl::NotFoundError(message);
    case 409:
    case 412: return absl::AbortedError(message);
    default:
      return MayPass(response) ? absl::UnavailableError(message)
                               : absl::FailedPreconditionError(message);
  }
}

}  // namespace cfile::internal
