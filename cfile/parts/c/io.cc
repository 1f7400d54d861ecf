#include "cfile/parts/c/io.h"

#include <cstdint>
#include <span>

#include "cfile/parts/c/call.h"

namespace cfile::internal {
namespace {

class CallbackSource final : public Source {
 public:
  explicit CallbackSource(OwnedCallbacks<cfile_source> callbacks)
      : callbacks_(std::move(callbacks)),
        name_(callbacks_->name == nullptr ? "source" : callbacks_->name) {}

  const std::string& name() const override { return name_; }
  uint64_t size() const override { return callbacks_->size; }
  absl::Status ReadAt(uint64_t offset, std::span<uint8_t> out) const override {
    ClearCallbackMessage();
    const cfile_code code =
        callbacks_->read_at(callbacks_->user_data, offset, out.data(), out.size());
    return code == CFILE_OK ? absl::OkStatus() : CallbackError(name_, "read_at", code);
  }
  // The callback read_at reads one range, so a reader gains nothing from several requests at once.
  bool HasLatency() const override { return false; }

 private:
  const OwnedCallbacks<cfile_source> callbacks_;
  const std::string name_;
};

class CallbackSink final : public Sink {
 public:
  explicit CallbackSink(OwnedCallbacks<cfile_sink> callbacks)
      : callbacks_(std::move(callbacks)),
        name_(callbacks_->name == nullptr ? "sink" : callbacks_->name) {}

  const std::string& name() const override { return name_; }
  absl::Status Append(std::span<const uint8_t> bytes) override {
    ClearCallbackMessage();
    const cfile_code code = callbacks_->append(callbacks_->user_data, bytes.data(), bytes.size());
    return code == CFILE_OK ? absl::OkStatus() : CallbackError(name_, "append", code);
  }
  absl::Status Finish() override {
    if (callbacks_->finish == nullptr) return absl::OkStatus();
    ClearCallbackMessage();
    const cfile_code code = callbacks_->finish(callbacks_->user_data);
    return code == CFILE_OK ? absl::OkStatus() : CallbackError(name_, "finish", code);
  }

 private:
  const OwnedCallbacks<cfile_sink> callbacks_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<const Source> NewCallbackSource(OwnedCallbacks<cfile_source> callbacks) {
  return std::make_shared<CallbackSource>(std::move(callbacks));
}
std::unique_ptr<Sink> NewCallbackSink(OwnedCallbacks<cfile_sink> callbacks) {
  return std::make_unique<CallbackSink>(std::move(callbacks));
}

}  // namespace cfile::internal
