#include "cfile/parts/http/http_source.h"

#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

class WholeSource final : public Source {
 public:
  WholeSource(std::shared_ptr<const HttpServer> server, NamedUrl object, uint64_t size_bytes)
      : server_(std::move(server)), object_(std::move(object)), size_bytes_(size_bytes) {
    HttpRequest request =
        RangeRequest(*server_, object_.url, encodings::StrCat("bytes=0-", size_bytes - 1));
    request.max_body_bytes = size_bytes;
    response_ = server_->Begin(std::move(request));
  }

  const std::string& name() const override { return object_.name; }
  uint64_t size() const override { return size_bytes_; }
  std::string identity() const override {
    const auto source = Opened();
    return source.ok() ? (*source)->identity() : "";
  }

  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    CFILE_ASSIGN_OR_RETURN(const auto source, Opened());
    return source->ReadAt(offset, out);
  }
  void ReadMany(std::span<ReadRequest> requests) const override {
    const auto source = Opened();
    if (source.ok()) return (*source)->ReadMany(requests);
    for (ReadRequest& request : requests) request.status = source.status();
  }
  bool Forget(uint64_t offset, uint64_t size) const override {
    const auto source = Opened();
    return source.ok() && (*source)->Forget(offset, size);
  }

 private:
  // Waits for the response, and returns the source that was made of it. An error is not kept: the
  // next call opens the object again.
  absl::StatusOr<std::shared_ptr<const Source>> Opened() const {
    const std::lock_guard lock(mutex_);
    if (source_ != nullptr) return source_;
    CFILE_ASSIGN_OR_RETURN(auto source, Open());
    if (source->size() != size_bytes_) {
      return encodings::DataLoss(object_.name, ": expected a file of ", size_bytes_,
                                 " bytes, found ", source->size());
    }
    source_ = std::move(source);
    return source_;
  }

  absl::StatusOr<std::shared_ptr<const Source>> Open() const {
    if (const auto response = std::exchange(response_, nullptr)) {
      auto source = SourceOfEnds(server_, object_, response->Wait(), HttpResponse());
      if (source.ok() || absl::IsNotFound(source.status()) || absl::IsCancelled(source.status()))
        return source;
      CFILE_RETURN_IF_ERROR(server_->WaitBefore(/*attempt=*/2));
    }
    return OpenHttpSource(server_, object_.url, object_.name);
  }

  const std::shared_ptr<const HttpServer> server_;
  const NamedUrl object_;
  const uint64_t size_bytes_;
  mutable std::mutex mutex_;                           // guards the following
  mutable std::unique_ptr<PendingResponse> response_;  // null after Wait
  mutable std::shared_ptr<const Source> source_;       // null: the object was not opened
};

}  // namespace

std::shared_ptr<const Source> OpenWholeHttpSource(std::shared_ptr<const HttpServer> server,
                                                  NamedUrl object, uint64_t size_bytes) {
  CFILE_ASSERT(size_bytes > 0);
  return std::make_shared<WholeSource>(std::move(server), std::move(object), size_bytes);
}

}  // namespace cfile::internal
