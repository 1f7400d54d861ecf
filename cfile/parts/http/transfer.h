// One attempt to send a request with libcurl.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cfile/http_options.h"
#include "cfile/parts/http/http_message.h"

namespace cfile::internal {

// Initializes libcurl, once for the whole process, and never ends this use of libcurl. Must be
// called before other functions of libcurl.
void InitializeCurl();

// Only one thread uses it at a time: the thread that made it, or a TransferThread from Begin to the
// end of Wait or Cancel.
class Transfer {
 public:
  Transfer(HttpRequest request, const HttpOptions& options);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_.get(); }
  // The transfer that has this handle.
  static Transfer& Of(CURL* easy);

  // Completes the response after libcurl has ended with `code`.
  void Finish(CURLcode code);
  // Ends the response without a message, for which there is no memory.
  void FailWithoutMemory() {
    response_.transport = absl::Status(absl::StatusCode::kUnavailable, "");
  }
  HttpResponse TakeResponse() { return std::move(response_); }

  uint64_t received_bytes() const { return response_.body_bytes; }
  uint64_t sent_bytes() const { return sent_bytes_; }
  uint64_t opened_connections() const;

  // Used by TransferThread, which guards them.
  bool cancelled = false;
  bool ended = false;

 private:
  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  int Status() const;
  void AddHeader(const std::string& line);
  void Configure(const HttpOptions& options);
  // Return false if the response is not what was asked for. May throw std::bad_alloc.
  bool TakeHeader(std::string_view line);
  bool TakeBody(const char* data, size_t size);

  // Called by libcurl for each header line, for each piece of the body, when it needs a piece of
  // the request's body, and when it goes back in this body because a kept connection was closed.
  static size_t OnHeader(char* data, size_t, size_t size, void* self);
  static size_t OnBody(char* data, size_t, size_t size, void* self);
  static size_t GiveBody(char* data, size_t, size_t size, void* self);
  static int SeekBody(void* self, curl_off_t offset, int origin);

  const HttpRequest request_;
  HttpResponse response_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  size_t header_bytes_ = 0;
  size_t sent_bytes_ = 0;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
};

}  // namespace cfile::internal
