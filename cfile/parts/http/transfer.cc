#include "cfile/parts/http/transfer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "encodings/core/assert.h"

namespace cfile::internal {
namespace {

constexpr uint64_t kMaxErrorBodyBytes = 64 << 10;
constexpr size_t kMaxHeaderBytes = 64 << 10;
constexpr uint64_t kLeastBytesPerSecond = 4 << 10;
constexpr int kStallsOfPost = 20;  // S3 sends spaces for minutes while it puts an upload together

// The deadline of a request: a server that sends a byte now and then does not stall.
std::chrono::milliseconds LongestTime(const HttpRequest& request, const HttpOptions& options) {
  const uint64_t response = request.out.empty() ? request.max_body_bytes : request.out.size();
  const uint64_t seconds = (request.body.size() + response) / kLeastBytesPerSecond;
  return options.connect_timeout + std::chrono::seconds(seconds) +
         options.stall_timeout * (request.method == "POST" ? kStallsOfPost : 1);
}

bool IsSuccess(int status) { return status >= 200 && status < 300; }

// Calls take(), which may throw. An exception must not pass through libcurl.
template <typename Take>
size_t Taken(size_t size, const Take& take) {
  try {
    return take() ? size : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

void InitializeCurl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)done;
}

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

Transfer::Transfer(HttpRequest request, const HttpOptions& options) : request_(std::move(request)) {
  InitializeCurl();
  easy_.reset(curl_easy_init());
  if (easy_ == nullptr) throw std::bad_alloc();
  Configure(options);
}

Transfer& Transfer::Of(CURL* easy) {
  void* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return *static_cast<Transfer*>(transfer);
}

uint64_t Transfer::opened_connections() const {
  long opened = 0;
  curl_easy_getinfo(easy(), CURLINFO_NUM_CONNECTS, &opened);
  return static_cast<uint64_t>(opened);
}

int Transfer::Status() const {
  long status = 0;
  curl_easy_getinfo(easy(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

void Transfer::Finish(CURLcode code) {
  response_.status = Status();
  if (response_.too_large) {
    response_.transport = absl::UnavailableError("the response is longer than expected");
  } else if (code == CURLE_OK && response_.status == 206 && !request_.out.empty() &&
             response_.body_bytes < request_.out.size()) {
    response_.transport = absl::UnavailableError(absl::StrCat(
        "the response has ", response_.body_bytes, " bytes instead of ", request_.out.size()));
  } else if (code != CURLE_OK) {
    const char* text = error_[0] != 0 ? error_.data() : curl_easy_strerror(code);
    // If a transfer is too slow, libcurl's text does not say that a time limit was exceeded.
    const char* cause = code == CURLE_OPERATION_TIMEDOUT ? "timed out: " : "";
    response_.transport = absl::UnavailableError(absl::StrCat(cause, Printable(text)));
  }
}

// A redirect begins a new response.
bool Transfer::TakeHeader(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMaxHeaderBytes) return false;
  while (!line.empty() && absl::ascii_isspace(static_cast<unsigned char>(line.back())))
    line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    response_.headers.clear();
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  std::string name(line.substr(0, colon));
  absl::AsciiStrToLower(&name);
  const std::string_view value = line.substr(colon + 1);
  response_.headers[std::move(name)] =
      value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
  return true;
}

bool Transfer::TakeBody(const char* data, size_t size) {
  const bool wanted = IsSuccess(Status());
  const std::span<uint8_t> out = request_.out;
  if (wanted && !out.empty()) {
    response_.too_large = size > out.size() - response_.body_bytes;
    if (response_.too_large) return false;
    std::memcpy(out.data() + response_.body_bytes, data, size);
  } else {
    const uint64_t most = wanted ? request_.max_body_bytes : kMaxErrorBodyBytes;
    response_.too_large = size > most - std::min<uint64_t>(most, response_.body.size());
    if (response_.too_large) return false;
    if (response_.body.empty()) {
      curl_off_t expected = 0;  // -1: the server does not say
      curl_easy_getinfo(easy(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
      const auto length = static_cast<uint64_t>(std::max<curl_off_t>(expected, 0));
      response_.body.reserve(std::min(length, most));
    }
    response_.body.append(data, size);
  }
  response_.body_bytes += size;
  return true;
}

size_t Transfer::OnHeader(char* data, size_t, size_t size, void* self) {
  return Taken(size, [&] { return static_cast<Transfer*>(self)->TakeHeader({data, size}); });
}

size_t Transfer::OnBody(char* data, size_t, size_t size, void* self) {
  return Taken(size, [&] { return static_cast<Transfer*>(self)->TakeBody(data, size); });
}

size_t Transfer::GiveBody(char* data, size_t, size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const auto rest = transfer.request_.body.subspan(transfer.sent_bytes_);
  const size_t given = std::min(size, rest.size());
  if (given > 0) std::memcpy(data, rest.data(), given);
  transfer.sent_bytes_ += given;
  return given;
}

int Transfer::SeekBody(void* self, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(self);
  // If a connection ends without a response, libcurl silently sends the request again, although the
  // first one may have had an effect.
  if (!transfer.request_.repeatable) return CURL_SEEKFUNC_FAIL;
  if (origin != SEEK_SET || offset < 0 ||
      static_cast<uint64_t>(offset) > transfer.request_.body.size())
    return CURL_SEEKFUNC_FAIL;
  transfer.sent_bytes_ = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

void Transfer::AddHeader(const std::string& line) {
  curl_slist* longer = curl_slist_append(headers_.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)headers_.release();
  headers_.reset(longer);
}

void Transfer::Configure(const HttpOptions& options) {
  const HttpRequest& request = request_;
  const auto set = [easy = easy()](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    CFILE_ASSERT(code == CURLE_OK);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);  // a signature is of the path as it is
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(LongestTime(request, options).count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME,
      std::max(1L, static_cast<long>(options.stall_timeout.count() / 1000)));
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_USERAGENT, "cfile/" CFILE_VERSION);
  if (!options.certificate_file.empty()) set(CURLOPT_CAINFO, options.certificate_file.c_str());
  const bool secure = request.url.starts_with("https:");
  set(CURLOPT_PROTOCOLS_STR, secure ? "https" : "http");
  set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  set(CURLOPT_FOLLOWLOCATION, request.follow_redirects ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, 5L);
  if (request.method == "HEAD") set(CURLOPT_NOBODY, 1L);
  if (request.method == "POST" || request.method == "DELETE")
    set(CURLOPT_CUSTOMREQUEST, std::string(request.method).c_str());
  if (request.method == "PUT" || request.method == "POST") {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &Transfer::GiveBody);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    set(CURLOPT_SEEKFUNCTION, &Transfer::SeekBody);
    set(CURLOPT_SEEKDATA, static_cast<void*>(this));
    AddHeader("Expect:");  // sends the body without waiting for "100 Continue"
  }
  for (const auto& [name, value] : request.headers) {
    AddHeader(value.empty() ? absl::StrCat(name, ";") : absl::StrCat(name, ": ", value));
  }
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
}

}  // namespace cfile::internal
